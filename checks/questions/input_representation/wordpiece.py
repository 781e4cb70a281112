"""Words made of chunks without a letter in common, so that no piece matches by accident."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case

SIGNATURE = 'wordpiece(word, vocab, unk="[UNK]", max_chars=100) -> list[str]'
SECTION = "WordPiece, one word at a time"

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ENGLISH = ["un", "una", "##aff", "##able", "play", "##ing", "##ed", "##s", "em", "##bed", "##ding"]


def inputs(rng: Random) -> list[Case]:
    letters = rng.sample(LETTERS, 12)
    a, b, c, d, e, x = ("".join(letters[i : i + 2]) for i in range(0, 12, 2))
    accents = "".join(rng.sample("äéöüçñø", 3))
    unk = f"<{rng.choice(['unk', 'unknown', 'oov'])}>"
    whole = _word(a, [a, b])  # the entry with the id 0
    cases = [
        whole,
        _word(a + b, [a, f"##{b}"]),
        _word(a + x, [a, b, f"##{b}"]),
        _word(a + x + b, [a, b, f"##{b}"]),
        _word(x + b, [a, b, f"##{b}"]),
        _word(a + b, [a, b, c]),
        _word(a + b, [c, f"##{a}", f"##{b}"]),
        _word(a + b + a, [c, a, f"##{b}", b]),
        _word(a + b[0], [f"##{b[0]}", a]),
        _word(a[0] + b, [b, a[0], f"##{b}"]),
        _word(a + b + c + d, [a, a + b + c, f"##{b}", f"##{c}", f"##{d}", f"##{c}{d}"]),
        _word(a + b + b + b, [a, b, f"##{b}"]),
        _word(a.capitalize() + b, [a, f"##{b}"]),
        _word(a.capitalize() + b, [f"{a}{b}", a.capitalize(), f"##{b}"]),
        _word(a + b + c + d + e, [a, a + b, a + b + c, f"##{c}{d}{e}", f"##{d}", f"##{e}"]),
        _word(a + b + c + d, [a + b, a + b + c, f"##{c}{d}"]),
        _word(a + x, [a, f"##{b}"], unk=unk),
        _word(a + b + b, [a, f"##{b}"], unk=unk, max_chars=5),
        _word(a + b + b, [a, f"##{b}"], max_chars=6),
        _word(a + b + b, [a, f"##{b}"], max_chars=5),
        _word(a + b, [f"##{b}", a, a + b], max_chars=3),
        _word(accents + a, [f"##{a}", accents], max_chars=5),
        _word("unaffable", ENGLISH),
        _word("embeddings", ENGLISH),
        _word(a * 50, [a, f"##{a}"]),
        _word(a * 50 + a[0], [a, f"##{a}", f"##{a[0]}"]),
    ]
    return [*cases, whole.again()]


def _word(word: str, pieces: list[str], **options: Any) -> Case:
    shown = word if len(word) <= 20 else f"{word[:8]}… ({len(word)} characters)"
    notes = "".join(f", {name}={value!r}" for name, value in options.items())
    vocab = {piece: index for index, piece in enumerate(pieces)}
    label = f"{shown!r} with the pieces {' '.join(pieces)}{notes}"
    return Case(label, {"word": word, "vocab": vocab, **options})


def probe(answer: Callable[..., Any], case: Case) -> Any:
    """With options by position: a learner may have named them otherwise."""
    unk, limit = case.data.get("unk", "[UNK]"), case.data.get("max_chars")
    options = [unk] if limit is None else [unk, limit]
    return call(answer, case["word"], dict(case["vocab"]), *(options if len(case.data) > 2 else []))
