// Two losses and their sum against the step, drawn while the kernel trains. One polyline each, told apart by
// colour and by dashes; thin lines for what is known beforehand.

const WIDTH = 640, HEIGHT = 300, LEFT = 44, RIGHT = 150, TOP = 12, BOTTOM = 40;
const SERIES = [
  { name: "sum", value: ([, mlm, nsp]) => mlm + nsp, colour: "var(--ib-text)", dash: "2 3" },
  { name: "MLM", value: ([, mlm]) => mlm, colour: "#0072b2", dash: "" },
  { name: "NSP", value: ([, , nsp]) => nsp, colour: "#d55e00", dash: "7 4" },
];

function svg(tag, attributes = {}, text = "") {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
}

/** Names beside their heights, moved apart where they would overlap: the heights, in the order given. */
export function apart(heights, gap) {
  const order = heights.map((y, i) => [y, i]).sort((a, b) => a[0] - b[0]);
  const placed = [];
  let last = -Infinity;
  for (const [y, i] of order) placed[i] = last = Math.max(y, last + gap);
  return placed;
}

function render({ model, el }) {
  const steps = model.get("steps");
  const references = model.get("references");
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const headline = document.createElement("output");
  headline.className = "ib-headline";

  function draw() {
    const rows = model.get("rows");
    const highest = Math.max(1, ...rows.map(SERIES[0].value), ...Object.values(references));
    const unit = highest > 5 ? 2 : 1;
    const end = Math.ceil(highest / unit) * unit;
    const x = (step) => LEFT + ((WIDTH - LEFT - RIGHT) * step) / Math.max(1, steps - 1);
    const y = (loss) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - loss / end);
    const nodes = [];
    for (let loss = 0; loss <= end; loss += unit) {
      nodes.push(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(loss), y2: y(loss), stroke: "var(--ib-line)", "stroke-width": 0.5 }));
      nodes.push(svg("text", { x: LEFT - 6, y: y(loss) + 4, "text-anchor": "end" }, loss));
    }
    for (const step of [0, Math.round(steps / 2), steps]) {
      nodes.push(svg("text", { x: x(Math.min(step, steps - 1)), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, step));
    }
    nodes.push(svg("text", { x: x((steps - 1) / 2), y: HEIGHT - 6, "text-anchor": "middle" }, "step"));
    nodes.push(svg("text", { x: 12, y: y(end / 2), "text-anchor": "middle", transform: `rotate(-90 12 ${y(end / 2)})` }, "loss (nats)"));
    const names = [];
    for (const [name, loss] of Object.entries(references)) {
      nodes.push(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(loss), y2: y(loss), stroke: "var(--ib-quiet)", "stroke-dasharray": "1 4" }));
      names.push([y(loss), name, "var(--ib-quiet)"]);
    }
    for (const { name, value, colour, dash } of rows.length ? SERIES : []) {
      const points = rows.map((row) => `${x(row[0]).toFixed(1)},${y(value(row)).toFixed(1)}`).join(" ");
      nodes.push(svg("polyline", { points, fill: "none", stroke: colour, "stroke-width": 1.8, "stroke-dasharray": dash }));
      names.push([y(value(rows.at(-1))), name, "var(--ib-text)"]);
    }
    const heights = apart(names.map(([height]) => height), 14);
    names.forEach(([, name, fill], i) => nodes.push(svg("text", { x: WIDTH - RIGHT + 8, y: heights[i] + 4, style: `fill: ${fill}` }, name)));
    picture.replaceChildren(...nodes);
    const last = rows.at(-1);
    headline.textContent = last
      ? `step ${last[0] + 1} of ${steps}: MLM ${last[1].toFixed(2)} + NSP ${last[2].toFixed(2)} = ${(last[1] + last[2]).toFixed(2)} nats`
      : "waiting for the first step";
    picture.setAttribute("aria-label", `Loss against step. ${headline.textContent}`);
  }

  model.on("change:rows", draw);
  draw();
  const root = document.createElement("section");
  root.className = "ib ib-losses";
  root.setAttribute("aria-label", "Loss curves");
  root.append(headline, picture);
  el.append(root);
  return () => model.off("change:rows", draw);
}

export default { render };
