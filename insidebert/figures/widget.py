"""What every widget of this folder is: one whose output carries a picture too."""

from __future__ import annotations

from typing import Any

import anywidget


class Widget(anywidget.AnyWidget):
    """An anywidget whose output can be read where no kernel runs, in a saved notebook or on a page."""

    def still(self) -> dict[str, str]:
        """What stands in for the widget as it is now, by MIME type."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return data | self.still(), metadata
