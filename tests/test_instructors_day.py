"""An instructor's day: an exercise goes out and comes back through the formgrader, and once more by commands.

`INSIDEBERT_PICTURES=1 pytest tests/test_instructors_day.py` also takes the pictures of `docs/instructors.md`.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from grading.course import Course
from grading.demo import ASSIGNMENT, _right_answers, _take_part
from tests.lab_page import choose
from tests.lab_server import PATIENCE, TOKEN, copy_course, lab_server
from tests.small_course import make_course
from tests.small_run import hand_in

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(
        sys.platform != "linux", reason="submissions are graded in a sandbox, which is Linux's"
    ),
]

RIGHT, PARTLY, WRONG, UNTOUCHED = "ada", "hana", "chen", "kofi"  # of the demo's class
CLASS = (RIGHT, PARTLY, WRONG, UNTOUCHED)
NEVER_RELEASED = "objectives"
COMMENT = "Ask `parameters()`, not the state: see me on **Monday**."
PICTURES = Path(__file__).parents[1] / "docs" / "images"


def new_course(folder: Path) -> Path:
    """A copy of the course with an exchange of its own, on a machine where one person plays everybody."""
    root = copy_course(folder)
    (folder / "exchange").mkdir(mode=0o777)
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(
            f"\nc.Exchange.root = {str(folder / 'exchange')!r}\nc.ExchangeCollect.check_owner = False\n"
        )
    return root


def hand_in_as_learners(root: Path) -> None:
    """Everybody of the class fetches what was released, answers and submits, outside of the course's folder."""
    course = Course.open(root)
    course.config.Exchange.cache = str(root.parent / "cache")
    course.config.Application.log_level = "ERROR"
    answers = _right_answers(course)
    for student in CLASS:
        _take_part(Course(root.parent, course.config), student, answers)


