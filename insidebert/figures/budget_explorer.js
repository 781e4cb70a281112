// Where an encoder's parameters are. `closedForm` is `insidebert.budget.closed_form`, held equal by a test.
// V vocab, H hidden, I intermediate, L layers, E factor

export function closedForm({ vocab, hidden, intermediate, layers, factor = null, share_layers = false }) {
  const width = factor ?? hidden;
  const layer = 4 * (hidden * hidden + hidden) + (2 * hidden * intermediate + intermediate + hidden) + 4 * hidden;
  return {
    "token table": vocab * width,
    "projection": factor === null ? 0 : factor * hidden + hidden,
    "position table": 512 * width,
    "segment table": 2 * width,
    "embedding norm": 2 * width,
    "encoder layers": (share_layers ? Math.min(layers, 1) : layers) * layer,
    "pooler": hidden * hidden + hidden,
  };
}

const SLIDERS = {
  layers: { label: "layers L", min: 1, max: 48, step: 1 },
  hidden: { label: "hidden size H", min: 64, max: 2048, step: 64 },
  intermediate: { label: "inner size I", min: 64, max: 8192, step: 64 },
  vocab: { label: "vocabulary V", min: 1000, max: 250000, step: 1 },
  factor: { label: "factor E", min: 8, max: 1024, step: 8 },
};
const OWN = "your own shape";

const sum = (parts) => Object.values(parts).reduce((total, size) => total + size, 0);
const whole = (number) => number.toLocaleString("en-US");
const percent = (share) => `${(100 * share).toFixed(2)} %`;
const same = (a, b) => Object.keys(a).every((key) => a[key] === b[key]);

let explorers = 0;

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** The ticks of an axis from 0 to a little over `largest`: at most six, at 1, 2 or 5 times a power of ten. */
function axis(largest) {
  const power = 10 ** Math.floor(Math.log10(largest / 5));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => largest / s <= 5);
  const end = Math.ceil(largest / step) * step;
  return { end, ticks: Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step) };
}

