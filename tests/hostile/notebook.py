"""Attacks by the notebook and by the files around it."""

from __future__ import annotations

import json
import os
from copy import deepcopy

from tests.hostile import ASSIGNMENT, ATTACKED, RIGHT, WRONG, Work, attack

UNTOUCHED = {"states": "not_attempted", "neighbour": "not_attempted"}
# No points, and a person is asked: what cannot be read is not a zero.
WAITS = {"states": "crashed", "neighbour": "crashed", "findings": {"not_gradable"}}


@attack()
def a_clean_submission(work: Work) -> None:
    pass


@attack({"changed_metadata"}, "incorrect")
def a_check_that_is_skipped(work: Work) -> None:
    work.answer["source"] = WRONG
    work.check["metadata"]["tags"] = ["skip-execution"]


@attack({"changed_metadata"}, "incorrect")
def a_check_that_may_fail(work: Work) -> None:
    work.answer["source"] = WRONG
    work.check["metadata"]["tags"] = ["raises-exception"]


@attack({"changed_metadata"}, "incorrect")
def more_points(work: Work) -> None:
    work.answer["source"] = WRONG
    work.marks(work.check)["points"] = 1000


@attack({"unknown_cell", "deleted_cell"}, "incorrect")
def another_id(work: Work) -> None:
    work.answer["source"] = WRONG
    work.marks(work.check)["grade_id"] = "an_easier_question"


@attack({"changed_metadata"}, "incorrect")
def flags_turned_round(work: Work) -> None:
    work.answer["source"] = WRONG
    work.marks(work.check).update(grade=False, locked=False, solution=True)


@attack({"changed_type"}, "incorrect")
def a_check_of_text(work: Work) -> None:
    work.answer["source"] = WRONG
    work.check["cell_type"] = "markdown"


@attack({"changed_type"})
def an_answer_of_text(work: Work) -> None:
    work.answer["cell_type"] = "markdown"


@attack({"changed_source"}, "incorrect")
def a_check_that_says_yes(work: Work) -> None:
    work.answer["source"] = WRONG
    work.check["source"] = f"{work.marks(work.check)['points']}"


@attack({"deleted_cell"})
def a_deleted_check(work: Work) -> None:
    work.cells.remove(work.check)


@attack({"duplicate_cell"})
def a_copied_check(work: Work) -> None:
    work.cells.append(deepcopy(work.check))


@attack({"moved_cell"})
def a_moved_check(work: Work) -> None:
    check = work.check
    work.cells.remove(check)
    work.cells.insert(1, check)


@attack({"duplicate_cell"})
def two_answers_with_one_id(work: Work) -> None:
    """The second stands behind the first and would run after it in the learner's own notebook, too."""
    copy = deepcopy(work.answer)
    work.answer["source"] = WRONG
    work.cells.insert(work.cells.index(work.check), copy)


@attack({"changed_metadata"})
def a_schema_of_the_future(work: Work) -> None:
    for cell in work.cells:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = 99


@attack({"changed_metadata"})
def a_schema_that_is_text(work: Work) -> None:
    work.marks(work.check)["schema_version"] = "3"


@attack({"lost_metadata"})
def no_marks_at_all(work: Work) -> None:
    for cell in work.cells:
        cell["metadata"] = {}


@attack({"deleted_cell"})
def no_marks_and_no_ids(work: Work) -> None:
    for cell in work.cells:
        cell["metadata"] = {}
        cell.pop("id")


@attack({"deleted_cell"})
def an_answer_in_a_new_cell(work: Work) -> None:
    work.insert(RIGHT[ATTACKED], before=work.check)
    work.cells.remove(work.answer)


@attack({"touches_check"})
def own_cells_before_a_check(work: Work) -> None:
    work.insert("def check(*words):\n    return 3\ncount = 3\n", before=work.cell("setup"))


@attack({"touches_check"}, "crashed", "crashed")
def own_cells_that_replace_the_check(work: Work) -> None:
    work.insert("check = lambda *words: 3\n", before=work.check)


