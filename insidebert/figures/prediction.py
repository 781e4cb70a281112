"""The form of `insidebert.predictions.predict`."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from insidebert.figures import style


class PredictionForm(anywidget.AnyWidget):
    """A question with a number field or choices; the browser sets `answer`, the kernel stores it."""

    _esm = style.source("prediction.js")
    _css = style.source("prediction.css")

    entry = traitlets.Dict().tag(sync=True)  # question, unit, choices
    answer = traitlets.Any(None, allow_none=True).tag(sync=True)
    fixed = traitlets.Bool(False).tag(sync=True)  # the result is known: no second thoughts
    notice = traitlets.Unicode("").tag(sync=True)

    @classmethod
    def of(cls, key: str, entry: dict[str, Any], notice: str, markup: str, plain: str) -> PredictionForm:
        """The form for one entry of the progress file, with what stands for it where no kernel runs."""
        asked = {name: entry[name] for name in ("question", "unit", "choices")}
        form = cls(entry=asked, answer=entry.get("answer"), fixed="result" in entry, notice=notice)
        form._standing_in = {"text/html": markup, "text/plain": plain}

        def store(change: dict[str, Any]) -> None:
            from insidebert.predictions import commit

            form.notice = commit(key, change["new"])

        form.observe(store, "answer")
        return form

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return data | self._standing_in, metadata
