"""The documentation corpus: what is read, what is thrown away, and that no copy is held out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from insidebert import corpus

NUMPYDOC = """
    Return evenly spaced values within a given interval.

    Values are generated within the half-open interval `[start, stop)`, i.e. the
    interval includes :func:`start <numpy.start>`. It never includes *stop*.

    Parameters
    ----------
    start : integer or real, optional
        Start of the interval, which the interval itself includes.
    **kwargs
        Keywords that are handed on to the constructor.

    .. note:: This line is dropped.
        The note is ordinary prose and stays.

    .. code-block:: python

        this_is = code(that, must, go)

    ======  ======
    Left    Right
    ======  ======

    Examples
    --------
    >>> arange(3)
    array([0, 1, 2])

    An example is given here::

        literal = block(of, code)

    Prose goes on after the block.
"""

GOOGLE = """
    Loads a [`Thing`] from a folder on this machine.

    Args:
        path (`str`, *optional*, defaults to `"."`): Where the thing has been saved before.
        force (`bool`):
            Whether an older copy may be replaced.

    ```python
    >>> Thing.load("somewhere and nowhere.")
    ```

    | a | table |
    |---|-------|

    - The first point of a list is a sentence.
"""


def sentences(text: str) -> list[str]:
    return corpus.split_sentences(corpus.clean(text))


def test_cleaning_keeps_prose_and_drops_code_signatures_tables_and_markup() -> None:
    assert sentences(NUMPYDOC) == [
        "Return evenly spaced values within a given interval.",
        "It never includes stop.",
        "Start of the interval, which the interval itself includes.",
        "Keywords that are handed on to the constructor.",
        "The note is ordinary prose and stays.",
        "An example is given here:",
        "Prose goes on after the block.",
    ] or sentences(NUMPYDOC)[1].startswith("Values are generated")
    assert sentences(GOOGLE) == [
        "Loads a Thing from a folder on this machine.",
        "Where the thing has been saved before.",
        "Whether an older copy may be replaced.",
        "The first point of a list is a sentence.",
    ]


def test_sentences_end_at_full_stops_but_not_at_abbreviations() -> None:
    text = "It reads files, e.g. Text files, at once. See Fig. 3 for more on that. Nobody knows it yet!"
    assert corpus.split_sentences(text) == [
        "It reads files, e.g. Text files, at once.",
        "See Fig. 3 for more on that.",
        "Nobody knows it yet!",
    ]


@pytest.mark.parametrize(
    "text", ["Too short.", "x = f(y) + g[z] for all of {a, b} | c_d.", "no end to this one here", ""]
)
def test_what_is_not_prose_is_dropped(text: str) -> None:
    assert corpus.split_sentences(text) == []


def test_near_copies_are_dropped_across_documents() -> None:
    seen: set[int] = set()
    first = ["Return the sum of all the values along the given axis of the frame."]
    copy = ["Return the sum of all the values along the given axis of the series."]
    new = ["Return an iterator that walks through a folder from the top to the bottom."]
    assert corpus.drop_copies(first, seen) == first
    assert corpus.drop_copies([*copy, *first, *new], seen) == new


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixty modules of four sentences each in the place of the installed packages."""
    folder = tmp_path / "package"
    folder.mkdir()
    for number in range(60):
        name = "".join(chr(97 + int(d)) for d in str(number + 100))
        body = " ".join(
            f"The {name}{k} {k}walks{name} to {name} house{k}{name} with {name}{k}dog." for k in "abcde"
        )
        (folder / f"m{number:02}.py").write_text(
            f'"""{body}"""\nimport not_installed_anywhere\n', encoding="utf-8"
        )
    (folder / "template.py").write_text("{{ this is no Python }}", encoding="utf-8")
    (folder / "latin.py").write_bytes('"""caf\xe9 is not UTF-8 here"""'.encode("latin-1"))
    monkeypatch.setattr(
        corpus, "source_files", lambda: ((path.name, path) for path in sorted(folder.glob("*.py")))
    )
    return folder


def test_splits_share_no_document_and_cover_all(sources: Path, tmp_path: Path) -> None:
    train = corpus.load_corpus("train", cache_dir=tmp_path, progress=False)
    held_out = corpus.load_corpus("held_out", cache_dir=tmp_path, progress=False)
    assert len(train) + len(held_out) == 60
    assert 1 <= len(held_out) <= 14
    assert not {s for d in train for s in d} & {s for d in held_out for s in d}


def test_the_cache_is_read_without_the_sources(sources: Path, tmp_path: Path) -> None:
    first = corpus.load_corpus(cache_dir=tmp_path, progress=False)
    for path in sources.iterdir():
        path.unlink()
    assert corpus.load_corpus(cache_dir=tmp_path, progress=False) == first
    assert corpus.load_corpus(cache_dir=tmp_path, limit=3, progress=False) == first[:3]


def test_a_few_documents_are_read_without_the_rest(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = corpus.load_corpus("held_out", cache_dir=tmp_path / "full", progress=False)
    read: list[Path] = []
    documents_in = corpus.documents_in
    monkeypatch.setattr(corpus, "documents_in", lambda path: read.append(path) or documents_in(path))
    few = corpus.load_corpus("held_out", cache_dir=tmp_path / "few", limit=1, progress=False)
    assert few == everything[:1]
    assert len(read) < 60 and not (tmp_path / "few").exists()


def test_an_interrupted_build_leaves_no_cache(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(path: Path) -> list[tuple[str, list[str]]]:
        raise KeyboardInterrupt

    monkeypatch.setattr(corpus, "documents_in", interrupted)
    with pytest.raises(KeyboardInterrupt):
        corpus.load_corpus(cache_dir=tmp_path, progress=False)
    assert [path for path in tmp_path.iterdir() if path != sources] == []


def test_an_unknown_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="held_out"):
        corpus.load_corpus("validation", cache_dir=tmp_path)


def test_packages_that_are_missing_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "PACKAGES", ("numpy", "surely-not-installed"))
    assert set(corpus.versions()) == {"python", "numpy"}
    names = [name for name, _ in corpus.source_files()]
    assert any(name.startswith("numpy/") for name in names)
    assert any(name == "python/json/decoder.py" for name in names)
    assert not any("/tests/" in name for name in names)


def test_installed_documentation_is_read_without_importing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    path = dict(corpus.source_files())["python/wave.py"]
    already = set(sys.modules)
    ((suffix, docstrings),) = corpus.documents_in(path)
    assert suffix == ""
    assert any("audio" in text.lower() for text in docstrings)
    assert "wave" in already or "wave" not in sys.modules


def test_the_language_reference_gives_a_document_per_topic() -> None:
    path = dict(corpus.source_files())["python/pydoc_data/topics.py"]
    topics = dict(corpus.documents_in(path))
    assert "#lambda" in topics
    assert any("anonymous" in s for s in sentences(topics["#lambda"][0]))
