// Which of the vectors that leave the encoder a head reads. `readings` and `headParameters` are those of
// `insidebert.figures.head_reader`, held equal by a test. Nothing asks the kernel.

const inRow = (piece) => piece === "[CLS]" || piece === "[SEP]";

/** [scores, use] of each position of a row of {piece, segment}. */
export function readings(head, row, labels) {
  const passage = Math.max(...row.map(({ segment }) => segment));
  return row.map(({ piece, segment }, place) => {
    if (head === "sequence" && place === 0) return [`${labels} scores`, "label"];
    if (head === "token") {
      return [`${labels} scores`, !inRow(piece) && !piece.startsWith("##") ? "label" : "ignored"];
    }
    if (head === "span") {
      const inside = !inRow(piece) && segment === passage;
      return ["2 scores", place === 0 ? "no answer" : inside ? "may answer" : "ruled out"];
    }
    return head === "mlm" && piece === "[MASK]" ? ["V scores", "piece"] : ["", ""];
  });
}

export function headParameters(head, hidden, labels, vocab) {
  if (head === "mlm") return hidden * hidden + hidden + 2 * hidden + vocab;
  const outputs = head === "span" ? 2 : labels;
  return outputs * hidden + outputs;
}

const MEANING = {
  sequence: "Position 0 answers for the whole row; the other vectors reach the label only through attention.",
  token: "Every position gets scores. The loss counts the first piece of each word and ignores the rest.",
  span: "Two scores a position, start and end. An answer lies in the last text; position 0 says that there is none.",
  mlm: "Only the vectors of hidden pieces are read. Write [MASK] into the text to hide one.",
};

let readers = 0;

function render({ model, el }) {
  const vocabulary = vocabularyOf(model.get("vocabulary"));
  const heads = model.get("heads");
  const group = `ib-reader-${(readers += 1)}`;
  const fields = Object.fromEntries(["text_a", "text_b"].map((name) => [
    name, make("textarea", { rows: 2, value: model.get(name), spellcheck: false }),
  ]));
  const choices = Object.keys(heads).map((value) => make("input", { type: "radio", name: group, value }));
  const labels = make("input", { type: "number", min: 2, max: 100, value: model.get("labels") });
  const headline = make("output", { className: "ib-headline" });
  const table = make("table");
  const scroll = make(
    "div", { className: "ib-scroll", tabIndex: 0, role: "region", ariaLabel: "The row and what is read of it" }, table,
  );
  const note = make("p", { className: "ib-note" });

  function update() {
    const head = model.get("head");
    const texts = [fields.text_a, fields.text_b].map((field) => piecesOf(field.value, vocabulary));
    const { row, dropped } = pack(texts[0], texts[1].length ? texts[1] : null, model.get("limit"));
    const cut = dropped.reduce((total, pieces) => total + pieces.length, 0);
    const read = readings(head, row, model.get("labels"));
    const some = read.filter(([scores]) => scores).length;
    const size = headParameters(head, model.get("hidden"), model.get("labels"), vocabulary.size);
    headline.textContent =
      `reads ${some} of ${count(row.length, "vector")}; the head has ${size.toLocaleString("en-US")} parameters of its own`;
    const line = (name, cell) => make(
      "tr", {}, make("th", { scope: "row", textContent: name }),
      ...row.map((column, place) => make("td", {}, cell(column, place))),
    );
    table.replaceChildren(
      line("piece", ({ piece, segment }) => make("span", { className: look(piece, segment), textContent: piece })),
      line("vector", (_, place) => {
        const [scores, use] = read[place];
        const kind = !scores ? "" : use === "ignored" || use === "ruled out" ? "ib-ignored" : "ib-read";
        return make("span", { className: `ib-vector ${kind}`, textContent: `h${place}` });
      }),
      line("head gives", (_, place) => read[place][0] || "–"),
      line("used for", (_, place) => read[place][1] || "–"),
    );
    for (const choice of choices) choice.checked = choice.value === head;
    labels.value = model.get("labels");
    labels.disabled = head === "span" || head === "mlm";
    note.textContent = MEANING[head] + (cut ? ` ${count(cut, "piece")} cut off: there are no more positions.` : "");
  }

  function tell(name, value) {
    model.set(name, value);
    model.save_changes();
    update();
  }

  for (const [name, field] of Object.entries(fields)) field.addEventListener("input", () => tell(name, field.value));
  for (const choice of choices) choice.addEventListener("change", () => tell("head", choice.value));
  labels.addEventListener("change", () => {
    tell("labels", Math.round(Math.min(Math.max(Number(labels.value) || 2, 2), 100)));
  });
  const follow = () => {
    for (const [name, field] of Object.entries(fields)) if (field.value !== model.get(name)) field.value = model.get(name);
    update();
  };
  const watched = "change:text_a change:text_b change:head change:labels";
  model.on(watched, follow);

  const root = make(
    "section", { className: "ib ib-reader", ariaLabel: "Head reader" },
    make(
      "div", { className: "ib-texts" },
      ...labelled("text", fields.text_a), ...labelled("second text, or none", fields.text_b),
    ),
    make(
      "div", { className: "ib-options" },
      make(
        "fieldset", {}, make("legend", { textContent: "head" }),
        ...choices.map((choice) => make("label", {}, choice, ` ${heads[choice.value]}`)),
      ),
      make("span", {}, ...labelled("labels L ", labels)),
    ),
    headline, scroll, note,
  );
  keepKeys(root);
  update();
  el.append(root);
  return () => model.off(watched, follow);
}

export default { render };
