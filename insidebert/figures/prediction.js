// A question, native inputs, one button. The kernel is told the answer and nothing else.

let forms = 0;

function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

function render({ model, el }) {
  const { question, unit, choices } = model.get("entry");
  const name = `ib-prediction-${(forms += 1)}`;

  const inputs = choices.length
    ? choices.map((choice) => make("input", { type: "radio", name, value: choice, required: true }))
    : [make("input", { type: "number", step: "any", required: true, ariaLabel: unit || "your number" })];
  const fields = choices.length
    ? inputs.map((input) => make("label", {}, input, ` ${input.value}`))
    : [make("label", {}, inputs[0], ` ${unit}`)];
  const button = make("button", { type: "submit", textContent: "Commit" });
  const said = make("output", { className: "ib-said" });
  const group = make(
    "fieldset", {},
    make("legend", {}, make("small", { textContent: "Predict" }), " ", question),
    make("div", { className: "ib-fields" }, ...fields, button),
  );
  const form = make("form", { className: "ib ib-prediction" }, group, said);
  // JupyterLab's single-key shortcuts (d d deletes a cell) must not fire while a radio button has the focus. They
  // match `:focus`, so the mark must be on the focused element itself.
  for (const control of [...inputs, button]) control.dataset.lmSuppressShortcuts = "true";

  function read() {
    if (!choices.length) return inputs[0].value === "" ? null : Number(inputs[0].value);
    return inputs.find((input) => input.checked)?.value ?? null;
  }

  function show() {
    const answer = model.get("answer");
    const fixed = model.get("fixed");
    for (const input of inputs) {
      if (choices.length) input.checked = input.value === answer;
      else if (answer !== null) input.value = answer;
    }
    group.disabled = fixed;
    button.textContent = answer === null ? "Commit" : "Change";
    const next = fixed ? "The result is known." : "Now run the cells below.";
    const lines = [answer === null ? "" : `You said: ${answer} ${unit}`.trim() + `. ${next}`, model.get("notice")];
    said.textContent = lines.filter(Boolean).join(" ");
  }

  // Inside a JupyterLab output the browser's own "Enter submits" does not happen.
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target === button) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    model.set("answer", read());
    model.save_changes();
    show();
  });
  model.on("change:answer change:fixed change:notice", show);
  show();
  el.append(form);
  return () => model.off("change:answer change:fixed change:notice", show);
}

export default { render };