@attack({"touches_interpreter"})
def own_cells_after_a_check(work: Work) -> None:
    work.insert("import builtins\nbuiltins.sum = lambda values: 0\n")


@attack({"renamed_notebook"})
def a_renamed_notebook(work: Work) -> None:
    work.write(work.text(), f"{ASSIGNMENT} (1).ipynb")


@attack({"missing_notebook", "extra_files"}, **UNTOUCHED)
def a_missing_notebook(work: Work) -> None:
    work.write("Sorry, my dog ate it.", "excuse.txt")


@attack({"unreadable_notebook"}, **WAITS)
def an_empty_file(work: Work) -> None:
    work.write("")


@attack({"unreadable_notebook"}, **WAITS)
def no_json(work: Work) -> None:
    work.write("%PDF-1.7 is what I have")


@attack({"unreadable_notebook"}, **WAITS)
def half_a_file(work: Work) -> None:
    work.write(work.text()[:2000])


@attack({"too_large", "unreadable_notebook"}, **WAITS)
def two_hundred_megabytes(work: Work) -> None:
    work.write("")
    os.truncate(work.folder / f"{ASSIGNMENT}.ipynb", 200_000_000)  # sparse: takes no room


@attack({"unreadable_notebook"}, **WAITS)
def marks_of_a_merge(work: Work) -> None:
    text = json.dumps(work.notebook, indent=1)
    begin = text.rindex("\n", 0, text.index('"execution_count"')) + 1
    work.write(f"{text[:begin]}<<<<<<< HEAD\n=======\n>>>>>>> theirs\n{text[begin:]}")


@attack()
def ten_thousand_levels(work: Work) -> None:
    """Where nothing is graded, nobody looks."""
    deep = '{"a": ' * 10_000 + "1" + "}" * 10_000
    work.write(
        work.text()
        .replace('"metadata": {}', f'"metadata": {deep}')
        .replace('"outputs": []', f'"outputs": [{deep}]')
    )


@attack({"unreadable_notebook"}, **WAITS)
def ten_thousand_levels_in_an_answer(work: Work) -> None:
    work.answer["source"] = "DEEP"
    work.write(work.text().replace('"DEEP"', "[" * 10_000 + "]" * 10_000))


@attack({"unreadable_notebook"}, **WAITS)
def two_million_values(work: Work) -> None:
    work.write('{"cells": [' + "[]," * 2_000_000 + "[]]}")


