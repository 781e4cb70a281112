// Boxes in rows, each row a chain. Opening one marks what it follows from and what it leads to, and says why.

let maps = 0;

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** All boxes that `id` goes back to, or leads to, however many steps away. */
export function reach(id, next) {
  const found = new Set();
  const waiting = [...next(id)];
  while (waiting.length) {
    const one = waiting.pop();
    if (found.has(one)) continue;
    found.add(one);
    waiting.push(...next(one));
  }
  return found;
}

function render({ model, el }) {
  const rows = model.get("rows");
  const meaning = model.get("meaning");
  const id = `ib-map-${(maps += 1)}`;
  const boxes = Object.fromEntries(Object.values(rows).flat().map((box) => [box.id, box]));
  const causes = (of) => boxes[of].causes;
  const effects = (of) => Object.keys(boxes).filter((each) => boxes[each].causes.includes(of));

  const buttons = Object.fromEntries(Object.values(boxes).map((box) => {
    const button = make("button", { type: "button", className: `ib-box ib-${box.kind}`, textContent: box.title });
    button.setAttribute("aria-controls", `${id}-open`);
    button.addEventListener("click", () => open(box.id));
    return [box.id, button];
  }));
  const detail = make("div", { className: "ib-detail", id: `${id}-open` });
  detail.setAttribute("aria-live", "polite");

  function links(label, ids) {
    if (!ids.length) return [];
    const list = ids.map((each) => {
      const link = make("button", { type: "button", className: "ib-step", textContent: boxes[each].title });
      link.dataset.lmSuppressShortcuts = "true";
      link.addEventListener("click", () => {
        open(each);
        buttons[each].focus();
      });
      return link;
    });
    return [make("p", {}, `${label} `, ...list)];
  }

  function open(chosen) {
    const before = reach(chosen, causes);
    const after = reach(chosen, effects);
    for (const [each, button] of Object.entries(buttons)) {
      button.setAttribute("aria-pressed", String(each === chosen));
      button.classList.toggle("ib-before", before.has(each));
      button.classList.toggle("ib-after", after.has(each));
      button.classList.toggle("ib-far", each !== chosen && !before.has(each) && !after.has(each));
    }
    const box = boxes[chosen];
    detail.replaceChildren(
      make("strong", { textContent: box.title }),
      make("span", { className: "ib-kind", textContent: ` ${meaning[box.kind]}, lesson ${box.lesson}` }),
      make("p", { textContent: box.text }),
      ...links("Follows from:", causes(chosen)),
      ...links("Leads to:", effects(chosen)),
    );
  }

  const chains = Object.entries(rows).map(([name, chain]) => {
    const items = chain.map(({ id: each }) => make("li", {}, buttons[each]));
    const list = make("ol", { className: chain[0].kind === "price" ? "ib-bill" : "ib-chain" }, ...items);
    list.setAttribute("aria-label", name);
    return make("div", { className: "ib-row" }, make("span", { className: "ib-name", textContent: name }), list);
  });
  const legend = make(
    "p", { className: "ib-legend" },
    ...Object.entries(meaning).map(([kind, text]) => make("span", { className: `ib-box ib-${kind}`, textContent: text })),
    " Opened, a box marks what it goes back to (dashed) and what it leads to (double).",
  );
  for (const button of Object.values(buttons)) button.dataset.lmSuppressShortcuts = "true";
  open(Object.keys(boxes)[0]);
  el.append(make("section", { className: "ib ib-map", ariaLabel: "Causal map" }, legend, ...chains, detail));
}

export default { render };
