"""Small things that go wrong for everybody once: each is a sentence that says what to do, from every command."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.validator import Validator
from sqlalchemy import text
from traitlets.config import PyFileConfigLoader

import grading.sqlite
from grading.class_list import read_class_list
from grading.course import Course, last_word
from grading.export import export
from grading.feedback import write_feedback
from grading.holders import holders_of
from grading.lms import owner_of
from insidebert import cli
from insidebert.cli import main
from insidebert.errors import CommandError
from tests.small_course import ASSIGNMENT, RIGHT, ROOT, add_graded, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = make_course(
        tmp_path_factory.mktemp("refusals") / "course", {"ada": RIGHT, "bo": RIGHT, "cy": RIGHT}
    )
    return course.root


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Course:
    shutil.copytree(made, tmp_path / "course")
    opened = Course.open(tmp_path / "course")
    opened.config.Application.log_level = "ERROR"
    return opened


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of an error."""
    (line,) = capsys.readouterr().err.splitlines()
    return line


# --- the gradebook ------------------------------------------------------------------------------------------

DOWNLOAD = "ada.ipynb"
COMMANDS = {
    "grade": ["grade", ASSIGNMENT, "--isolation", "none", "--workers", "1", "--no-progress"],
    "explain": ["grade", "--explain", "ada", "layer_parameters"],
    "feedback": ["feedback"],
    "export": ["export"],
    "collect": ["collect", ASSIGNMENT, DOWNLOAD],
    "release": ["release", ASSIGNMENT],
    "roster": ["roster", "class.csv"],
    "move": ["move-gradebook", "sqlite:///other.db"],
}


