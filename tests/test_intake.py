"""Hostile bytes in, a canonical notebook out; and nbgrader's own run, which gets nothing else to read.

What the grader makes of whole attacks is in `test_hostile.py`; no kernel runs here.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import stat
import time
from copy import deepcopy
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.coursedir import CourseDirectory

from grading.course import Course
from grading.flags import Flag, hints, noted
from grading.intake import MAX_BYTES, changed_at, find_notebook, read_slip, take_in
from grading.reading import Unreadable, read_cells
from grading.release import release
from insidebert.errors import CommandError
from tests.hostile import ASSIGNMENT, ATTACKED, NEIGHBOUR, RIGHT, attacks_in, hand_in, make_course, notebook

ROOT = Path(__file__).parents[1]
EXERCISE = ROOT / "exercises" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"


@pytest.fixture(scope="module")
def released():
    return nbformat.read(EXERCISE, as_version=4)


@pytest.fixture
def submitted():
    return json.loads(EXERCISE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Every attack on the notebook handed in, in a course where nothing has been graded yet."""
    folder = tmp_path_factory.mktemp("course")
    make_course(folder)
    opened = Course.open(folder)
    release(opened, ASSIGNMENT)
    for attack in attacks_in(notebook):
        hand_in(folder, attack)
    return opened


def taken(cells, released):
    return take_in(json.dumps(cells).encode("utf-8"), released)


def ids(flags):
    return {flag.id for flag in flags}


def names(notebook):
    return [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in notebook.cells]


def cell_of(notebook, name):
    return next(
        cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == name
    )


def test_a_clean_submission_comes_through_as_it_is_without_a_flag(submitted, released):
    for question, source in RIGHT.items():
        cell_of(submitted, f"{question}_answer")["source"] = source
    result = taken(submitted, released)
    assert result.flags == []
    assert [cell.source for cell in result.notebook.cells] == [
        "".join(cell["source"]) for cell in submitted["cells"]
    ]
    assert [cell.metadata for cell in result.notebook.cells] == [cell.metadata for cell in released.cells]


@pytest.mark.parametrize("path", sorted(ROOT.glob("exercises/*/*.ipynb")), ids=lambda path: path.stem)
def test_every_exercise_comes_through_untouched(path):
    whole = nbformat.read(path, as_version=4)
    result = take_in(path.read_bytes(), whole)
    assert result.flags == []
    assert [cell.source for cell in result.notebook.cells] == [cell.source for cell in whole.cells]


