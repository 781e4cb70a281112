"""The form of `insidebert.predictions.predict`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from insidebert.figures import style
from insidebert.figures.widget import Widget


class PredictionForm(Widget):
    """A question with a number field or choices; the browser sets `answer`, the kernel stores it."""

    _esm = style.source("prediction.js")
    _css = style.source("prediction.css")

    entry = traitlets.Dict().tag(sync=True)  # question, unit, choices
    answer = traitlets.Any(None, allow_none=True).tag(sync=True)
    fixed = traitlets.Bool(False).tag(sync=True)  # the result is known: no second thoughts
    notice = traitlets.Unicode("").tag(sync=True)

    @classmethod
    def of(
        cls, entry: dict[str, Any], notice: str, commit: Callable[[Any], str], standing_in: dict[str, str]
    ) -> PredictionForm:
        """The form for one entry of the progress file.

        `commit` stores an answer and returns a notice; `standing_in` is shown where no kernel runs.
        """
        asked = {name: entry[name] for name in ("question", "unit", "choices")}
        form = cls(entry=asked, answer=entry.get("answer"), fixed="result" in entry, notice=notice)
        form._standing_in = standing_in
        form.observe(lambda change: setattr(form, "notice", commit(change["new"])), "answer")
        return form

    def still(self) -> dict[str, str]:
        return self._standing_in
