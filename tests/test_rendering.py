"""How a verdict reads: a state, at most five lines, nothing unescaped; and what `check` does in a notebook."""

from __future__ import annotations

import pytest

import checks
from checks import CheckFailed, check
from checks.protocol import Finding, Verdict
from checks.render import NotAttempted, as_html, as_text
from tests.answers.parameter_budget import MUTANTS, breakdown, count_parameters

LONG = Finding("x", "a cause", "a case", "12", "13")


@pytest.mark.parametrize(
    ("state", "score", "says"),
    [
        ("correct", 1.0, "Correct"),
        ("partial", 0.5, "50%"),
        ("incorrect", 0.0, "Not right yet"),
        ("not_attempted", 0.0, "Not attempted"),
        ("crashed", 0.0, "exception"),
    ],
)
def test_each_state_is_said_in_words_in_five_lines_at_most(state, score, says):
    findings = () if state == "correct" else (LONG,)
    verdict = Verdict("breakdown", state, score, findings, "lesson 03")
    text = as_text(verdict)
    assert says in text
    assert says in as_html(verdict)
    assert len(text.splitlines()) <= 5
    if findings:
        for part in ("got: 12 (a case)", "expected: 13", "a cause", "lesson 03"):
            assert part in text


def test_where_to_read_on_is_a_link_in_an_exercise_alone():
    verdict = Verdict("wordpiece", "incorrect", 0.0, (LONG,), "lessons/02_what_goes_in.ipynb", "Half & half")
    assert 'href="../../lessons/02_what_goes_in.ipynb#Half-%26-half"' in as_html(verdict, in_exercise=True)
    assert "<a " not in as_html(verdict)
    assert "<a " not in as_html(Verdict("q", "incorrect", 0.0, (LONG,), "a book"), in_exercise=True)


def test_html_escapes_what_came_from_an_answer():
    verdict = Verdict("breakdown", "incorrect", 0.0, (Finding("x", "c", "<b>", "<img src=x>", "<i>"),))
    for tag in ("<img", "<i>", "<b>"):
        assert tag not in as_html(verdict)


def test_check_passes_a_right_answer_and_records_it(capsys, monkeypatch):
    recorded = []
    monkeypatch.setattr("insidebert.predictions.record_exercise", lambda *what: recorded.append(what))
    assert check("count_parameters", count_parameters) is None
    assert recorded == [("parameter_budget", "count_parameters", "correct")]
    out, err = capsys.readouterr()
    assert "Correct" in out
    assert err == ""


def test_check_fails_a_wrong_answer_with_the_reason(capsys):
    with pytest.raises(CheckFailed, match="tied") as failed:
        check("count_parameters", dict(MUTANTS["count_parameters"])["counts_tied_decoder_twice"])
    assert failed.value.verdict.findings[0].id == "counts_tied_decoder_twice"
    assert failed.value._render_traceback_() == str(failed.value).splitlines()
    assert capsys.readouterr().err == ""


def test_an_untouched_answer_counts_as_zero_and_does_not_stop_the_notebook():
    result = check("count_parameters", lambda model: None)
    assert isinstance(result, NotAttempted)
    assert repr(result) == "0.0"
    assert "Not attempted" in result._repr_html_()


def test_noise_goes_to_standard_output_alone(capsys):
    def noisy(model):
        import sys
        import warnings

        print("to stderr", file=sys.stderr)
        warnings.warn("a warning", stacklevel=1)
        return count_parameters(model)

    check("count_parameters", noisy)
    out, err = capsys.readouterr()
    assert "to stderr" in out
    assert err == ""


def test_where_a_submission_is_graded_only_evidence_is_left(monkeypatch):
    shown = []
    monkeypatch.setenv(checks.SEED_VARIABLE, "99")
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    monkeypatch.setattr("checks.judges.judge", lambda *_: pytest.fail("judged beside the submission"))
    assert check("breakdown", breakdown) is None
    assert check("breakdown", lambda model: {}) is None  # wrong, and nothing says so here
    assert [list(data) for data in shown] == [[checks.EVIDENCE_MIME]] * 2


def test_an_unknown_question_is_named():
    with pytest.raises(LookupError, match="no question"):
        check("count_parametres", count_parameters)


def test_a_verdict_keeps_to_five_lines_whatever_came(capsys):
    def wordy(model):
        raise ValueError("\n".join(["a line"] * 50))

    with pytest.raises(CheckFailed) as failed:
        check("count_parameters", wordy)
    assert len(str(failed.value).splitlines()) <= 5
    with pytest.raises(CheckFailed) as failed:
        check("count_parameters", lambda model: 10**4000)
    assert len(str(failed.value)) < 1500


def test_what_was_never_called_did_not_raise():
    verdict = Verdict("breakdown", "crashed", 0.0, (Finding("timed_out", "too long"),))
    assert "Not checked" in as_text(verdict)


def test_an_answer_that_needs_another_is_told_which():
    def count(model):
        raise NotImplementedError()

    with pytest.raises(CheckFailed, match="`count` has no answer yet"):
        check("token_table_share", lambda model: 1 / count(model))
