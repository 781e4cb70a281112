// What a forward pass costs against length. `encoderFlops` and `equalLength` are those of `insidebert.cost`, and
// `scoreBytes` that of `insidebert.figures.cost_explorer`, held equal by a test.

export const encoderFlops = (length, { hidden, intermediate, layers }) => [
  layers * 2 * length * (4 * hidden * hidden + 2 * hidden * intermediate),
  layers * 4 * length * length * hidden,
];
export const equalLength = ({ hidden, intermediate }) => 2 * hidden + intermediate;
export const scoreBytes = (length, { heads, layers }) => 4 * layers * heads * length * length;

const STEPS = 8; // positions of the slider for each doubling
const BOX = { height: 300, left: 62, right: 14, top: 10, bottom: 42 }; // pixels, as wide as there is room
const whole = (number) => number.toLocaleString("en-US");
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** A number with three figures and the prefix that suits it. */
function scaled(value, unit) {
  const prefixes = ["", "k", "M", "G", "T", "P"];
  const power = value < 1 ? 0 : Math.min(prefixes.length - 1, Math.floor(Math.log10(value) / 3));
  return `${Number((value / 1000 ** power).toPrecision(3))} ${prefixes[power]}${unit}`;
}

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

function drawn(tag, attributes, text = "") {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
}

let explorers = 0;

