"""Landlock: the process gives up, for good, every file operation but those it names.

A second wall behind the read-only mounts; see landlock(7). Only what the kernel's version knows can be given up.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from .linux import call

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same on every architecture
_ASK_VERSION, _BENEATH_PATH = 1, 1
_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_RIGHTS_OF_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many of the access bits each version knows
_DEVICE_CONTROL = 1 << 15
_SCOPES_SINCE, _SIGNALS = 6, 1 << 1


def version() -> int:
    """The version of Landlock this kernel offers; 0 for none."""
    try:
        return call("syscall", _CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    except OSError:
        return 0


def confine(writable: Iterable[str], devices: Iterable[str]) -> None:
    """Allow reading and executing everywhere, anything within `writable`, writing to `devices`; nothing else.

    Since version 6 signals reach only what this process starts. Needs no_new_privs. Does nothing where the kernel
    has no Landlock.
    """
    if not (abi := version()):
        return
    handled = (1 << _RIGHTS_OF_VERSION[min(abi, 5)]) - 1
    attributes = struct.pack("Q", handled)
    if abi >= _SCOPES_SINCE:
        attributes = struct.pack("QQQ", handled, 0, _SIGNALS)
    rules = call("syscall", _CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    _allow(rules, "/", handled & (_EXECUTE | _READ | _LIST))
    for folder in writable:
        _allow(rules, folder, handled)
    for device in devices:
        listing = _LIST if os.path.isdir(device) else 0  # noqa: PTH112
        _allow(rules, device, handled & (_READ | _WRITE | _TRUNCATE | _DEVICE_CONTROL | listing))
    call("syscall", _RESTRICT, rules, ctypes.c_uint32(0))
    os.close(rules)


def _allow(rules: int, path: str, access: int) -> None:
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    attributes = struct.pack("=Qi", access, beneath)
    call("syscall", _ADD_RULE, rules, _BENEATH_PATH, attributes, ctypes.c_uint32(0))
    os.close(beneath)