@pytest.mark.parametrize("path", sorted(ROOT.glob("solutions/*/*.ipynb")), ids=lambda path: path.stem)
def test_the_courses_own_answers_look_like_no_tampering(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert not list(hints("answer", cell.source)), cell.source


def test_what_an_editor_changes_by_itself_is_no_change(submitted, released):
    for cell in submitted["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n") + "\n"
        cell["metadata"] |= {"collapsed": False, "jupyter": {"source_hidden": True}, "scrolled": "auto"}
    assert taken(submitted, released).flags == []


def test_the_release_is_not_changed(submitted, released):
    before = deepcopy(released)
    cell_of(submitted, ATTACKED)["source"] = "3"
    taken(submitted, released)
    assert released == before


def test_locked_cells_come_from_the_release_in_its_order(submitted, released):
    for cell in submitted["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("locked"):
            cell["source"] = "3.0"
    submitted["cells"].reverse()
    result = taken(submitted, released)
    ours, theirs = (
        [(cell.source, cell.metadata) for cell in cells if cell.metadata.get("nbgrader", {}).get("locked")]
        for cells in (result.notebook.cells, released.cells)
    )
    assert ours == theirs
    assert [name for name in names(result.notebook) if name] == [name for name in names(released) if name]
    assert {"changed_source", "moved_cell"} <= ids(result.flags)


def test_own_cells_stay_behind_their_neighbour(submitted, released):
    own = {
        "cell_type": "code",
        "source": "helper = 1",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    answer = cell_of(submitted, f"{NEIGHBOUR}_answer")
    submitted["cells"].insert(submitted["cells"].index(answer), own)
    result = taken(submitted, released)
    sources = [cell.source for cell in result.notebook.cells]
    assert result.flags == []
    assert sources.index("helper = 1") + 1 == sources.index("".join(answer["source"]))


def test_an_answer_retyped_elsewhere_is_not_overwritten_by_the_blank_one(submitted, released):
    """The answer's own cell is gone; another, even before another question, defines its name."""
    submitted["cells"].remove(cell_of(submitted, f"{ATTACKED}_answer"))
    for position in (2, len(submitted["cells"])):
        edited = deepcopy(submitted)
        edited["cells"].insert(position, {"cell_type": "code", "source": RIGHT[ATTACKED], "metadata": {}})
        if position > 2:
            edited["cells"].remove(cell_of(edited, ATTACKED))  # the check as well: all of it retyped
        result = taken(edited, released)
        namespace = {}
        for cell in result.notebook.cells:
            if "count_parameters" in cell.source and cell.cell_type == "code" and "check(" not in cell.source:
                exec(cell.source.replace(": nn.Module", ""), namespace)
        assert namespace["count_parameters"](Model()) == 7
        assert ids(result.flags) == {"deleted_cell"}


class Model:
    def parameters(self):
        import numpy as np

        yield type("Parameter", (), {"numel": lambda self: int(np.prod(7))})()


def test_a_deleted_answer_that_nobody_retyped_is_not_attempted(submitted, released):
    submitted["cells"].remove(cell_of(submitted, f"{NEIGHBOUR}_answer"))
    namespace = {}
    exec(cell_of(taken(submitted, released).notebook, f"{NEIGHBOUR}_answer").source, namespace)
    with pytest.raises(NotImplementedError):
        namespace[NEIGHBOUR](1, 2)


def test_nothing_but_text_of_a_submitted_cell_arrives(submitted, released):
    for cell in submitted["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]
        cell["attachments"] = {"x.svg": {"image/svg+xml": "<svg onload=alert(1)>"}}
        cell["outputs"] = [{"output_type": "display_data", "data": {"text/html": "<script>"}, "metadata": {}}]
        cell["id"] += "<script>"
    submitted["metadata"] = {"kernelspec": {"name": "evil"}, "insidebert": {"flags": []}}
    result = taken(submitted, released)
    text = nbformat.writes(result.notebook)
    for trace in ("skip-execution", "onload", "<script>", "evil"):
        assert trace not in text
    assert result.notebook.metadata.kernelspec == released.metadata.kernelspec


def test_flags_travel_in_the_notebook(submitted, released):
    submitted["cells"].remove(cell_of(submitted, ATTACKED))
    before = [Flag("extra_files", "There is a file.")]
    result = take_in(json.dumps(submitted).encode(), released, before)
    again = nbformat.reads(nbformat.writes(result.notebook), as_version=4)
    assert noted(again) == result.flags
    assert [flag.id for flag in result.flags] == ["extra_files", "deleted_cell"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = ("cell_type", "source", "metadata", "id", "outputs")
CELLS = st.lists(
    JSON | st.dictionaries(st.sampled_from(KEYS), JSON | st.just({"nbgrader": {"grade_id": ATTACKED}}))
)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200) | CELLS.map(lambda cells: json.dumps({"cells": cells}).encode()))
def test_any_bytes_give_a_valid_notebook_with_every_check_in_order(data):
    whole = nbformat.read(EXERCISE, as_version=4)
    result = take_in(data, whole)
    nbformat.validate(result.notebook)
    nbformat.writes(result.notebook).encode("utf-8")
    assert [name for name in names(result.notebook) if name] == [name for name in names(whole) if name]


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 10_000_000,
        b"[]," * (MAX_BYTES // 3),
        b'{"cells": [{"outputs": ' + b"[" * 10_000 + b"]" * 10_000 + b', "source": "1"}]}',
        b'{"cells": [{"outputs": [' + b"[]," * 40_000_000 + b"0]}]}",
        b'{"cells": [{"source": ' + b"[" * 10_000_000 + b"]" * 10_000_000 + b"}]}",
        b"{" + b'"a": 1, ' * 10_000_000 + b'"cells": []}',
        b'{"metadata": {"x": "' + b'\\"' * (MAX_BYTES // 3) + b'"}, "cells": []}',
        b'{"metadata": {"x": "' + b"\\" * (MAX_BYTES - 100),
        b'{"cells": [' + b"{}," * 900_000 + b"{}]}",
        b'{"cells": [' + b'{"source": "' + b"def " * 20_000 + b'", "cell_type": "code"},' * 100 + b"{}]}",
        b'{"x": ' + b"9" * 5_000_000 + b"}",
        b"\\" * MAX_BYTES,
        b'{"cells": ["' + b"\\u0000" * 2_000_000 + b'"]}',
    ],
    ids=(
        "open",
        "pairs",
        "deep",
        "passed over",
        "deep source",
        "members",
        "quotes",
        "backslashes in a string",
        "cells",
        "sources",
        "digits",
        "backslashes",
        "escapes",
    ),
)
def test_reading_takes_a_bounded_time(data, released):
    began = time.process_time()
    take_in(data, released)
    gc.collect()
    assert time.process_time() - began < 5


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / f"{ASSIGNMENT}.ipynb"
    path.touch()
    os.truncate(path, 50 * 2**30)
    began = time.process_time()
    data, flags = find_notebook(tmp_path, ASSIGNMENT)
    assert data is None
    assert ids(flags) == {"too_large", "unreadable_notebook"}
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (("draft.ipynb", "final.ipynb", "a.ipynb"), "final.ipynb"),
        (("zz.ipynb", f"{ASSIGNMENT} (9).ipynb", f"{ASSIGNMENT} (10).ipynb"), f"{ASSIGNMENT} (10).ipynb"),
    ],
)
def test_the_last_by_name_of_several_other_notebooks_is_taken_whatever_their_times(tmp_path, names, taken):
    for age, name in enumerate(names):
        (tmp_path / name).write_text(name, encoding="utf-8")
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    data, flags = find_notebook(tmp_path, ASSIGNMENT)
    assert data == taken.encode()
    assert ids(flags) == {"renamed_notebook", "extra_files"}


def test_what_programs_leave_in_folders_is_no_extra_file(tmp_path):
    for name in (f"{ASSIGNMENT}.ipynb", "timestamp.txt", "submission_secret.txt", ".DS_Store"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    assert find_notebook(tmp_path, ASSIGNMENT) == (b"x", [])


def test_another_file_does_not_stand_in_for_a_notebook_that_cannot_be_opened(tmp_path):
    (tmp_path / "draft.ipynb").write_text("{}", encoding="utf-8")
    (tmp_path / f"{ASSIGNMENT}.ipynb").symlink_to("draft.ipynb")
    data, flags = find_notebook(tmp_path, ASSIGNMENT)
    assert data is None
    assert ids(flags) == {"not_a_file", "extra_files", "unreadable_notebook"}


def test_a_folder_of_many_files_is_not_listed_to_the_end_and_the_notebook_is_found(tmp_path):
    for number in range(1_500):
        (tmp_path / f"a{number}").touch()
    (tmp_path / f"{ASSIGNMENT}.ipynb").write_text("x", encoding="utf-8")
    data, flags = find_notebook(tmp_path, ASSIGNMENT)
    assert data == b"x"
    assert len(flags) == 1
    assert len(flags[0].text) < 500


def test_a_folder_that_is_a_link_or_missing_has_no_notebook(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / f"{ASSIGNMENT}.ipynb").write_text("x", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert find_notebook(tmp_path / "link", ASSIGNMENT)[0] is None
    assert find_notebook(tmp_path / "missing", ASSIGNMENT)[0] is None
    assert read_slip(tmp_path / "link").files == {}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_has_no_notebook(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / f"{ASSIGNMENT}.ipynb").touch(mode=0o000)
    assert find_notebook(folder, ASSIGNMENT)[0] is None
    folder.chmod(0o000)
    try:
        assert ids(find_notebook(folder, ASSIGNMENT)[1]) == {"not_a_file", "unreadable_notebook"}
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("2033-05-18 03:33:20.000000 UTC", set()),
        ("2033-05-18 05:33:20 +0200", set()),
        ("2001-09-09 01:46:40.000000 UTC", {"early_timestamp"}),
        ("never", {"bad_timestamp"}),
        ("", {"bad_timestamp"}),
        ("9" * 5000, {"bad_timestamp"}),
        ("9999-12-31 23:59:59 UTC", {"bad_timestamp"}),
        ("0001-01-01 00:00:00 UTC", {"bad_timestamp"}),
    ],
)
def test_the_time_of_submission(tmp_path, text, flags):
    """As the exchange saw it: the notebook was last changed in May 2033."""
    (tmp_path / "timestamp.txt").write_text(text, encoding="utf-8")
    slip = read_slip(tmp_path, changed=datetime(2033, 5, 18, 3, 33, 20))
    assert ids(slip.flags) == flags
    expected = 2001 if flags == {"early_timestamp"} else 2033  # nonsense is no way around a deadline
    assert slip.submitted is not None
    assert (slip.submitted.year, slip.submitted.tzinfo) == (expected, None)
    assert slip.files["timestamp.txt"].startswith(str(expected))


@pytest.mark.parametrize(("text", "year"), [("2001-09-09 01:46:40 UTC", 2001), ("never", None)])
def test_the_time_of_a_file_is_no_evidence(tmp_path, text, year):
    """An archive, a copy and an editor change it, and no learner has any part in that."""
    for name, content in ((f"{ASSIGNMENT}.ipynb", "x"), ("timestamp.txt", text)):
        (tmp_path / name).write_text(content, encoding="utf-8")
        os.utime(tmp_path / name, (2_000_000_000, 2_000_000_000))
    slip = read_slip(tmp_path)
    assert (slip.submitted.year if slip.submitted else None) == year
    assert ids(slip.flags) == (set() if year else {"bad_timestamp"})
    assert ("timestamp.txt" in slip.files) == bool(year)


def test_a_notebook_from_beyond_the_calendar_stops_nobody(tmp_path, monkeypatch):
    """tmpfs and Btrfs keep such times; others cut them, so that the file alone would test nothing there."""
    path = tmp_path / f"{ASSIGNMENT}.ipynb"
    path.write_text("x", encoding="utf-8")
    assert changed_at(tmp_path, ASSIGNMENT) is not None
    about = [*path.lstat()]
    about[stat.ST_MTIME] = 2**60
    monkeypatch.setattr("grading.intake.os.lstat", lambda _: os.stat_result(about))
    assert changed_at(tmp_path, ASSIGNMENT) is None


def test_a_submission_without_a_timestamp_has_no_time(tmp_path):
    assert read_slip(tmp_path).submitted is None


# --- what is passed over, and what is not ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"\0" * 4096, "empty"),  # what a machine leaves that went out while it wrote
        (b'{"cells": [{"source": "x', "cut off"),
        (b'{"cells": [{"outputs": [{"data": "x"', "cut off"),
        (b'{"cells": [{"outputs": [], "source": "x"}', "cut off"),
        (b'{"cells": []} {"cells": []}', "more after its end"),
        (b'{"cells": [\n<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs\n]}', "a merge that was not finished"),
        (b'{"cells": [{"source": "\xff"}]}', "not UTF-8"),
        (b'{"cells": [{"source" "x"}]}', "not JSON"),
        (b'{"cells": [,]}', "not JSON"),
        (b'{"cells": {}}', "no notebook of format 4"),
        (b'{"worksheets": []}', "no notebook of format 4"),
    ],
)
def test_what_cannot_be_read_says_why(data, says):
    with pytest.raises(Unreadable, match=says):
        read_cells(data)


