"""The offline pre-training corpus: the prose of the Python documentation installed on this machine.

Python ships its language reference (`pydoc_data.topics`), and every module of the standard library and of the
large scientific packages carries docstrings. Together they are about 29 MB of English about one subject. We
read the sources with `ast` and import nothing, keep sentences and throw away code, signatures and tables.

A document is what one module says, in the order in which it says it; one entry of the language reference is a
document too. Documentation repeats itself endlessly, so a sentence is kept only when most of its five-word
sequences were never seen before. That rule looks at the whole corpus at once: no near-copy of a training
sentence is left among the held-out documents.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import inspect
import itertools
import json
import os
import platform
import re
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

import platformdirs
from tqdm.auto import tqdm

PACKAGES = ("torch", "transformers", "numpy", "pandas", "scikit-learn", "scipy")
IMPORT_NAMES = {"scikit-learn": "sklearn"}
FORMAT = 1  # raise it when the cleaning changes, so that old caches are not read

SKIPPED_FOLDERS = {
    "test",
    "tests",
    "testing",
    "site-packages",
    "idlelib",
    "lib2to3",
    "__pycache__",
    "_vendor",
}
ADD_DOC_CALLS = {"add_docstr", "add_newdoc", "add_doc", "add_start_docstrings"}  # docs of compiled functions
SHINGLE = 5  # words
COPIED = 0.5  # a sentence with a larger share of known shingles is a copy
FEWEST_SENTENCES = 4  # a shorter document has no neighbours to speak of


def load_corpus(
    split: str = "train",
    *,
    limit: int | None = None,
    cache_dir: str | Path | None = None,
    progress: bool = True,
) -> list[list[str]]:
    """Documents of the corpus, each a list of sentences.

    split: "train", or "held_out", the tenth whose documents training never sees. `limit` keeps the first so
    many documents. The first call reads the installed packages (about a minute) and caches the result
    under `cache_dir`, by default the user's cache folder; packages that are not installed are left out. With
    a `limit` and no cache it reads only as far as it must, and caches nothing.
    """
    if split not in ("train", "held_out"):
        raise ValueError(f'There is no split {split!r}: ask for "train" or "held_out".')
    folder = Path(cache_dir) if cache_dir else Path(platformdirs.user_cache_dir("insidebert"))
    path = folder / f"corpus-{fingerprint()}.jsonl"
    if limit is None and not path.exists():
        write_cache(path, build_corpus(progress=progress))
    documents = read_cache(path) if path.exists() else build_corpus(progress=progress)
    wanted = (sentences for name, sentences in documents if is_held_out(name) == (split == "held_out"))
    return list(itertools.islice(wanted, limit))


def versions() -> dict[str, str]:
    """Which documentation is installed: the version of Python and of every package the corpus reads."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def fingerprint() -> str:
    """Names the cache: other versions or another cleaning make another corpus."""
    return hashlib.sha256(json.dumps([FORMAT, versions()]).encode()).hexdigest()[:12]


def is_held_out(name: str) -> bool:
    """One document in ten, by the hash of its name: adding a package moves no document to the other side."""
    return hashlib.sha256(name.encode()).digest()[0] < 26


def build_corpus(progress: bool = True) -> Iterator[tuple[str, list[str]]]:
    """(name, sentences) of every document, cleaned, without near-copies."""
    files = list(source_files())
    seen: set[int] = set()
    for name, path in tqdm(files, desc="reading documentation", unit="file", disable=not progress):
        for part, docstrings in documents_in(path):
            sentences = [s for text in docstrings for s in split_sentences(clean(text))]
            kept = drop_copies(sentences, seen)
            if len(kept) >= FEWEST_SENTENCES:
                yield name + part, kept


def write_cache(path: Path, documents: Iterable[tuple[str, list[str]]]) -> None:
    """All or nothing: an interrupted build leaves no half corpus behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8") as out:
            for name, sentences in documents:
                out.write(json.dumps({"name": name, "sentences": sentences}, ensure_ascii=False) + "\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read_cache(path: Path) -> Iterator[tuple[str, list[str]]]:
    """What `write_cache` wrote, document by document."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["name"], row["sentences"]


# ---------------------------------------------------------------------------------------------- reading


