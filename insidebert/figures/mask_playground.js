// A sentence, a unit, some blanks. Cutting, drawing and counting happen here; only the guesses ask the kernel.

/** How many pieces a row of `length` may hide, as `insidebert.masking.prediction_budget` without its cap. */
export function budgetOf(length, share) {
  const wanted = length * share;
  const low = Math.floor(wanted);
  const half = wanted - low === 0.5;
  return Math.max(1, half ? low + (low % 2) : Math.round(wanted)); // halves to even, as Python rounds
}

/** The number of each piece's word; null for a special token, after which a word begins in any case. */
export function wordsOf(pieces) {
  let word = -1;
  return pieces.map((piece, i) => {
    if (SPECIAL.includes(piece) && piece !== "[UNK]") return null;
    const before = pieces[i - 1];
    if (!piece.startsWith("##") || i === 0 || (SPECIAL.includes(before) && before !== "[UNK]")) word += 1;
    return word;
  });
}

/** The places of each unit: pieces, whole words, or spans of 1 to 10 words whose lengths are geometric. */
export function unitsOf(words, unit, random, { p = 0.2, longest = 10 } = {}) {
  const places = words.flatMap((word, i) => (word === null ? [] : [i]));
  if (unit === "token") return places.map((i) => [i]);
  const groups = [];
  places.forEach((i) => {
    if (words[i] === words[i - 1] && groups.length) groups.at(-1).push(i);
    else groups.push([i]);
  });
  if (unit === "word") return groups;
  const spans = [];
  let left = 0; // words that the open span still takes
  groups.forEach((group) => {
    const follows = spans.length && spans.at(-1).at(-1) === group[0] - 1; // no special token in between
    if (left > 0 && follows) spans.at(-1).push(...group);
    else {
      spans.push([...group]);
      left = spanLength(p, longest, random);
    }
    left -= 1;
  });
  return spans;
}

function spanLength(p, longest, random) {
  for (;;) {
    const length = 1 + Math.floor(Math.log(1 - random()) / Math.log(1 - p));
    if (length <= longest) return length; // longer ones do not exist: drawn again, not cut
  }
}

/** Units in random order until none that is left fits: true where a piece is hidden. */
export function select(units, length, budget, random) {
  const hidden = Array(length).fill(false);
  const order = units.map((unit) => [random(), unit]).sort(([a], [b]) => a - b);
  let left = budget;
  for (const [, unit] of order) {
    if (unit.length > left) continue;
    for (const i of unit) hidden[i] = true;
    left -= unit.length;
  }
  return hidden;
}

/** Words with some pieces hidden and some in sight. */
export function halfOpen(hidden, words) {
  const seen = new Map();
  words.forEach((word, i) => {
    if (word !== null) seen.set(word, (seen.get(word) ?? new Set()).add(hidden[i]));
  });
  return [...seen.values()].filter((states) => states.size === 2).length;
}

const UNITS = { token: "token", word: "whole word", span: "span" };
const TRIES = 100;
const PAUSE = 400; // milliseconds without a keystroke before the kernel is asked