def test_what_is_read_is_what_json_says(submitted):
    """Keys that are written with escapes, or twice; the last one counts, as for whoever wrote the notebook."""
    cells, encoding = read_cells(json.dumps(submitted).encode())
    assert encoding == ""
    assert [cell["source"] for cell in cells] == [cell["source"] for cell in submitted["cells"]]
    odd = rb' {"\u0063ells" : [ { "source":"a", "sourc\u0065" : "b" , "outputs":[ "]", "\"]" ] } , 7 ] } '
    assert read_cells(odd) == ([{"source": "b"}, None], "")


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(("cells", "metadata")), st.lists(JSON) | JSON) | JSON)
def test_any_json_is_read_like_json(value):
    data = json.dumps(value).encode()
    cells = value.get("cells") if isinstance(value, dict) else None
    if isinstance(cells, list):
        found, _ = read_cells(data)
        assert len(found) == len(cells)
        for ours, theirs in zip(found, cells, strict=True):
            assert (ours or {}).keys() == (
                {*KEYS[:2], "id", "metadata"} & {*theirs} if theirs and isinstance(theirs, dict) else set()
            )
    else:
        with pytest.raises(Unreadable):
            read_cells(data)


# --- nbgrader's own run ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def autograded(course):
    """`nbgrader autograde` over the class, without the steps that need a kernel."""
    from nbgrader.converters import Autograde

    config = deepcopy(course.config)
    config.Autograde.autograde_preprocessors = []
    config.CourseDirectory.assignment_id = ASSIGNMENT
    directory = CourseDirectory(config=config)
    Autograde(coursedir=directory, config=config).start()
    assert directory.submitted_directory == "submitted"  # the formgrader keeps its own from click to click
    return course.folder("autograded_directory")


