// Two losses and their sum against the step, drawn while the kernel trains. One polyline each, told apart by
// colour and by dashes; thin lines for what is known beforehand.

const HEIGHT = 300, LEFT = 44, TOP = 14, BOTTOM = 40; // pixels; as wide as there is room
const LETTER = 6.4; // the mean width of a letter
const NARROW = 480; // below it the names of what is known stand on their lines, not beside them
const SERIES = [
  { name: "sum", value: ([, mlm, nsp]) => mlm + nsp },
  { name: "MLM", value: ([, mlm]) => mlm },
  { name: "NSP", value: ([, , nsp]) => nsp },
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
  const picture = svg("svg", { role: "img" });
  const headline = document.createElement("output");
  headline.className = "ib-headline";

  function draw() {
    const rows = model.get("rows");
    const highest = Math.max(1, ...rows.map(SERIES[0].value), ...Object.values(references));
    const unit = highest > 5 ? 2 : 1;
    const end = Math.ceil(highest / unit) * unit;
    const width = picture.clientWidth || 640;
    const beside = [...SERIES.map(({ name }) => name), ...(width < NARROW ? [] : Object.keys(references))];
    const right = width - 20 - LETTER * Math.max(...beside.map((name) => name.length));
    const x = (step) => LEFT + ((right - LEFT) * step) / Math.max(1, steps - 1);
    const y = (loss) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - loss / end);
    const nodes = [];
    for (let loss = 0; loss <= end; loss += unit) {
      nodes.push(svg("line", { x1: LEFT, x2: right, y1: y(loss), y2: y(loss) }));
      nodes.push(svg("text", { x: LEFT - 6, y: y(loss) + 4, "text-anchor": "end" }, loss));
    }
    for (const step of [0, Math.round(steps / 2), steps]) {
      nodes.push(svg("text", { x: x(Math.min(step, steps - 1)), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, step));
    }
    nodes.push(svg("text", { x: x((steps - 1) / 2), y: HEIGHT - 6, "text-anchor": "middle" }, "step"));
    nodes.push(svg("text", { x: 12, y: y(end / 2), "text-anchor": "middle", transform: `rotate(-90 12 ${y(end / 2)})` }, "loss (nats)"));
    const names = [];
    for (const [name, loss] of Object.entries(references)) {
      nodes.push(svg("line", { class: "ib-known", x1: LEFT, x2: right, y1: y(loss), y2: y(loss) }));
      if (width < NARROW) nodes.push(svg("text", { class: "ib-known", x: right, y: y(loss) - 4, "text-anchor": "end" }, name));
      else names.push([y(loss), name, "ib-known"]);
    }
    for (const { name, value } of rows.length ? SERIES : []) {
      const points = rows.map((row) => `${x(row[0]).toFixed(1)},${y(value(row)).toFixed(1)}`).join(" ");
      nodes.push(svg("polyline", { points, class: `ib-${name}` }));
      names.push([y(value(rows.at(-1))), name, ""]);
    }
    const heights = apart(names.map(([height]) => height), 14);
    names.forEach(([, name, kind], i) => nodes.push(svg("text", { class: kind, x: right + 8, y: heights[i] + 4 }, name)));
    picture.replaceChildren(...nodes);
    const last = rows.at(-1);
    headline.textContent = last
      ? `step ${last[0] + 1} of ${steps}: MLM ${last[1].toFixed(2)} + NSP ${last[2].toFixed(2)} = ${(last[1] + last[2]).toFixed(2)} nats`
      : "waiting for the first step";
    picture.setAttribute("aria-label", `Loss against step. ${headline.textContent}`);
  }

  model.on("change:rows", draw);
  const room = new ResizeObserver(draw);
  room.observe(picture);
  draw();
  const root = document.createElement("section");
  root.className = "ib ib-losses";
  root.setAttribute("aria-label", "Loss curves");
  root.append(headline, picture);
  el.append(root);
  return () => {
    room.disconnect();
    model.off("change:rows", draw);
  };
}

export default { render };