@attack()
def a_picture_of_17_megabytes(work: Work) -> None:
    data = {"image/png": "iVBO" * (17 * 2**18)}
    work.answer["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]


@attack()
def a_figure_of_a_million_numbers(work: Work) -> None:
    data = {"application/vnd.plotly.v1+json": {"data": [{"z": [[1.5, 2.5, 3.5, 4.5]] * 250_000}]}}
    work.answer["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]


@attack()
def a_picture_pasted_into_a_text(work: Work) -> None:
    picture = {"image.png": {"image/png": "iVBO" * 2**20}}
    work.insert("![image.png](attachment:image.png)", cell_type="markdown", attachments=picture)


@attack()
def deep_metadata(work: Work) -> None:
    """As deep as JSON can be read, and then everybody's recursion fails."""
    deep: list = []
    for _ in range(400):
        deep = [deep]
    work.notebook["metadata"]["deep"] = deep
    work.insert("1", metadata={"deep": deep})


@attack({"odd_encoding"})
def sixteen_bits(work: Work) -> None:
    work.write(work.text().encode("utf-16"))


@attack({"odd_encoding"})
def a_byte_order_mark(work: Work) -> None:
    work.write(b"\xef\xbb\xbf" + work.text().encode("utf-8"))


@attack({"unreadable_notebook"}, **WAITS)
def bytes_of_no_encoding(work: Work) -> None:
    work.write(b'{"cells": "\xff\xfe\xfa"}')


@attack()
def cells_of_any_form(work: Work) -> None:
    rubbish = [None, 7, [], {}, {"source": {}}, {"cell_type": [], "source": [1], "metadata": "x", "id": {}}]
    work.cells[3:3] = [*rubbish, {"cell_type": "code", "source": "1\ud800", "metadata": {"nbgrader": [7]}}]


@attack({"unknown_cell", "changed_metadata"})
def marks_of_any_form(work: Work) -> None:
    work.marks(work.check).update(points=float("nan"), checksum=["x"], own={"a": 1})
    work.insert("1", metadata={"nbgrader": {"grade_id": 5, "grade": True, "points": 1e308}})


@attack({"extra_files"})
def modules_of_their_own(work: Work) -> None:
    """What is imported or run by its name, were it to lie in the kernel's folder or its home."""
    lie = f"raise SystemExit\nopen('/tmp/{ASSIGNMENT}-was-here', 'w')\n"
    names = ("torch.py", "random.py", "json.py", "sitecustomize.py", "usercustomize.py", "nbgrader_config.py")
    for name in (*names, "checks/__init__.py", "conftest.py", ".ipython/profile_default/startup/00.py"):
        work.beside(name, lie)


@attack({"not_a_file", "extra_files"})
def links_to_files_outside(work: Work) -> None:
    (work.folder / "passwords.txt").symlink_to("/etc/passwd")
    (work.folder / "gradebook.db").symlink_to("../../../gradebook.db")
    (work.folder / "solutions").symlink_to("../../../solutions", target_is_directory=True)
    work.beside("notes/solution.txt", "none")


@attack({"not_a_file", "unreadable_notebook"}, **WAITS)
def a_link_for_a_notebook(work: Work) -> None:
    solution = work.folder.parents[2] / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    (work.folder / f"{ASSIGNMENT}.ipynb").symlink_to(solution)
    work.handed_in = False


@attack({"not_a_file"})
def pipes_that_nobody_fills(work: Work) -> None:
    os.mkfifo(work.folder / "pipe")
    os.mkfifo(work.folder / "timestamp.txt")


@attack({"bad_timestamp"})
def a_timestamp_of_no_time(work: Work) -> None:
    work.beside("timestamp.txt", "yesterday, promised\n")


@attack()
def a_timestamp_of_last_year(work: Work) -> None:
    """Only the exchange can tell; see `test_exchange.py`."""
    work.beside("timestamp.txt", "2001-01-01 00:00:00.000000 UTC")


@attack({"bad_timestamp"})
def a_timestamp_at_the_end_of_time(work: Work) -> None:
    work.beside("timestamp.txt", "9999-12-31 23:59:59.000000 UTC")


@attack()
def blanks_that_take_long_to_colour(work: Work) -> None:
    for _ in range(5):
        work.insert("1" + " \n" * 14_000)


@attack()
def a_script_in_an_output(work: Work) -> None:
    html = {"text/html": "<script>document.title = 'taken'</script>"}
    work.check["outputs"] = [{"output_type": "display_data", "data": html, "metadata": {}}]
    work.insert("<script>document.title = 'taken'</script>", cell_type="raw")
    work.insert("from IPython.display import HTML\nHTML('<script>document.title = 1</script>')")


@attack({"too_many_cells"})
def ten_thousand_cells(work: Work) -> None:
    for _ in range(10_000):
        work.cells.append({"cell_type": "markdown", "source": "x", "metadata": {}})


@attack({"too_long_cell"})
def one_endless_cell(work: Work) -> None:
    work.insert("x = '" + "x" * 2_000_000 + "'")


@attack({"extra_files"})
def odd_names(work: Work) -> None:
    for name in ("\x1b[31mred", "a\nb", "<img src=x onerror=alert(1)>.txt", "%(asctime)s {cells}"):
        work.beside(name, "")
    os.close(os.open(os.fsencode(work.folder) + b"/\xff\xfe", os.O_CREAT))


@attack({"unreadable_notebook"}, **WAITS)
def a_format_of_long_ago(work: Work) -> None:
    work.write(json.dumps({"nbformat": 3, "worksheets": [{"cells": work.cells}], "metadata": {}}))
