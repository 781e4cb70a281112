"""What was released: every version of an exercise, kept in the course as `release` wrote it and under its digest.

Submissions are restored from here. `exercises/` is a folder that people open in JupyterLab: an answer that an
instructor tried there would else be handed to every learner whose own is missing. Earlier versions are kept as well,
so that nobody is blamed for what an instructor changed between two releases.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.exchange.default import ExchangeReleaseAssignment
from nbgrader.utils import compute_checksum

from grading.journal import FOLDER, write_whole
from insidebert.errors import CommandError

MAX_EARLIER = 5  # versions that a submission is compared with


@dataclass(frozen=True)
class Releases:
    """The kept versions of one assignment in the course in `root`."""

    root: Path
    assignment: str

    @property
    def _folder(self) -> Path:
        return self.root / FOLDER / "released" / self.assignment

    @property
    def _order(self) -> Path:
        return self._folder / "order.json"  # digests, the oldest first

    def keep(self, text: str) -> None:
        """From now on this version counts."""
        name = hashlib.sha256(text.encode("utf-8")).hexdigest()
        write_whole(self._folder / f"{name}.ipynb", text)
        order = [*(one for one in self._read_order() if one != name), name]
        write_whole(self._order, json.dumps(order))

    def take_up(self, exercise: Path) -> None:
        """Keep the notebook in exercises/ where no version is kept yet: it was released before versions were.

        Raises:
            CommandError: somebody has written into it.
        """
        if self._order.is_file() or not exercise.is_file():
            return
        hold_untouched(exercise)
        self.keep(exercise.read_bytes().decode("utf-8"))

    def versions(self) -> tuple[bytes, ...]:
        """The one that counts, then earlier ones, the latest first; none where nothing was released.

        Raises:
            CommandError: a kept file is gone or not what it was.
        """
        order = self._read_order()[::-1]
        return tuple(self._read(name) for name in order[: MAX_EARLIER + 1])

    def _read_order(self) -> list[str]:
        try:
            return [str(name) for name in json.loads(self._order.read_text(encoding="utf-8"))]
        except FileNotFoundError:
            return []
        except (ValueError, TypeError) as error:
            raise self._damaged(self._order) from error

    def _read(self, name: str) -> bytes:
        path = self._folder / f"{name}.ipynb"
        data = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(data).hexdigest() != name:
            raise self._damaged(path)
        return data

    def _damaged(self, path: Path) -> CommandError:
        return CommandError(
            f"{path} is not what was released. Restore it, or remove {self._folder} and run "
            f"`insidebert release {self.assignment}`."
        )


def hold_untouched(exercise: Path) -> None:
    """Make sure that a released notebook is as it was written: without outputs, and with the sources of its checksums.

    Raises:
        CommandError: somebody has written into it, or it is no notebook.
    """
    name = exercise.stem
    try:
        cells = nbformat.read(exercise, as_version=4).cells
        touched = any(map(_is_touched, cells))
    except Exception as error:  # not JSON, not UTF-8, not a notebook: each library has its own
        raise CommandError(f"{exercise} is not a notebook. Run `insidebert release {name}`.") from error
    if touched:
        raise CommandError(
            f"{exercise} has been written into since it was released. Run `insidebert release {name}`, which writes "
            "it anew; to try an exercise, use the copy that `insidebert lab` opens."
        )


def _is_touched(cell: NotebookNode) -> bool:
    checksum = cell.metadata.get("nbgrader", {}).get("checksum")
    changed = checksum is not None and checksum != compute_checksum(cell)
    return changed or (cell.cell_type == "code" and bool(cell.outputs or cell.execution_count))


class ReleaseAssignment(ExchangeReleaseAssignment):
    """nbgrader's own way into the exchange, for notebooks that nobody has written into."""

    def init_src(self) -> None:
        super().init_src()
        for exercise in sorted(Path(self.src_path).glob("*.ipynb")):
            try:
                hold_untouched(exercise)
            except CommandError as error:
                self.fail(str(error))


class Released(NotebookExporter):
    """Writes what learners get, and keeps it.

    nbgrader's exporter for `c.GenerateAssignment.exporter_class`, so that the formgrader's button and `nbgrader
    generate_assignment` keep a version as `insidebert release` does.
    """

    def __init__(self, **traits: Any):
        super().__init__(**traits)
        if isinstance(self.parent, GenerateAssignment):  # made before it removes the older exercises
            course = self.parent.coursedir
            for source in map(Path, self.parent.assignments):
                folder = course.format_path(course.release_directory, ".", source.name)
                try:
                    self._releases(source.name).take_up(Path(folder, f"{source.name}.ipynb"))
                except CommandError:  # what somebody wrote into was nobody's to be compared with
                    continue

    def _releases(self, assignment: str) -> Releases:
        converter: Any = self.parent
        return Releases(Path(converter.coursedir.root), assignment)

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kwargs: Any) -> Any:
        """The notebook and the resources; see nbconvert's `Exporter`."""
        output, resources = super().from_notebook_node(nb, resources, **kwargs)
        names = resources.get("nbgrader", {})
        if isinstance(self.parent, GenerateAssignment) and names["notebook"] == names["assignment"]:
            self._releases(names["assignment"]).keep(output)
        return output, resources