def test_nothing_one_learner_hands_in_stops_nbgraders_batch(course, autograded):
    for attack in attacks_in(notebook):
        path = autograded / attack.name / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        graded = nbformat.read(path, as_version=4)
        assert attack.flags <= ids(noted(graded)), attack.name
        assert {"setup", ATTACKED, NEIGHBOUR} <= set(names(graded)), attack.name


def test_only_the_notebook_and_the_exchanges_slips_are_copied(autograded):
    found = {path.name for path in autograded.rglob("*") if path.is_file()}
    assert found == {f"{ASSIGNMENT}.ipynb", "timestamp.txt"}
    assert not any(path.is_symlink() for path in autograded.rglob("*"))


def test_a_course_that_reads_submissions_as_they_come_is_refused(course, tmp_path):
    shutil.copytree(course.folder("source_directory"), tmp_path / "solutions")
    text = (course.root / "nbgrader_config.py").read_text(encoding="utf-8")
    (tmp_path / "nbgrader_config.py").write_text(
        text.replace("c.Autograde.exporter_class", "ignored"), "utf-8"
    )
    with pytest.raises(CommandError, match="exporter_class"):
        Course.open(tmp_path)


def test_a_run_that_nobody_released_says_so(course, tmp_path):
    from nbgrader.converters import Autograde
    from nbgrader.converters.base import NbGraderException

    for name in ("solutions", "submitted"):
        shutil.copytree(course.root / name, tmp_path / name, symlinks=True, ignore=_pipes)
    config = deepcopy(course.config)
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.assignment_id = ASSIGNMENT
    with pytest.raises(NbGraderException, match="insidebert release"):
        Autograde(coursedir=CourseDirectory(config=config), config=config).start()


def _pipes(folder, names):
    return [name for name in names if stat.S_ISFIFO(os.lstat(os.path.join(folder, name)).st_mode)]  # noqa: PTH118


def test_the_submissions_are_left_as_they_were(course, autograded):
    folder = course.folder("submitted_directory")
    assert (folder / "a_renamed_notebook" / ASSIGNMENT / f"{ASSIGNMENT} (1).ipynb").is_file()
    assert (folder / "links_to_files_outside" / ASSIGNMENT / "gradebook.db").is_symlink()
    assert not (folder / "a_missing_notebook" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").exists()


def test_the_time_that_counts_is_in_the_gradebook(course, autograded):
    with course.gradebook() as gradebook:
        times = {
            name: gradebook.find_submission(ASSIGNMENT, name).timestamp
            for name in ("a_timestamp_of_last_year", "a_timestamp_of_no_time", "a_clean_submission")
        }
    assert times["a_timestamp_of_last_year"].year == 2001
    assert times["a_timestamp_of_no_time"] is None  # it did not come through the exchange
    assert times["a_clean_submission"] is None