function render({ model, el }) {
  const presets = model.get("presets");
  const colours = model.get("colours");
  const reference = model.get("reference");
  const id = `ib-budget-${(explorers += 1)}`;

  // Controls: a preset, then a slider and a number field for each size; native, so that the keyboard works.
  const preset = make(
    "select", { id: `${id}-preset` },
    ...[...Object.keys(presets), OWN].map((name) => make("option", { value: name, textContent: name })),
  );
  const rows = {};
  for (const [key, { label, min, max, step }] of Object.entries(SLIDERS)) {
    const slider = make("input", { type: "range", min, max, step, id: `${id}-${key}` });
    const field = make("input", { type: "number", min: 1, max, step: 1, ariaLabel: `${label}, as a number` });
    rows[key] = { slider, field, caption: make("label", { htmlFor: slider.id, textContent: label }) };
    slider.addEventListener("input", () => change(key, Number(slider.value)));
    field.addEventListener("change", () => {
      const value = Math.round(Math.min(Math.max(Number(field.value) || min, 1), max));
      change(key, value);
    });
  }
  const fourfold = make("input", { type: "checkbox", checked: true });
  const factorised = make("input", { type: "checkbox" });
  const shared = make("input", { type: "checkbox" });
  const switches = [
    [fourfold, "I = 4 × H"], [factorised, "factorise the table (ALBERT)"], [shared, "share one layer's weights (ALBERT)"],
  ].map(([box, text]) => make("label", {}, box, ` ${text}`));

  // Results: total and share, the bar and a reference under it, the table that says the same in numbers.
  const headline = make("output", { className: "ib-headline" });
  const bar = make("div", { className: "ib-bar" });
  const comparison = make("div", { className: "ib-bar ib-reference" });
  for (const node of [bar, comparison]) node.setAttribute("role", "img");
  const ticks = make("div", { className: "ib-ticks", ariaHidden: "true" });
  const body = make("tbody");
  const table = make(
    "table", {},
    make("caption", { textContent: "The parts in numbers" }),
    make("thead", {}, make("tr", {}, ...["part", "parameters", "share"].map((text) => make("th", { scope: "col", textContent: text })))),
    body,
  );

  let shape = { ...model.get("shape") };

  function change(key, value) {
    shape = { ...shape, [key]: value };
    if (fourfold.checked && key === "hidden") shape.intermediate = 4 * value;
    update();
  }

  function tell() {
    model.set("shape", shape);
    model.save_changes();
  }

  function update({ silent = false } = {}) {
    const parts = closedForm(shape);
    const total = sum(parts);
    const share = parts["token table"] / total;
    for (const [key, { slider, field, caption }] of Object.entries(rows)) {
      const unused = key === "factor" && shape.factor === null;
      const value = unused ? shape.hidden : shape[key];
      if (Number(slider.value) !== value) slider.value = value;
      field.value = value;
      slider.disabled = field.disabled = unused || (key === "intermediate" && fourfold.checked);
      caption.classList.toggle("ib-off", slider.disabled);
    }
    factorised.checked = shape.factor !== null;
    shared.checked = shape.share_layers;
    preset.value = Object.keys(presets).find((name) => same(presets[name], shape)) ?? OWN;

    headline.textContent = `${whole(total)} parameters, ${percent(share)} of them in the token table`;
    const scale = axis(Math.max(total, sum(closedForm(presets[reference]))));
    draw(bar, parts, scale.end, preset.value);
    draw(comparison, closedForm(presets[reference]), scale.end, reference);
    ticks.replaceChildren(...scale.ticks.map((tick) => {
      const mark = make("span", { textContent: tick / 1e6 });
      mark.style.left = `${(100 * tick) / scale.end}%`;
      return mark;
    }));
    body.replaceChildren(...Object.entries(parts).filter(([, size]) => size > 0).map(([part, size]) => {
      const swatch = make("span", { className: "ib-swatch" });
      swatch.style.background = colours[part];
      return make(
        "tr", {},
        make("th", { scope: "row" }, swatch, part),
        make("td", { textContent: whole(size) }),
        make("td", { textContent: percent(size / total) }),
      );
    }));
    if (!silent) tell();
  }

  function draw(node, parts, end, name) {
    const total = sum(parts);
    node.replaceChildren(...Object.entries(parts).map(([part, size]) => {
      const piece = make("span", { title: `${part}: ${whole(size)}` });
      piece.style.width = `${(100 * size) / end}%`;
      piece.style.background = colours[part];
      return piece;
    }));
    const said = Object.entries(parts).map(([part, size]) => `${part} ${percent(size / total)}`).join(", ");
    node.setAttribute("aria-label", `${name}: ${whole(total)} parameters: ${said}`);
  }

  preset.addEventListener("change", () => {
    if (presets[preset.value]) shape = { ...presets[preset.value] };
    fourfold.checked = shape.intermediate === 4 * shape.hidden;
    update();
  });
  fourfold.addEventListener("change", () => {
    if (fourfold.checked) shape = { ...shape, intermediate: 4 * shape.hidden };
    update();
  });
  factorised.addEventListener("change", () => change("factor", factorised.checked ? 128 : null));
  shared.addEventListener("change", () => change("share_layers", shared.checked));
  const follow = () => {
    if (same(model.get("shape"), shape)) return;
    shape = { ...model.get("shape") };
    fourfold.checked = shape.intermediate === 4 * shape.hidden;
    update({ silent: true });
  };
  model.on("change:shape", follow);

  const controls = make(
    "div", { className: "ib-controls" },
    make("label", { htmlFor: preset.id, textContent: "start from" }), preset,
    ...Object.values(rows).flatMap(({ caption, slider, field }) => [caption, slider, field]),
  );
  const chart = make(
    "div", { className: "ib-chart" },
    bar, comparison, ticks,
    make("div", { className: "ib-axis", textContent: `parameters (millions); below, ${reference} for scale` }),
  );
  const root = make(
    "section", { className: "ib ib-budget", ariaLabel: "Budget explorer" },
    controls, make("div", { className: "ib-switches" }, ...switches), headline, chart, table,
  );
  // Arrow keys belong to the slider that has the focus. JupyterLab would move between cells, unless the focused
  // element itself says no: its shortcuts match `:focus`, so a mark on a parent comes too late.
  for (const control of root.querySelectorAll("input, select")) control.dataset.lmSuppressShortcuts = "true";
  fourfold.checked = shape.intermediate === 4 * shape.hidden;
  update({ silent: true });
  el.append(root);
  return () => model.off("change:shape", follow);
}

export default { render };
