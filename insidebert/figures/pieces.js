// What the figures on word pieces share: BERT's tokenizer in the browser, and small helpers for the page.
// Held equal to the Python tokenizer by a test.

const SPECIAL = ["[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]"];
const LONGEST_WORD = 100; // characters; a longer word is unknown
const CHINESE = [
  [0x4e00, 0x9fff], [0x3400, 0x4dbf], [0x20000, 0x2a6df], [0x2a700, 0x2b73f], [0x2b740, 0x2b81f],
  [0x2b920, 0x2ceaf], [0xf900, 0xfaff], [0x2f800, 0x2fa1f],
];

/** A Map from piece to id, of the pieces in the order of their ids, one a line. */
export function vocabularyOf(lines) {
  return new Map(lines.split("\n").map((piece, id) => [piece, id]));
}

/** The longest piece at the start, again and again; one [UNK] for the whole word where none fits. */
export function wordpiece(word, vocabulary) {
  const letters = Array.from(word);
  const found = [];
  if (letters.length > LONGEST_WORD) return ["[UNK]"];
  for (let start = 0, end; start < letters.length; start = end) {
    const mark = start ? "##" : "";
    for (end = letters.length; end > start && !vocabulary.has(mark + letters.slice(start, end).join("")); end -= 1);
    if (end === start) return ["[UNK]"];
    found.push(mark + letters.slice(start, end).join(""));
  }
  return found;
}

/** Text to words: no control characters, lower case, no accents; punctuation and Chinese characters stand alone. */
function words(text) {
  const isChinese = (letter) => CHINESE.some(([a, b]) => letter.codePointAt(0) >= a && letter.codePointAt(0) <= b);
  const clean = text.replace(/[\t\n\r]/g, " ").replace(/[\uFFFD\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, "");
  const spaced = Array.from(clean, (letter) => (isChinese(letter) ? ` ${letter} ` : letter)).join("");
  const plain = Array.from(spaced.normalize("NFD").replace(/\p{Mn}/gu, ""), (letter) => letter.toLowerCase()).join("");
  return plain.replace(/[!-/:-@[-`{-~\p{P}]/gu, " $& ").split(/\s+/u).filter(Boolean);
}

/** Text to pieces, as BERT's lowercase tokenizer cuts it; special tokens in the text stay what they are. */
export function piecesOf(text, vocabulary) {
  const parts = text.split(/(\[CLS\]|\[SEP\]|\[MASK\]|\[PAD\]|\[UNK\])/);
  return parts.flatMap((part) =>
    SPECIAL.includes(part) ? [part] : words(part).flatMap((word) => wordpiece(word, vocabulary)));
}

/** What `insidebert.packing.pack_pair` packs: pieces in place of ids, and what truncation dropped. B may be null. */
export function pack(piecesA, piecesB, maxLength) {
  const segments = piecesB === null ? [piecesA] : [piecesA, piecesB];
  const kept = segments.map((pieces) => pieces.length);
  const last = kept.length - 1;
  const size = () => 1 + kept.reduce((total, length) => total + length + 1, 0);
  while (size() > maxLength) kept[kept[0] > kept[last] ? 0 : last] -= 1;
  const row = [{ piece: "[CLS]", segment: 0 }];
  segments.forEach((pieces, segment) => {
    row.push(...[...pieces.slice(0, kept[segment]), "[SEP]"].map((piece) => ({ piece, segment })));
  });
  return {
    row: row.map((column) => ({ ...column, mask: 1 })),
    dropped: segments.map((pieces, segment) => pieces.slice(kept[segment])),
  };
}

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

let labels = 0;

/** A label and its field, which knows the label by an id of its own. */
function labelled(caption, field) {
  field.id = `ib-field-${(labels += 1)}`;
  return [make("label", { htmlFor: field.id, textContent: caption }), field];
}

/** The look of a piece: which part of the row it is, and whether it continues the word before it. */
function look(piece, part) {
  const kind = SPECIAL.includes(piece) ? (piece === "[UNK]" ? "ib-unknown" : "ib-special") : `ib-part-${part}`;
  return piece.startsWith("##") ? `ib-piece ${kind} ib-goes-on` : `ib-piece ${kind}`;
}

/** JupyterLab's shortcuts match `:focus`, so the mark that keeps its hands off must be on each control itself. */
function keepKeys(root) {
  for (const control of root.querySelectorAll("input, textarea, button, [tabindex]")) {
    control.dataset.lmSuppressShortcuts = "true";
  }
}

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