def every_command(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> set[str]:
    """What each command says; all end with status 2 and one line."""
    monkeypatch.chdir(course.root)
    Path(DOWNLOAD).write_text("{}", encoding="utf-8")
    Path("class.csv").write_text("id\ndi\n", encoding="utf-8")
    (course.folder("submitted_directory") / "ada" / ASSIGNMENT).mkdir(parents=True)
    lines = set()
    for words in COMMANDS.values():
        assert main([*words, "--course", str(course.root)]) == 2, words
        lines.add(said(capsys))
    return lines


def test_a_gradebook_of_an_older_nbgrader_is_the_same_sentence_from_every_command(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with course.gradebook() as book:
        book.db.execute(text("UPDATE alembic_version SET version_num = '50a4d84c131a'"))
        book.db.execute(text("ALTER TABLE course RENAME TO class"))  # as if it had not been thought of
        book.db.commit()
    lines = every_command(course, capsys, monkeypatch)
    assert len(lines) == 1
    assert "schema 50a4d84c131a" in lines.pop()


def test_what_is_no_gradebook_is_the_same_sentence_from_every_command(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in course.root.glob("gradebook.db*"):
        file.unlink()
    (course.root / "gradebook.db").write_text("a letter " * 100, encoding="utf-8")
    lines = every_command(course, capsys, monkeypatch)
    assert {line.removesuffix(" Nothing was moved.") for line in lines} == {min(lines, key=len)}
    assert "file is not a database" in lines.pop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
def test_who_holds_the_gradebook_is_said(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading.sqlite, "_BUSY_MS", 50)
    file = course.root / "gradebook.db"
    program = (
        "import sqlite3, sys, time; book = sqlite3.connect(sys.argv[1]); book.execute('BEGIN EXCLUSIVE'); "
        "print('held', flush=True); time.sleep(100)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, file, "postgresql://me:secret@there/book"], stdout=subprocess.PIPE
    ) as holder:
        try:
            assert holder.stdout and holder.stdout.readline()
            (course.root / "class.csv").write_text("id\ndi\n", encoding="utf-8")
            assert main(["roster", str(course.root / "class.csv"), "--course", str(course.root)]) == 2
            line = said(capsys)
        finally:
            holder.kill()
    assert f"open in process {holder.pid} (python" in line and "secret" not in line
    assert holders_of(file) == []
    assert main(["roster", str(course.root / "class.csv"), "--course", str(course.root)]) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
def test_who_is_grading_is_said(course: Course) -> None:
    from grading.grade import the_only_grader

    program = (
        "import sys, time; from pathlib import Path; from grading.grade import the_only_grader\n"
        "with the_only_grader(Path(sys.argv[1])): print('held', flush=True); time.sleep(100)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, course.root], stdout=subprocess.PIPE, cwd=ROOT
    ) as holder:
        try:
            assert holder.stdout and holder.stdout.readline()
            with (
                pytest.raises(CommandError, match=rf"at work in .*, process {holder.pid} \("),
                the_only_grader(course.root),
            ):
                pass
        finally:
            holder.kill()


def test_a_full_disk_is_called_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(args: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", "run.json")

    monkeypatch.setattr(cli.doctor, "run", full)
    assert main(["doctor"]) == 2
    assert said(capsys).startswith("insidebert: the disk is full (run.json). Make room")
    assert (
        last_word({"log": "[ERROR] x\nOSError: [Errno 28] No space left on device: 'a'"})
        == "the disk is full"
    )


# --- names and paths ----------------------------------------------------------------------------------------


def test_a_course_in_a_folder_that_nbgrader_takes_for_a_pattern_is_refused(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course.root.rename(tmp_path / "course [2026]")
    assert main(["feedback", "--course", str(tmp_path / "course [2026]")]) == 2
    assert "Rename that folder" in said(capsys)
    (tmp_path / "course [2026]").rename(tmp_path / "course (2026), {new}")
    assert main(["feedback", "--course", str(tmp_path / "course (2026), {new}")]) == 0


def test_a_learner_in_brackets_is_named_and_the_others_are_graded(course: Course, tmp_path: Path) -> None:
    from tests.small_run import grade, hand_in

    for student in ("ada [x]", "bo (guest)", ".git", "di"):
        hand_in(course, student, "x")
    (course.folder("submitted_directory") / ".git" / "objects").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grading.run.prove", lambda *_: None)
        patch.setattr("grading.worker.execute", _execute)
        outcome = grade(course)
    assert {row.student for row in outcome.report.rows} == {"bo (guest)", "di"}
    (trouble,) = outcome.troubles
    assert "'ada [x]'" in trouble and "rename the folder" in trouble
    assert write_feedback(course, ASSIGNMENT, "bo (guest)") == (1, {})
    _, notes = export(course, "nbgrader")
    assert not any(".git" in note for note in notes)
    found = owner_of("ada [x].ipynb")
    assert found and found.owner.folder == "ada"  # as a download calls her, brackets are no part of a name


def _execute(*args: object) -> object:
    from tests.small_run import look_up

    return look_up(*args)


def test_feedback_for_several_learners(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["feedback", "--course", str(course.root)]
    assert main([*words, "--student", "ada", "--student", "cy", "--student", "ada"]) == 0
    assert "feedback for 2 learners" in capsys.readouterr().out
    pages = {path.parent.parent.name for path in course.folder("feedback_directory").glob("*/*/*.html")}
    assert pages == {"ada", "cy"}
    assert main([*words, "--student", "ada", "--student", "dora"]) == 2
    assert "nothing of dora's" in said(capsys)


def test_a_report_into_a_folder_that_is_not_there_is_refused_before_anybody_is_graded(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["grade", ASSIGNMENT, "--course", str(course.root), "--report"]
    assert main([*words, str(tmp_path / "mistyped" / "run.json")]) == 2
    assert f"there is no folder {tmp_path / 'mistyped'}" in said(capsys)
    assert not (tmp_path / "mistyped").exists()
    assert main([*words, str(tmp_path)]) == 2
    assert "is a folder" in said(capsys)


@pytest.mark.parametrize(
    "option", ["export --to", "grade --report", "insights run.json --to", "release --bundle"]
)
def test_no_command_writes_over_what_cannot_be_made_again(
    course: Course, tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    gradebook = course.root / "gradebook.db"
    before = gradebook.read_bytes()
    words = [str(tmp_path / word) if word == "run.json" else word for word in option.split()]
    assert main([*words, str(gradebook), "--course", str(course.root)]) == 2
    assert "it would be lost" in capsys.readouterr().err
    assert gradebook.read_bytes() == before


@pytest.mark.parametrize("name", ["submitted", "submitted/ada", "autograded", "exercises"])
def test_a_folder_of_the_courses_own_is_no_download(
    course: Course, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = course.root / name
    folder.mkdir(parents=True, exist_ok=True)
    before = sorted(str(path) for path in course.root.rglob("*"))
    assert main(["collect", ASSIGNMENT, str(folder), "--course", str(course.root)]) == 2
    assert "a folder of the course's own" in said(capsys)
    assert sorted(str(path) for path in course.root.rglob("*")) == before


@pytest.mark.parametrize(
    "url", ["mysql://grader:secret@db.example.org/course", "postgresql+pg8000://a:secret@h/c"]
)
def test_a_database_whose_package_is_missing_is_one_sentence(
    course: Course, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    assert main(["move-gradebook", url, "--course", str(course.root)]) == 2
    line = said(capsys)
    assert "needs the Python package" in line
    assert "secret" not in line


def test_a_page_names_its_learner_as_the_class_list_does(course: Course) -> None:
    with course.gradebook() as book:
        book.update_or_create_student("ada", first_name="Ada", last_name="<b>Lovelace</b>")
    write_feedback(course, ASSIGNMENT)
    folder = course.folder("feedback_directory")
    page, other = (
        (folder / student / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text(encoding="utf-8")
        for student in ("ada", "bo")
    )
    assert "<p>Ada &lt;b&gt;Lovelace&lt;/b&gt; (ada)</p>" in page
    assert "<p>bo</p>" in other and "Lovelace" not in other


# --- a class list -------------------------------------------------------------------------------------------

LIST = "id;first_name;last_name;email\nso;Sinéad;O'Neill;so@example.org\njm;Jörg;Müller;\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_a_class_list_is_read_as_spreadsheets_write_it(
    course: Course, tmp_path: Path, encoding: str, separator: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "class.csv"
    path.write_bytes(LIST.replace(";", separator).replace("\n", "\r\n").encode(encoding))
    assert main(["roster", str(path), "--course", str(course.root)]) == 0
    assert capsys.readouterr().out == "2 learners, 2 of them new in the gradebook\n"
    with course.gradebook() as book:
        found = book.find_student("so")
        assert (found.first_name, found.last_name, found.email) == ("Sinéad", "O'Neill", "so@example.org")
        assert {it.id for it in book.students} == {"ada", "bo", "cy", "so", "jm"}
    path.write_text("id,lms_user_id\nso,17\n", encoding="utf-8")
    assert main(["roster", str(path), "--course", str(course.root)]) == 0
    with course.gradebook() as book:
        found = book.find_student("so")
        assert (found.first_name, found.lms_user_id) == ("Sinéad", "17")  # what the list does not say stays


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "name the columns"),
        (b"name,mail\nx,y\n", "name the columns"),
        (b"id\n", "names nobody"),
        (b"id,email\nada,x\nada,y\n", "line 3: ada is there twice"),
        (b"id,email\n,x\n", "line 2: nobody's id"),
        (b"id\nada,x\n", "line 2: 2 cells"),
        (b"id\n../up\n", "cannot name a folder"),
        (b"id\na\x07b\n", "cannot be shown"),
        (b"id\na[1]\n", "cannot name a folder"),
        (b"id\n" + b"x" * 200 + b"\n", "longer than"),
        (b"id\nJ\xf6rg\n", "CSV UTF-8"),
    ],
)
def test_a_class_list_that_is_wrong_is_one_sentence(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "class.csv"
    path.write_bytes(content)
    with pytest.raises(CommandError, match=says):
        read_class_list(path)


def test_no_class_list_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there is no class list"):
        read_class_list(tmp_path / "none.csv")


# --- exports ------------------------------------------------------------------------------------------------


def test_nothing_that_a_terminal_or_an_editor_obeys_stands_in_an_export(
    course: Course, tmp_path: Path
) -> None:
    hostile = "\x1b[2J\x00\x07\u202eevil\u2066\ufeff\u200f"
    add_graded(course, "di", RIGHT, first_name=f"D{hostile}", last_name="\u202e=1+1")
    with course.gradebook() as book:
        book.find_student("cy").first_name = "می\u200cخواهم"  # a joiner is a letter's part
        book.db.commit()
    (course.folder("submitted_directory") / "eve\x1b[2J\u202e" / ASSIGNMENT).mkdir(parents=True)
    for name in ("nbgrader", "canvas", "moodle"):
        path, notes = export(course, name, tmp_path / name)
        written = path.read_text(encoding="utf-8")
        assert "می\u200cخواهم" in written
        for text_ in (written.replace("\n", "").replace("\u200c", ""), *notes):
            assert text_.isprintable()
        assert "'=1+1" in written


# --- Validate -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", ["nbgrader_config.py", "insidebert/learner/nbgrader_config.py"])
def test_a_notebook_that_asks_for_another_machines_kernel_is_validated(tmp_path: Path, config: str) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1\nassert x == 1")])
    notebook.metadata.kernelspec = {
        "name": "conda-env-other-py",
        "display_name": "Other",
        "language": "python",
    }
    path = tmp_path / "a.ipynb"
    nbformat.write(notebook, path)
    loaded = PyFileConfigLoader(config, path=str(ROOT)).load_config()
    assert Validator(config=loaded).validate(str(path)) == {}