function render({ model, el }) {
  const vocabulary = vocabularyOf(model.get("vocabulary"));
  const limit = model.get("limit");
  const sentence = make("textarea", { rows: 2, value: model.get("sentence"), spellcheck: false });
  const radios = Object.entries(UNITS).map(([value, text]) => {
    const radio = make("input", { type: "radio", name: `ib-unit-${(labels += 1)}`, value });
    return { radio, label: make("label", {}, radio, ` ${text}`) };
  });
  for (const { radio } of radios) radio.name = radios[0].radio.name;
  const share = make("input", { type: "range", min: 5, max: 60, step: 5, value: 15 });
  const shown = make("output", { textContent: "15 %" });
  const redraw = make("button", { type: "button", textContent: "Redraw" });
  const counters = make("output", { className: "ib-headline" });
  const row = make("ol", { className: "ib-blanks" });
  const status = make("p", { className: "ib-note", role: "status" });

  let pieces = [];
  let words = [];
  let hidden = [];
  let number = 0; // of the draw: an answer to an older one is not shown
  let waiting = null;

  const blanks = () => hidden.flatMap((isHidden, i) => (isHidden ? [i] : []));

  function draw({ pause = 0 } = {}) {
    const all = piecesOf(sentence.value, vocabulary);
    pieces = ["[CLS]", ...all.slice(0, limit - 2), "[SEP]"];
    words = wordsOf(pieces);
    const maskable = words.some((word) => word !== null);
    const budget = maskable ? budgetOf(pieces.length, Number(share.value) / 100) : 0;
    for (let tries = 0; tries < TRIES; tries += 1) { // in a short row all spans may be too long: cut anew
      hidden = select(unitsOf(words, model.get("unit"), Math.random), pieces.length, budget, Math.random);
      if (!maskable || hidden.includes(true)) break;
    }
    number += 1;
    const drawn = blanks().length;
    counters.textContent =
      `pieces hidden: ${drawn} of ${pieces.length} (at most ${budget}) · words left half-open: ${halfOpen(hidden, words)}`;
    show(null);
    clearTimeout(waiting);
    waiting = setTimeout(ask, pause);
    if (all.length > limit - 2) status.textContent = `Cut at ${limit} positions. `;
  }

  function ask() {
    if (!blanks().length) {
      status.textContent = words.some((word) => word !== null) ? "Nothing fits: raise the share." : "Write a sentence.";
      return;
    }
    status.textContent = "Waiting for the kernel's guesses …";
    model.set("question", { number, ids: pieces.map((piece) => vocabulary.get(piece)), blanks: blanks() });
    model.save_changes();
  }

  function hear() {
    const answer = model.get("answer");
    if (answer.number !== number) return;
    status.textContent = answer.error ?? "Under each blank: what was there, and the model's three best guesses.";
    if (!answer.error) show(new Map(blanks().map((i, n) => [i, answer.guesses[n]])));
  }

  function show(guesses) {
    row.replaceChildren(...pieces.map((piece, i) => {
      const box = make("span", { className: look(piece, 0), textContent: hidden[i] ? "[MASK]" : piece });
      const place = make("li", { className: pieces[i + 1]?.startsWith("##") ? "ib-continued" : "" }, box);
      if (!hidden[i]) return place;
      box.className = "ib-piece ib-hidden";
      const lines = (guesses?.get(i) ?? []).map(([guess, probability]) => make("span", {
        className: guess === piece ? "ib-right" : "",
        textContent: `${guess === piece ? "✓ " : ""}${guess} ${Math.round(100 * probability)} %`,
      }));
      const was = make("span", { className: "ib-was", textContent: `was ${piece}` });
      place.append(was, ...lines);
      return place;
    }));
  }

  sentence.addEventListener("input", () => {
    model.set("sentence", sentence.value);
    draw({ pause: PAUSE });
  });
  for (const { radio } of radios) {
    radio.checked = radio.value === model.get("unit");
    radio.addEventListener("change", () => {
      model.set("unit", radio.value);
      draw();
    });
  }
  share.addEventListener("input", () => {
    shown.textContent = `${share.value} %`;
    draw({ pause: PAUSE });
  });
  redraw.addEventListener("click", () => draw());
  model.on("change:answer", hear);

  const root = make(
    "section", { className: "ib ib-playground", ariaLabel: "Mask playground" },
    make("div", { className: "ib-texts" }, ...labelled("your sentence", sentence)),
    make(
      "div", { className: "ib-options" },
      make("fieldset", {}, make("legend", { textContent: "unit" }), ...radios.map(({ label }) => label)),
      make("span", { className: "ib-share" }, ...labelled("share ", share), shown), redraw,
    ),
    counters, row, status,
  );
  keepKeys(root);
  draw();
  el.append(root);
  return () => {
    clearTimeout(waiting);
    model.off("change:answer", hear);
  };
}

export default { render };
