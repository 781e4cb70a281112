"""A figure on a page of its own, with a model that stands for the kernel: quicker than JupyterLab, and alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from insidebert.figures import style

# Stands for anywidget's model in the page: what is set is kept, and `change:` listeners hear it.
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A figure</title><style>STYLE</style>
<body><main><h1>A figure</h1><div id="output"></div></main></body>
<script type="module">
const state = STATE, listeners = {};
window.model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; (listeners[`change:${name}`] ?? []).forEach((call) => call()); },
  save_changes: () => { window.saved = structuredClone(state); },
  on: (names, call) => names.split(" ").forEach((name) => (listeners[name] ??= []).push(call)),
  off: () => {},
};
window.figure = await import(URL.createObjectURL(new Blob([SOURCE], { type: "text/javascript" })));
window.figure.default.render({ model, el: document.querySelector("#output") });
</script>"""


def open_figure(
    browser: Any,
    name: str,
    state: dict[str, Any],
    source: Callable[[str], str] = style.source,
    **options: Any,
) -> Any:
    """The page with the figure on it. What goes wrong in the browser is listed in its `problems`.

    Args:
        state: the traits that the figure's JavaScript reads.
        source: reads the figure's files: `pieces.source` for those that share its code.
    """
    page = browser.new_page(**options)
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    html = PAGE.replace("STYLE", source(f"{name}.css")).replace("STATE", json.dumps(state))
    page.set_content(html.replace("SOURCE", json.dumps(source(f"{name}.js"))))
    page.wait_for_selector(".ib")
    return page
