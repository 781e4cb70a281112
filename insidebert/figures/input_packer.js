// Two texts become one row: pieces, and under each piece the three ids that are looked up. Nothing asks the kernel.

const SHOWN = 200; // pieces cut off of a text that are shown; what follows is counted

function render({ model, el }) {
  const vocabulary = vocabularyOf(model.get("vocabulary"));
  const limit = model.get("limit");
  const text = (name) => make("textarea", { rows: 2, value: model.get(name), spellcheck: false });
  const fields = { text_a: text("text_a"), text_b: text("text_b") };
  const length = make("input", { type: "number", min: 3, max: limit, value: model.get("max_length") });
  const slider = make("input", { type: "range", min: 3, max: 64, ariaLabel: "max_length, as a slider" });
  const padded = make("input", { type: "checkbox" });

  const headline = make("output", { className: "ib-headline" });
  const table = make("table");
  const scroll = make("div", { className: "ib-scroll", tabIndex: 0, role: "region", ariaLabel: "The packed row" }, table);
  const lost = make("p", { className: "ib-note" });
  const note = make("p", { className: "ib-note" });

  function update() {
    const maxLength = model.get("max_length");
    const piecesA = piecesOf(fields.text_a.value, vocabulary);
    const piecesB = fields.text_b.value.trim() ? piecesOf(fields.text_b.value, vocabulary) : null;
    const { row, dropped } = pack(piecesA, piecesB, maxLength);
    const filled = row.length;
    const cut = dropped.reduce((total, pieces) => total + pieces.length, 0);
    const padding = padded.checked ? Math.max(0, maxLength - filled) : 0;
    row.push(...Array.from({ length: padding }, () => ({ piece: "[PAD]", segment: 0, mask: 0 })));
    slider.value = length.value = maxLength;

    const inside = filled - (piecesB === null ? 2 : 3);
    headline.textContent =
      `${filled} of ${count(maxLength, "position")}: ${count(inside, "piece")} and ${filled - inside} special tokens; ` +
      (cut ? `${count(cut, "piece")} cut off` : "nothing is cut off") + (padding ? `; ${padding} padding` : "");
    const line = (name, value) => make(
      "tr", {}, make("th", { scope: "row", textContent: name }),
      ...row.map((column, place) => make("td", { className: column.mask ? "" : "ib-off" }, value(column, place))),
    );
    table.replaceChildren(
      line("piece", ({ piece, segment }) => make("span", { className: look(piece, segment), textContent: piece })),
      line("token id", ({ piece }) => vocabulary.get(piece)),
      line("segment id", ({ segment }) => segment),
      line("position id", (_, place) => place),
      ...(padded.checked ? [line("attention mask", ({ mask }) => mask)] : []),
    );
    lost.replaceChildren(...dropped.flatMap((pieces, segment) => (pieces.length ? [
      `Cut off the end of ${"AB"[segment]}: `,
      ...pieces.slice(0, SHOWN).map((piece) => make("s", { className: look(piece, segment), textContent: piece })),
      pieces.length > SHOWN ? ` and ${pieces.length - SHOWN} more. ` : " ",
    ] : [])));
    const unknown = row.filter(({ piece }) => piece === "[UNK]").length;
    note.textContent = [
      piecesB === null ? "One text: one segment, one [SEP]." : "",
      unknown ? `${count(unknown, "word")} unknown: [UNK] says that something was there, not what.` : "",
    ].join(" ").trim();
  }

  function tell(name, value) {
    model.set(name, value);
    model.save_changes();
    update();
  }

  for (const [name, field] of Object.entries(fields)) field.addEventListener("input", () => tell(name, field.value));
  slider.addEventListener("input", () => tell("max_length", Number(slider.value)));
  length.addEventListener("change", () => {
    tell("max_length", Math.round(Math.min(Math.max(Number(length.value) || 3, 3), limit)));
  });
  padded.addEventListener("change", update);
  const follow = () => {
    for (const [name, field] of Object.entries(fields)) if (field.value !== model.get(name)) field.value = model.get(name);
    update();
  };
  model.on("change:text_a change:text_b change:max_length", follow);

  const root = make(
    "section", { className: "ib ib-packer", ariaLabel: "Input packer" },
    make("div", { className: "ib-texts" }, ...labelled("text A", fields.text_a), ...labelled("text B", fields.text_b)),
    make(
      "div", { className: "ib-options" },
      make("span", {}, ...labelled("max_length ", length)), slider,
      make("label", {}, padded, " pad to max_length"),
    ),
    headline, scroll, lost, note,
  );
  keepKeys(root);
  update();
  el.append(root);
  return () => model.off("change:text_a change:text_b change:max_length", follow);
}

export default { render };