def run(root: Path, *words: str) -> str:
    """A command of this Python in the course's folder; returns what it printed."""
    command = [sys.executable, "-m", *words]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, encoding="utf-8", timeout=600)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def grades(root: Path) -> dict[tuple[str, str], tuple[float, bool]]:
    """By learner and question: the points that count, and whether a person has to look at them."""
    with Course.open(root).gradebook() as gradebook:
        return {
            (submission.student.id, grade.name): (grade.score, grade.needs_manual_grade)
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def feedback(root: Path, student: str) -> str:
    path = root / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html"
    return path.read_text(encoding="utf-8")


# --- the formgrader ----------------------------------------------------------------------------------------


class Formgrader:
    """An instructor's hands on nbgrader's page, which JupyterLab shows in a frame of its own."""

    def __init__(self, page: Page, url: str):
        self.page = page
        page.goto(f"{url}/lab?token={TOKEN}")
        choose(page, "Nbgrader", "Formgrader")
        page.keyboard.press("ControlOrMeta+b")  # the side bar is in the way
        self.frame = page.frame_locator('iframe[src*="formgrader"]')

    def open(self, *links: str) -> None:
        for link in links:
            self.frame.get_by_role("link", name=link, exact=True).last.click()

    def row(self, name: str) -> Locator:
        return self.frame.get_by_role("row").filter(has=self.frame.get_by_text(name, exact=True))

    def press(self, name: str, button: str) -> str:
        """Presses one of a row's icons; returns what the dialog says when it is done."""
        self.row(name).locator(f".{button} a").click()
        dialog = self.frame.get_by_role("dialog")
        text = dialog.inner_text()
        dialog.get_by_role("button", name="OK").click()
        expect(dialog).to_have_count(0)
        return text

    def submissions(self, assignment: str, number: int) -> None:
        """To the list of what was collected, from wherever one is."""
        self.open("Manage Assignments")
        count = self.row(assignment).locator(".num-submissions a")
        expect(count).to_have_text(str(number))
        count.click()

    def submission(self, student: str) -> None:
        """To one learner's notebook in manual grading."""
        self.open("Manual Grading")
        for place in (ASSIGNMENT, f"{ASSIGNMENT}/{ASSIGNMENT}"):  # all its notebooks, and the only one
            self.frame.locator(f'tbody a[href$="/gradebook/{place}"]').click()
        expect(self.frame.get_by_role("link", name="Submission #1", exact=True)).to_be_visible()
        self.frame.get_by_role("button", name="Show All Names").click()
        self.open(student)

    def verdict(self, question: str) -> Locator:
        """What stands below the check of a question."""
        cell = self.frame.locator(".cell", has=self.frame.locator(f"input.score#{question}"))
        return cell.locator(".output")

    def expect_points(self, question: str, points: float) -> None:
        """What stands in the box beside a question: the check's points, until a person writes others."""
        box = self.frame.locator(f"input.score#{question}")
        expect(box).to_have_attribute("placeholder", f"{points:g}")
        expect(box).to_have_value("")

    def comment(self, question: str, text: str) -> None:
        """Writes below an answer; the page saves it when one goes elsewhere."""
        self.frame.locator(f"#{question}_answer-comment").fill(text)
        with self.page.expect_response(lambda answer: answer.request.method == "PUT") as answer:
            self.page.keyboard.press("Tab")
        assert answer.value.ok


@dataclass
class Day:
    """The course at the end of the day, and what the dialogs said, by row and button."""

    root: Path
    said: dict[tuple[str, str], str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Day]:
    """The whole way, with the mouse."""
    expect.set_options(timeout=PATIENCE * 1000)
    folder = tmp_path_factory.mktemp("formgrader")
    day = Day(new_course(folder))
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    context.set_default_timeout(PATIENCE * 1000)
    try:
        with lab_server(folder, "--role", "instructor", course=day.root) as server:
            page = Formgrader(context.new_page(), server.url)
            send_out_and_grade(page, day)
            look_and_comment(page)
            give_back(page, day)
            fail(page, day)
    finally:
        context.close()
    yield day


def send_out_and_grade(page: Formgrader, day: Day) -> None:
    for button in ("assign", "release"):
        day.said[ASSIGNMENT, button] = page.press(ASSIGNMENT, button)
    hand_in_as_learners(day.root)
    day.said[ASSIGNMENT, "collect"] = page.press(ASSIGNMENT, "collect")
    page.submissions(ASSIGNMENT, len(CLASS))
    for student in CLASS:
        expect(page.row(student)).to_contain_text("needs autograding")
        day.said[student, "autograde"] = page.press(student, "autograde")
        expect(page.row(student)).to_contain_text("graded")


def look_and_comment(page: Formgrader) -> None:
    """What the check found stands below the answer, its points beside it; a comment is saved."""
    page.submission(WRONG)
    expect(page.verdict("count_parameters")).to_contain_text("Not right yet")
    expect(page.verdict("count_parameters")).to_contain_text("cause")
    expect(page.verdict("layer_parameters")).to_contain_text("Correct")
    page.expect_points("count_parameters", 0)
    page.expect_points("layer_parameters", 3)
    page.comment("count_parameters", COMMENT)
    take_picture(page, "formgrader", page.verdict("count_parameters"))


def give_back(page: Formgrader, day: Day) -> None:
    """Grade one again, as after a change of mind; then write and return the feedback of all, and export."""
    page.open("Manual Grading")  # which has a link to everywhere, as a submission's page has not
    page.submissions(ASSIGNMENT, len(CLASS))
    day.said[WRONG, "again"] = page.press(WRONG, "autograde")
    page.open("Manage Assignments")
    for button in ("generate-feedback", "release-feedback"):
        day.said[ASSIGNMENT, button] = page.press(ASSIGNMENT, button)
    run(day.root, "nbgrader", "export")
    if os.environ.get("INSIDEBERT_PICTURES"):
        picture_of_feedback(page.page, day.root)


def fail(page: Formgrader, day: Day) -> None:
    """Somebody's notebook of an exercise that was never released lies in submitted/."""
    shutil.copytree(day.root / "exercises" / NEVER_RELEASED, day.root / "submitted" / RIGHT / NEVER_RELEASED)
    page.submissions(NEVER_RELEASED, 1)
    day.said[NEVER_RELEASED, "autograde"] = page.press(RIGHT, "autograde")


def test_every_button_says_that_it_worked(day: Day) -> None:
    worked = {key: text for key, text in day.said.items() if key != (NEVER_RELEASED, "autograde")}
    assert len(worked) == 6 + len(CLASS)
    for text in worked.values():
        assert "Success" in text
        assert "Traceback" not in text


def test_a_comment_by_hand_survives_grading_again_and_reaches_its_learner_alone(day: Day) -> None:
    assert "<strong>Monday</strong>" in feedback(day.root, WRONG)
    assert "Monday" not in feedback(day.root, RIGHT)
    returned = (day.root.parent / "exchange" / "inside-bert" / "feedback").glob("*.html")
    assert sorted(page.read_text(encoding="utf-8") for page in returned) == sorted(
        feedback(day.root, student) for student in CLASS
    )


def test_what_was_never_released_is_said_in_one_sentence(day: Day) -> None:
    said = day.said[NEVER_RELEASED, "autograde"]
    log = said[said.index("Log Output") : said.index("Traceback")]
    assert f"{NEVER_RELEASED} has not been released" in log
    assert log.count("[ERROR]") == 1
    assert "File " not in log


# --- by commands -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same course and class without a browser, as `docs/instructors.md` has it."""
    root = new_course(tmp_path_factory.mktemp("commands"))
    run(root, "insidebert", "release", ASSIGNMENT)
    run(root, "nbgrader", "release_assignment", ASSIGNMENT)
    hand_in_as_learners(root)
    run(root, "nbgrader", "collect", ASSIGNMENT)
    run(root, "insidebert", "grade", ASSIGNMENT, "--workers", "1")
    run(root, "insidebert", "feedback", ASSIGNMENT, "--release")
    run(root, "insidebert", "export")
    return root


def test_the_grades_are_equal_question_by_question(day: Day, by_commands: Path) -> None:
    clicked = grades(day.root)
    assert len(clicked) == 6 * len(CLASS)
    assert clicked == grades(by_commands)
    totals = {student: sum(clicked[key][0] for key in clicked if key[0] == student) for student in CLASS}
    assert totals[RIGHT] == 20 > totals[PARTLY] > totals[WRONG] > totals[UNTOUCHED] == 0
    assert not any(by_hand for _, by_hand in clicked.values())


def test_the_exports_are_equal(day: Day, by_commands: Path) -> None:
    """But for the order, and the times of submission."""
    clicked = exported(day.root / "grades.csv")
    assert set(clicked) == set(CLASS)
    assert clicked == exported(by_commands / "grades.csv")


def exported(file: Path) -> dict[str, dict[str, str]]:
    """The rows by learner."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = {row["student_id"]: row for row in csv.DictReader(lines)}
    for row in rows.values():
        del row["timestamp"]
    return rows


def test_the_feedback_says_the_same(day: Day, by_commands: Path) -> None:
    for student in CLASS:
        for words in ("Correct", "Not right yet", "Partly right", "Not attempted"):
            assert feedback(day.root, student).count(words) == feedback(by_commands, student).count(words)


# --- without a sandbox -------------------------------------------------------------------------------------


def test_without_a_sandbox_the_button_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the formgrader calls it; its dialog shows the log, then where it was raised."""
    from grading.sandbox import bubblewrap, detecting

    course = make_course(tmp_path / "course", {})
    hand_in(course, RIGHT, "")
    detecting.detect.cache_clear()
    with monkeypatch.context() as without:
        without.setattr(bubblewrap, "installed", lambda: None)
        said = course.api.autograde(ASSIGNMENT, RIGHT)
    assert not said["success"]
    (line,) = said["log"].splitlines()
    assert "no sandbox here: bubblewrap is not installed. sudo apt-get install bubblewrap" in line
    assert detecting.detect().name  # looked for again: the next click works
    assert not course.folder("autograded_directory").exists()


# --- pictures ----------------------------------------------------------------------------------------------


def take_picture(page: Formgrader, name: str, around: Locator | None = None) -> None:
    if os.environ.get("INSIDEBERT_PICTURES"):
        if around:
            around.scroll_into_view_if_needed()
        page.page.screenshot(path=PICTURES / f"{name}.png")


def picture_of_feedback(page: Page, root: Path) -> None:
    """A wrong answer on its learner's page, from its code and the comment to the verdict."""
    shown = page.context.new_page()
    shown.goto((root / "feedback" / WRONG / ASSIGNMENT / f"{ASSIGNMENT}.html").as_uri())
    answer = shown.locator("section", has=shown.get_by_role("note")).bounding_box()
    check = shown.locator("section#count_parameters").bounding_box()
    assert answer and check
    height = check["y"] + check["height"] - answer["y"]
    clip = {"x": answer["x"], "y": answer["y"], "width": answer["width"], "height": height}
    shown.screenshot(path=PICTURES / "feedback.png", full_page=True, clip=clip)
    shown.close()