function render({ model, el }) {
  const presets = model.get("presets");
  const [shortest, longest] = [model.get("shortest"), model.get("longest")];
  const positions = model.get("positions");
  const doublings = Math.log2(longest / shortest);
  const id = `ib-cost-${(explorers += 1)}`;

  const preset = make(
    "select", { id: `${id}-preset` },
    ...Object.keys(presets).map((name) => make("option", { value: name, textContent: name })),
  );
  const slider = make("input", { type: "range", id: `${id}-length`, min: 0, max: STEPS * doublings, step: 1 });
  const field = make("input", { type: "number", min: shortest, max: longest, ariaLabel: "tokens, as a number" });
  const headline = make("output", { className: "ib-headline" });
  const chart = drawn("svg", { role: "img" });
  const body = make("tbody");
  const table = make(
    "table", {}, make("caption", { textContent: "One sequence, forward pass" }),
    make("thead", {}, make("tr", {}, ...["quantity", "at this length", "at twice the length"].map((text) => make("th", { scope: "col", textContent: text })))),
    body,
  );
  const note = make("p", { className: "ib-note" });

  function draw(shape, length) {
    const inner = { x: (chart.clientWidth || 640) - BOX.left - BOX.right, y: BOX.height - BOX.top - BOX.bottom };
    const ends = [shortest, longest].map((S) => encoderFlops(S, shape));
    const low = Math.floor(Math.log10(Math.min(...ends[0])));
    const high = Math.ceil(Math.log10(Math.max(...ends[1])));
    const x = (S) => BOX.left + (inner.x * Math.log2(S / shortest)) / doublings;
    const y = (flops) => BOX.top + inner.y * (1 - (Math.log10(flops) - low) / (high - low));
    const bottom = BOX.top + inner.y;
    const nodes = [drawn("rect", { class: "ib-beyond", x: x(positions), y: BOX.top, width: x(longest) - x(positions), height: inner.y })];
    nodes.push(drawn("text", { x: x(positions) + 6, y: bottom - 8 }, "beyond the position table"));
    for (let power = low; power <= high; power += 1) {
      nodes.push(drawn("line", { class: "ib-grid", x1: BOX.left, x2: x(longest), y1: y(10 ** power), y2: y(10 ** power) }));
      nodes.push(drawn("text", { x: BOX.left - 6, y: y(10 ** power) + 4, "text-anchor": "end" }, scaled(10 ** power, "")));
    }
    for (let S = shortest; S <= longest; S *= 2) {
      nodes.push(drawn("line", { class: "ib-tick", x1: x(S), x2: x(S), y1: bottom, y2: bottom + 4 }));
      nodes.push(drawn("text", { x: x(S), y: bottom + 17, "text-anchor": "middle" }, S < 1024 ? S : `${S / 1024}k`));
    }
    nodes.push(drawn("line", { class: "ib-axis-line", x1: BOX.left, x2: x(longest), y1: bottom, y2: bottom }));
    nodes.push(drawn("text", { x: BOX.left + inner.x / 2, y: BOX.height - 4, "text-anchor": "middle" }, "tokens in a sequence"));
    nodes.push(drawn("text", { x: 12, y: BOX.top + inner.y / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${BOX.top + inner.y / 2})` }, "operations (FLOP)"));
    ["linear", "attention"].forEach((part, which) => {
      const points = [shortest, longest].map((S) => `${x(S)},${y(encoderFlops(S, shape)[which])}`).join(" ");
      nodes.push(drawn("polyline", { points, class: `ib-${part}` }));
      const name = which ? "attention" : "linear layers";
      // Under the steeper line where the name begins, over the other where it ends.
      const at = which ? shortest * 2.5 : shortest * 2 ** ((doublings * 8 * name.length) / inner.x);
      const place = which ? { x: x(at) + 14, y: 14 } : { x: BOX.left + 10, y: -8 };
      nodes.push(drawn("text", { x: place.x, y: y(encoderFlops(at, shape)[which]) + place.y, "font-weight": 600 }, name));
    });
    const equal = equalLength(shape);
    const meet = [x(equal), y(encoderFlops(equal, shape)[0])];
    nodes.push(drawn("circle", { cx: meet[0], cy: meet[1], r: 5, fill: "none", stroke: "currentColor", "stroke-width": 1.5 }));
    nodes.push(drawn("text", { x: meet[0] - 9, y: meet[1] - 7, "text-anchor": "end" }, `equal at ${whole(equal)}`));
    nodes.push(drawn("line", { class: "ib-here", x1: x(length), x2: x(length), y1: BOX.top, y2: bottom }));
    chart.replaceChildren(...nodes);
  }

  function update() {
    const shape = presets[model.get("preset")];
    const length = model.get("length");
    preset.value = model.get("preset");
    slider.value = Math.round(STEPS * Math.log2(length / shortest));
    slider.setAttribute("aria-valuetext", `${whole(length)} tokens`);
    field.value = length;
    const [now, twice] = [length, 2 * length].map((S) => encoderFlops(S, shape));
    const share = ([linear, attention]) => attention / (linear + attention);
    headline.textContent = `${whole(length)} tokens: attention is ${percent(share(now))} of the operations; equal shares at ${whole(equalLength(shape))}`;
    chart.setAttribute("aria-label", `${preset.value}: linear layers ${scaled(now[0], "FLOP")}, attention ${scaled(now[1], "FLOP")} at ${whole(length)} tokens; equal at ${whole(equalLength(shape))} tokens`);
    draw(shape, length);
    const rows = [
      ["linear layers", ...[now, twice].map(([linear]) => scaled(linear, "FLOP"))],
      ["attention", ...[now, twice].map(([, attention]) => scaled(attention, "FLOP"))],
      ["both, for each token", scaled((now[0] + now[1]) / length, "FLOP"), scaled((twice[0] + twice[1]) / (2 * length), "FLOP")],
      ["attention scores in float32, where kept", ...[length, 2 * length].map((S) => scaled(scoreBytes(S, shape), "B"))],
    ];
    body.replaceChildren(...rows.map(([name, ...values]) => make(
      "tr", {}, make("th", { scope: "row", textContent: name }), ...values.map((value) => make("td", { textContent: value })),
    )));
    note.textContent = length > positions
      ? `BERT has ${positions} position rows: it cannot read ${whole(length)} tokens, whatever they cost.`
      : "";
  }

  function tell(name, value) {
    model.set(name, value);
    model.save_changes();
    update();
  }

  preset.addEventListener("change", () => tell("preset", preset.value));
  slider.addEventListener("input", () => tell("length", Math.round(shortest * 2 ** (Number(slider.value) / STEPS))));
  field.addEventListener("change", () => {
    tell("length", Math.round(Math.min(Math.max(Number(field.value) || shortest, shortest), longest)));
  });
  model.on("change:preset change:length", update);
  const room = new ResizeObserver(() => draw(presets[model.get("preset")], model.get("length")));
  room.observe(chart);

  const root = make(
    "section", { className: "ib ib-cost", ariaLabel: "Cost explorer" },
    make(
      "div", { className: "ib-controls" },
      make("label", { htmlFor: preset.id, textContent: "shape" }), preset,
      make("label", { htmlFor: slider.id, textContent: "tokens S" }), slider, field,
    ),
    headline, chart, table, note,
  );
  // JupyterLab's shortcuts match `:focus`: the mark must be on each control itself.
  for (const control of root.querySelectorAll("input, select")) control.dataset.lmSuppressShortcuts = "true";
  update();
  el.append(root);
  return () => {
    room.disconnect();
    model.off("change:preset change:length", update);
  };
}

export default { render };
