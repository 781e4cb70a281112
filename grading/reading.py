"""What is graded of a notebook, read from hostile bytes: its cells' text, their ids, and nbgrader's marks.

Everything else is passed over as bytes and never becomes a value: outputs, attachments, the state of widgets. So a
large picture costs a learner nothing, and an attack no more than the time to find where it ends. What is passed over
need only have its brackets in pairs; what is kept must be JSON.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

MAX_GRADED = 16 * 2**20  # bytes of what is kept
MAX_PARTS = 1_000_000  # values in what is kept; each costs some hundred bytes of memory
MAX_STEPS = 300_000  # cells and entries in them, which are looked at one by one
MAX_BRACKETS = 3_000_000  # in what is passed over, which takes half a second for a million

_KEPT = ("cell_type", "id", "source")
_KEPT_OF_METADATA = ("nbgrader", "tags")
# Possessive, so that a piece is gone through once and nothing of it is remembered.
_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.S)
_WORD = re.compile(rb"[-+.\w]++")
_FLAT = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.S)  # up to the next bracket
_MERGE = (b"\n<<<<<<< ", b"\n>>>>>>> ")


class Unreadable(Exception):
    """Says in a few words why the bytes are no notebook."""


def read_cells(data: bytes) -> tuple[list[Any], str]:
    """The cells of a notebook of format 4, as far as they are graded, and its encoding where it is not plain UTF-8.

    Numbers become floats, which have no length to be misused. What is no cell is None.

    Raises:
        Unreadable: it is cut off, not JSON, nested too deeply, or more than anybody would write.
    """
    text, encoding = _utf8(data)
    try:
        return _Reader(text).notebook(), encoding
    except Unreadable:
        if all(mark in text for mark in _MERGE):
            raise Unreadable("it holds the marks of a merge that was not finished") from None
        raise


def _utf8(data: bytes) -> tuple[bytes, str]:
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable("it is empty")
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :], "it begins with a byte-order mark"
    encoding = json.detect_encoding(data)
    if encoding == "utf-8":
        return data, ""
    try:
        return data.decode(encoding).encode("utf-8"), encoding.upper()
    except ValueError:
        raise Unreadable(f"it is not {encoding.upper()} text") from None


class _Reader:
    """Walks through the bytes of a JSON text, once and forwards."""

    def __init__(self, data: bytes):
        self._data = data
        self._at = 0
        self._brackets = MAX_BRACKETS
        self._bytes, self._parts, self._steps = MAX_GRADED, MAX_PARTS, MAX_STEPS

    def notebook(self) -> list[Any]:
        cells: list[Any] | None = None
        for key in self._members():
            cells = self._cells() if key == "cells" and self._next() == b"[" else self._pass(cells)
        if self._next():
            raise Unreadable("there is more after its end")
        if cells is None:
            raise Unreadable("no notebook of format 4")
        return cells

    def _cells(self) -> list[Any]:
        cells = []
        for _ in self._elements():
            cells.append(self._cell() if self._next() == b"{" else self._pass())
        return cells

    def _cell(self) -> dict[str, Any]:
        cell: dict[str, Any] = {}
        for key in self._members():
            if key in _KEPT:
                cell[key] = self._value()
            elif key == "metadata" and self._next() == b"{":
                cell[key] = {}
                for mark in self._members():
                    if mark in _KEPT_OF_METADATA:
                        cell[key][mark] = self._value()
                    else:
                        self._pass()
            else:
                self._pass()
        return cell

    # --- JSON ---------------------------------------------------------------------------------------------

    def _members(self) -> Iterator[str]:
        """The keys of the object here; the value of each is to be read before the next one is asked for."""
        for _ in self._elements(b"{", b"}"):
            key = self._key()
            self._take(b":")
            yield key

    def _elements(self, opening: bytes = b"[", closing: bytes = b"]") -> Iterator[None]:
        """A step for each element of the list here, which is to be read before the next step."""
        self._take(opening)
        if self._next() == closing:
            self._at += 1
            return
        while True:
            self._steps -= 1
            if self._steps < 0:
                raise Unreadable(f"more than {MAX_STEPS:,} cells and entries")
            yield
            if self._next() == closing:
                self._at += 1
                return
            self._take(b",")

    def _key(self) -> str:
        begin = self._at_next()
        if self._next() != b'"':
            self._fail()
        self._string()
        key = self._data[begin : self._at]
        return str(_loads(key)) if len(key) < 100 else ""  # none of those that are looked for

    def _value(self) -> Any:
        begin = self._at_next()
        self._pass()
        piece = self._data[begin : self._at]
        self._bytes -= len(piece)
        self._parts -= sum(piece.count(mark) for mark in (b",", b"[", b"{"))
        if self._bytes < 0:
            raise Unreadable(f"its cells hold more than {MAX_GRADED // 2**20} MiB beside their outputs")
        if self._parts < 0:
            raise Unreadable(f"more than {MAX_PARTS:,} values")
        return _loads(piece)

    def _pass(self, result: Any = None) -> Any:
        """Go past the value here, whatever it is; returns `result`."""
        mark = self._next()
        if mark == b'"':
            self._string()
        elif mark and mark in b"[{":
            self._bracket()
        elif word := _WORD.match(self._data, self._at):
            self._at = word.end()
        else:
            self._fail()
        return result

    def _bracket(self) -> None:
        """Go past a list or an object: brackets are counted, and nothing is called for what is nested."""
        depth = 0
        while True:
            flat = _FLAT.match(self._data, self._at)
            self._at = flat.end() if flat else self._at
            mark = self._data[self._at : self._at + 1]
            if not mark or mark == b'"':  # the end, or a string without one
                raise Unreadable("it is cut off")
            self._at += 1
            self._brackets -= 1
            if self._brackets < 0:
                raise Unreadable(f"more than {MAX_BRACKETS:,} lists and objects")
            depth += 1 if mark in b"[{" else -1
            if not depth:
                return

    def _string(self) -> None:
        found = _STRING.match(self._data, self._at)
        if not found:
            raise Unreadable("it is cut off")
        self._at = found.end()

    def _take(self, mark: bytes) -> None:
        if self._next() != mark:
            self._fail()
        self._at += 1

    def _next(self) -> bytes:
        """The first byte that is no white space, which stays where it is; nothing at the end."""
        at = self._at_next()
        return self._data[at : at + 1]

    def _at_next(self) -> int:
        space = _SPACE.match(self._data, self._at)
        self._at = space.end() if space else self._at
        return self._at

    def _fail(self) -> NoReturn:
        raise Unreadable("not JSON" if self._next() else "it is cut off")


def _loads(piece: bytes) -> Any:
    try:
        return json.loads(piece.decode("utf-8"), parse_int=float, parse_constant=float)
    except UnicodeDecodeError:
        raise Unreadable("it is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable("nested too deeply" if isinstance(error, RecursionError) else "not JSON") from None