def source_files() -> Iterator[tuple[str, Path]]:
    """(name, path) of every Python source of the standard library and the packages, in a fixed order."""
    roots = [("python", Path(sysconfig.get_path("stdlib")))]
    for package in PACKAGES:
        spec = importlib.util.find_spec(IMPORT_NAMES.get(package, package))
        if spec is not None and spec.submodule_search_locations:
            roots.append((package, Path(next(iter(spec.submodule_search_locations)))))
    for package, root in roots:
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).parts
            if not SKIPPED_FOLDERS.intersection(parts[:-1]):
                yield "/".join((package, *parts)), path


def documents_in(path: Path) -> Iterator[tuple[str, list[str]]]:
    """(suffix of the name, docstrings) of each document in a source file: one, or one per reference topic."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError, RecursionError):
        return  # a template, a file in another encoding: not documentation
    if path.parent.name == "pydoc_data":
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                for topic, entry in zip(node.keys, node.values, strict=True):
                    text = getattr(entry, "value", None)
                    if isinstance(topic, ast.Constant) and isinstance(text, str):
                        yield f"#{topic.value!s}", [text]
        return
    yield "", [text for _, text in sorted(docstrings_in(tree))]


def docstrings_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, text) of every docstring, also of those that are attached to compiled functions by a call."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 0), text
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ADD_DOC_CALLS:
                for piece in ast.walk(node):
                    if isinstance(piece, ast.Constant) and isinstance(piece.value, str):
                        yield piece.lineno, inspect.cleandoc(piece.value)


# --------------------------------------------------------------------------------------------- cleaning

UNDERLINE = re.compile(r"^\s*([=\-~^#*+_.])\1{2,}[\s=\-+|]*$")
TABLE = re.compile(r"^\s*[|+]|\|.*\||\S\s{3,}\S.*\S\s{3,}\S|^\s*={2,}\s+={2,}")
FENCE = re.compile(r"^\s*(```|~~~)")
DIRECTIVE = re.compile(r"^\s*\.\.\s*([\w-]*)")
PROSE_DIRECTIVES = {
    "note",
    "warning",
    "versionadded",
    "versionchanged",
    "tip",
    "important",
    "seealso",
    "deprecated",
}
ARGUMENT = re.compile(r"^\s*(?:[-*]\s+)?[`*\w][\w.*`, ]*?\s*(?:\(.*?\)\s*:|:|--|—)(?:\s+(.*)|$)")
TYPED = re.compile(r"^\s*[\w*.,` ]{1,60} :(\s|$)|^\s*[\w*]+$")  # x : int, optional
SIGNATURE = re.compile(r"^\s*[\w.*`, ]+\s*:\s*[^.]*$|^\s*[\w.]+\(.*\)\s*(->.*)?$|^\s*:\w+[^:]*:")
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)]|\(\w\))\s+")

MARKUP = [
    (re.compile(r":[\w:+-]+:`~?!?([^`<]*?)\s*(?:<[^`>]*>)?`"), r"\1"),  # :func:`torch.add`
    (re.compile(r"\[`~?([^`\]]*)`\](?:\([^)]*\))?"), r"\1"),  # [`BertModel`]
    (re.compile(r"\[([^\]]*)\]\((?:http|\.|/|#)[^)]*\)"), r"\1"),  # [text](address)
    (re.compile(r"`([^`<]*?)\s*<[^`>]*>`_{0,2}"), r"\1"),  # `text <address>`_
    (re.compile(r"`+([^`]*)`+_{0,2}"), r"\1"),  # ``code`` and `name`
    (re.compile(r"\*{1,2}(\S(?:[^*]*\S)?)\*{1,2}"), r"\1"),  # *emphasis*
    (re.compile(r"\s*\[(?:\w{1,12}|\d[\d, ]*)\]_"), ""),  # [1]_
    (re.compile(r"\\\s|\\$"), " "),
    (re.compile(r"\s+"), " "),
]


def clean(text: str) -> str:
    """Paragraphs of prose, one a line, from one docstring in reST, numpydoc, Google or Markdown style."""
    paragraphs: list[str] = []
    current: list[str] = []

    def close() -> None:
        if any(current):
            paragraphs.append(plain(" ".join(current)))
        if current:
            current.clear()

    skip_deeper_than: int | None = None  # inside a literal block or a directive: lines with a larger indent
    in_doctest = in_fence = False
    for line in text.expandtabs().splitlines():
        indent = len(line) - len(line.lstrip())
        blank = not line.strip()
        if FENCE.match(line):
            close()
            in_fence = not in_fence
            continue
        if in_fence:
            continue
        if skip_deeper_than is not None:
            if blank or indent > skip_deeper_than:
                continue
            skip_deeper_than = None
        if blank:
            close()
            in_doctest = False
            continue
        if line.lstrip().startswith((">>>", "...", "In [", "$ ")):
            close()
            in_doctest = True
        if in_doctest:
            continue
        if directive := DIRECTIVE.match(line):
            close()
            if directive[1] not in PROSE_DIRECTIVES:
                skip_deeper_than = indent
            continue
        if UNDERLINE.match(line):
            current.clear()  # what stood above it was a heading
            continue
        if TABLE.search(line):
            close()
            continue
        if line.rstrip().endswith("::"):
            current.append(line.strip()[:-1])
            close()
            skip_deeper_than = indent
            continue
        if (argument := ARGUMENT.match(line)) and is_argument(argument[0], argument[1] or ""):
            close()
            current.append((argument[1] or "").strip())
            continue
        if TYPED.match(line):
            close()
            continue
        if SIGNATURE.match(line) and not current:
            continue
        if BULLET.match(line):
            close()
            line = BULLET.sub("", line)
        current.append(line.strip())
    close()
    return "\n".join(paragraphs)


def is_argument(line: str, description: str) -> bool:
    """Tells `size (int): What it is.` from an ordinary line of prose that happens to hold a colon."""
    name = line[: len(line) - len(description)]
    if len(name.split("(")[0].split(":")[0].split()) > 2:
        return False
    if name.rstrip().endswith(" :"):  # numpydoc: a type comes first, unless this is `See also`
        return description.rstrip().endswith(".") and len(description.split()) > 3
    return "(" in name or len(description.split()) > 3


def plain(paragraph: str) -> str:
    """The paragraph without inline markup."""
    for pattern, replacement in MARKUP:
        paragraph = pattern.sub(replacement, paragraph)
    return paragraph.strip()


# --------------------------------------------------------------------------------------------- sentences

BOUNDARY = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z])")
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|cf|vs|al|Fig|Eq|Eqs|Sec|Ref|No|Dr|Prof|approx|resp|[A-Z])\.)$"
)
WORD = re.compile(r"[a-z]+")


def split_sentences(text: str) -> list[str]:
    """The sentences of cleaned text (one paragraph a line) that are prose."""
    sentences: list[str] = []
    for paragraph in text.splitlines():
        start = 0
        for boundary in BOUNDARY.finditer(paragraph):
            if not ABBREVIATION.search(paragraph[start : boundary.start()]):
                sentences.append(paragraph[start : boundary.start()])
                start = boundary.end()
        sentences.append(paragraph[start:])
    return [s for s in map(str.strip, sentences) if is_prose(s)]


def is_prose(sentence: str) -> bool:
    """Starts and ends like a sentence, 4 to 80 words, made of words rather than of code."""
    words = sentence.split()
    if not 4 <= len(words) <= 80 or not sentence[0].isalpha() or sentence[-1] not in ".!?:":
        return False
    letters = sum(character.isalpha() or character == " " for character in sentence)
    code = sum(character in "_=<>{}[]\\|/#$%^&*~" for character in sentence)
    return letters >= 0.85 * len(sentence) and code <= 0.04 * len(sentence) + 1


def drop_copies(sentences: Iterable[str], seen: set[int]) -> list[str]:
    """The sentences that say something new; their shingles are added to `seen`.

    A shingle is a sequence of five words; a shorter sentence is its own. Digits and punctuation do not
    make a sentence new.
    """
    kept = []
    for sentence in sentences:
        words = WORD.findall(sentence.lower())
        shingles = {hash_words(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1))}
        if len(shingles & seen) <= COPIED * len(shingles):
            kept.append(sentence)
        seen |= shingles
    return kept


def hash_words(words: list[str]) -> int:
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest(), "little")
