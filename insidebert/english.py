"""General English prose for pre-training: two dictionaries and a book of quotations from Debian's packages.

    apt-get install wordnet-base dict-gcide fortunes

| source | what is read | licence |
|---|---|---|
| WordNet 3.0 (Fellbaum 1998) | glosses, made into sentences, and examples | its own: use, modify, distribute |
| GCIDE (Webster 1913 and later) | definitions | GPL 2 or later |
| fortunes | short prose and quotations, without verse, songs and the files of bad taste | BSD |

A document is some neighbouring entries: WordNet keeps one subject's meanings together, a dictionary the words of one
stem. What is not here: whole books and articles. The sentences are read as they stand and never shipped; what
ships is a model trained on them.
"""

from __future__ import annotations

import gzip
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from insidebert.corpus import is_held_out

PACKAGES = "wordnet-base dict-gcide fortunes"
ROOT = Path("/usr/share")
KINDS = ("noun", "verb", "adj", "adv")
ENTRIES = 8  # neighbouring entries in a document
FORTUNES = (
    "art", "cookie", "definitions", "education", "food", "fortunes", "humorists", "law", "literature",
    "medicine", "miscellaneous", "people", "pets", "platitudes", "politics", "science", "sports", "translate-me",
    "wisdom", "work",
)  # fmt: skip


def load_english(split: str = "train", *, root: str | Path = ROOT) -> list[list[str]]:
    """Documents of general English, each a list of sentences.

    split: "train", or "held_out", the tenth whose documents training never sees. `root` is where the packages keep
    their data. Raises `FileNotFoundError` where they are not installed.
    """
    if split not in ("train", "held_out"):
        raise ValueError(f'There is no split {split!r}: ask for "train" or "held_out".')
    documents = itertools.chain(_wordnet(Path(root)), _dictionary(Path(root)), _fortunes(Path(root)))
    return [text for name, text in documents if is_held_out(name) == (split == "held_out")]


def _existing(path: Path) -> Path:
    if not path.exists():
        raise FileNotFoundError(
            f"There is no {path}: install the text with `apt-get install {PACKAGES}`, or pre-train from scratch."
        )
    return path


def _grouped(name: str, entries: Iterable[list[str]]) -> Iterator[tuple[str, list[str]]]:
    """(name, sentences) of every so many entries."""
    waiting = iter(entries)
    for number in itertools.count():
        some = list(itertools.islice(waiting, ENTRIES))
        if not some:
            return
        yield f"{name} {number}", [sentence for entry in some for sentence in entry]


# --- WordNet --------------------------------------------------------------------------------------------


def _wordnet(root: Path) -> Iterator[tuple[str, list[str]]]:
    for kind in KINDS:
        text = _existing(root / "wordnet" / f"data.{kind}").read_text(encoding="latin-1")
        lines = [line for line in text.splitlines() if not line.startswith("  ") and "|" in line]
        # By lexicographer file, a subject each ("animal", "food"), and in it by number: neighbours are related.
        lines.sort(key=lambda line: (line.split(" ", 2)[1], line))
        yield from _grouped(f"wordnet {kind}", (_synset(line, kind) for line in lines))


def _synset(line: str, kind: str) -> list[str]:
    """A line of WordNet's data (see wndb(5WN)) as sentences: what the word means, and the examples."""
    head, gloss = line.split("|", 1)
    fields = head.split()
    words = [
        re.sub(r"\(.*\)", "", word).replace("_", " ") for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]
    ]
    examples = [_sentence(example) for example in re.findall(r'"([^"]{12,})"', gloss)]
    meaning = re.sub(r'"[^"]*"', "", gloss).strip(" ;\n")
    if not meaning:
        return examples
    word = words[0]
    also = f", also called {words[1]}" if len(words) > 1 and kind == "noun" else ""
    if kind == "noun" and re.match(r"(a|an|the|any|one|someone|something) ", meaning) and word[0].islower():
        article = "an" if word[0] in "aeiou" else "a"
        return [_sentence(f"{article} {word} is {meaning}{also}"), *examples]
    if kind == "noun":
        return [_sentence(f"{word} is {meaning}{also}"), *examples]
    if kind == "verb":
        return [_sentence(f"to {word} is to {meaning}"), *examples]
    return [_sentence(f"{word} means {meaning}"), *examples]


def _sentence(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(" ;,:-")
    return text if text.endswith((".", "?", "!")) else f"{text}."


# --- the dictionary ---------------------------------------------------------------------------------------


def _dictionary(root: Path) -> Iterator[tuple[str, list[str]]]:
    path = _existing(root / "dictd" / "gcide.dict.dz")
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        entries = re.split(r"\n(?=\S)", file.read())
    yield from _grouped("dictionary", filter(None, map(_definitions, entries)))


def _definitions(entry: str) -> list[str]:
    """An entry of the dictionary as sentences, without pronunciation, etymology and marks of usage."""
    text = entry
    while (shorter := re.sub(r"\[[^\[\]]*\]", " ", text)) != text:  # they stand inside each other
        text = shorter
    head, _, body = re.sub(r"\\[^\\\n]*\\", "\\\\", text).partition("\n")
    word = head.split("\\")[0].strip().lower()
    if not re.fullmatch(r"[a-z][a-z' -]*", word) or not body:
        return []
    body = re.sub(
        r"\(\w+\.(?: & \w+\.)?\)", " ", body.replace("{", "").replace("}", "")
    )  # the field: (Anat.)
    senses = re.split(r"(?:^|\n)\s*(?:\d+\.|\([a-z]\))\s+|\n\s*\n", body)
    found = [_sentence(re.sub(r"--\s*[A-Z][\w. ]*\.?$", "", _one_line(sense))) for sense in senses if sense]
    kept = [text for text in found if 20 < len(text) < 500 and re.search(r"[a-z]{3}", text)]
    return [f"{word}: {text[0].lower()}{text[1:]}" for text in kept[:1]] + kept[1:]


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


# --- quotations -------------------------------------------------------------------------------------------


def _fortunes(root: Path) -> Iterator[tuple[str, list[str]]]:
    for name in FORTUNES:
        text = _existing(root / "games" / "fortunes" / name).read_text(encoding="utf-8", errors="replace")
        sayings = (re.split(r"\n\s*--", saying, maxsplit=1)[0] for saying in text.split("\n%\n"))
        lines = [_one_line(saying) for saying in sayings]
        yield from _grouped(f"fortunes {name}", ([_sentence(line)] for line in lines if 30 < len(line) < 600))
