// One pair, packed and masked, drawn anew at every press: what the model sees, and what it has to answer.
// `mask` and `pair` are the rules of insidebert.masking and insidebert.pairs on pieces; a test holds their shares.

export const MIXES = {
  "80 % [MASK], 10 % random, 10 % as it was (BERT)": [0.8, 0.1],
  "always [MASK]": [1, 0],
  "80 % [MASK], 20 % random": [0.8, 0.2],
  "80 % [MASK], 20 % as it was": [0.8, 0],
};
const FATES = {
  mask: "hidden behind [MASK]",
  random: "replaced by a random piece",
  kept: "shown as it was, and still a target",
};
const SPECIAL = new Set(["[CLS]", "[SEP]"]);

const pick = (list, random) => list[Math.floor(random() * list.length)];

/** Two segments of whole sentences: true neighbours (label 0), or the second from another document (label 1). */
export function pair(documents, random) {
  const d = Math.floor(random() * documents.length);
  const i = Math.floor(random() * (documents[d].length - 1));
  const a = documents[d][i];
  if (random() < 0.5) return { a, b: documents[d][i + 1], label: 0 };
  const other = (d + 1 + Math.floor(random() * (documents.length - 1))) % documents.length;
  return { a, b: pick(documents[other], random), label: 1 };
}

/** Each piece as the model sees it; `target` is what it has to answer there, null where nothing is asked. */
export function mask(pieces, { probability, mix: [masked, replaced], vocabulary }, random) {
  return pieces.map((piece) => {
    if (SPECIAL.has(piece) || random() >= probability) return { shown: piece, target: null, fate: null };
    const fate = random();
    if (fate < masked) return { shown: "[MASK]", target: piece, fate: "mask" };
    if (fate < masked + replaced) return { shown: pick(vocabulary, random), target: piece, fate: "random" };
    return { shown: piece, target: piece, fate: "kept" };
  });
}

const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "none yet");

let viewers = 0;

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

function render({ model, el }) {
  const documents = model.get("documents");
  const vocabulary = model.get("vocabulary");
  const id = `ib-objectives-${(viewers += 1)}`;

  const masks = make("button", { type: "button", textContent: "Draw new masks" });
  const pairs = make("button", { type: "button", textContent: "Draw a new pair" });
  const many = make("button", { type: "button", textContent: "Draw 100 of both" });
  const share = make("input", { type: "range", min: 1, max: 60, step: 1, value: 15, id: `${id}-share` });
  const said = make("output", { htmlFor: share.id });
  const mix = make(
    "select", { id: `${id}-mix` },
    ...Object.keys(MIXES).map((name) => make("option", { value: name, textContent: name })),
  );
  const row = make("ol", { className: "ib-places", ariaLabel: "The row, piece by piece" });
  const headline = make("output", { className: "ib-headline" });
  const body = make("tbody");

  let current = pair(documents, Math.random);
  let pieces = [];
  let tally;

  function settings() {
    return { probability: Number(share.value) / 100, mix: MIXES[mix.value], vocabulary };
  }

  function drawMasks() {
    pieces = mask(["[CLS]", ...current.a, "[SEP]", ...current.b, "[SEP]"], settings(), Math.random);
    tally.pieces += pieces.length - 3; // without the special tokens
    for (const { fate } of pieces) if (fate) tally[fate] += 1;
  }

  function drawPair() {
    current = pair(documents, Math.random);
    tally.pairs += 1;
    tally.neighbours += current.label === 0;
    drawMasks();
  }

  function forget() {
    tally = { pieces: 0, mask: 0, random: 0, kept: 0, pairs: 0, neighbours: 0 };
  }

  function show() {
    const firstSep = pieces.findIndex(({ shown }) => shown === "[SEP]");
    row.replaceChildren(...pieces.map(({ shown, target, fate }, position) => {
      const segment = position <= firstSep ? "A" : "B";
      const asked = position === 0 ? `${current.label} ${current.label ? "NotNext" : "IsNext"}` : target ?? "–";
      const item = make(
        "li", { className: `ib-place ib-${fate ?? "plain"} ib-segment-${segment}`, title: fate ? FATES[fate] : "" },
        make("span", { className: "ib-mark", textContent: shown }),
        make("span", { className: "ib-target", textContent: asked }),
      );
      item.classList.toggle("ib-asked", Boolean(fate) || position === 0);
      const meaning = fate ? `${shown}, ${FATES[fate]}, target ${target}` : `${shown}, ${position ? "no target" : asked}`;
      item.setAttribute("aria-label", `segment ${segment}: ${meaning}`);
      return item;
    }));
    const count = (fate) => pieces.filter((piece) => piece.fate === fate).length;
    const targets = count("mask") + count("random") + count("kept");
    headline.textContent =
      `${targets} of ${pieces.length - 3} pieces are targets: ${count("mask")} [MASK], ${count("random")} random, ` +
      `${count("kept")} as it was. ` +
      (current.label ? "B comes from another document: label 1." : "B follows A: label 0.");
    const chosen = tally.mask + tally.random + tally.kept;
    const lines = [
      ["pieces selected", chosen, tally.pieces],
      ["… of them hidden behind [MASK]", tally.mask, chosen],
      ["… of them replaced by a random piece", tally.random, chosen],
      ["… of them shown as they were", tally.kept, chosen],
      ["pairs that are neighbours", tally.neighbours, tally.pairs],
    ];
    body.replaceChildren(...lines.map(([name, part, whole]) => make(
      "tr", {},
      make("th", { scope: "row", textContent: name }),
      make("td", { textContent: `${part.toLocaleString("en-US")} of ${whole.toLocaleString("en-US")}` }),
      make("td", { textContent: percent(part, whole) }),
    )));
    said.textContent = `${share.value} %`;
  }

  function restart() {
    forget();
    drawMasks();
    show();
  }

  masks.addEventListener("click", () => { drawMasks(); show(); });
  pairs.addEventListener("click", () => { drawPair(); show(); });
  many.addEventListener("click", () => {
    for (let i = 0; i < 100; i += 1) drawPair();
    show();
  });
  share.addEventListener("input", restart);
  mix.addEventListener("change", restart);

  const root = make(
    "section", { className: "ib ib-objectives", ariaLabel: "Mask and pair viewer" },
    make("div", { className: "ib-buttons" }, masks, pairs, many),
    make(
      "div", { className: "ib-settings" },
      make("label", { htmlFor: share.id, textContent: "share selected" }), share, said,
      make("label", { htmlFor: mix.id, textContent: "a selected piece is" }), mix,
    ),
    row,
    make(
      "p", { className: "ib-legend" },
      "Above, what the model sees; below, what it has to answer. ",
      ...Object.entries(FATES).map(([fate, text]) => make(
        "span", { className: `ib-${fate}` }, make("span", { className: "ib-mark", textContent: fate === "mask" ? "[MASK]" : "piece" }), ` ${text}. `,
      )),
      "Segment B is tinted.",
    ),
    headline,
    make("table", {}, make("caption", { textContent: "Since the settings last changed" }), body),
  );
  for (const control of root.querySelectorAll("input, select, button")) control.dataset.lmSuppressShortcuts = "true";
  forget();
  tally.pairs = 1;
  tally.neighbours = Number(current.label === 0);
  drawMasks();
  show();
  el.append(root);
}

export default { render };
