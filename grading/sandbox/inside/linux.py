"""The system calls that Python has no function for, each with a name and an error."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from typing import Any

NEW_NAMESPACES = {
    "user": 0x10000000,
    "pid": 0x20000000,
    "ipc": 0x08000000,
    "net": 0x40000000,
    "uts": 0x04000000,
    "mount": 0x00020000,
}
_NO_SUID, _NO_DEVICES = 2, 4
_PARENT_DEATH_SIGNAL, _DUMPABLE, _DROP_BOUND, _NO_NEW_PRIVILEGES = 1, 4, 24, 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_SET_FLAGS, _UP = 0x8914, 0x1

_libc: Any = ctypes.CDLL(None, use_errno=True)


def call(name: str, *args: Any) -> int:
    """Call a function of libc.

    Raises:
        OSError: it returned a negative number; the message names the function.
    """
    answer = int(getattr(_libc, name)(*args))
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return answer


def unshare(*kinds: str) -> None:
    """Leave the namespaces of these kinds for new ones."""
    call("unshare", sum(NEW_NAMESPACES[kind] for kind in kinds))


def mount_small(folder: str, size: int, files: int) -> None:
    """Mount an empty file system of at most `size` bytes and `files` files, in memory, over `folder`."""
    options = f"size={size},nr_inodes={files},mode=0700".encode()
    call("mount", b"tmpfs", folder.encode(), b"tmpfs", _NO_SUID | _NO_DEVICES, options)


def mount_processes() -> None:
    """A /proc of this PID namespace."""
    call("mount", b"proc", b"/proc", b"proc", 0, None)


def mount_terminals() -> None:
    """A /dev/pts in which no terminal is open."""
    call("mount", b"devpts", b"/dev/pts", b"devpts", _NO_SUID, b"newinstance,ptmxmode=0666,mode=0600")


def raise_loopback() -> None:
    """A new network namespace has a loopback device that is down, and ipykernel listens on it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))


def die_with_parent(signal: int) -> None:
    call("prctl", _PARENT_DEATH_SIGNAL, signal, 0, 0, 0)


def own_proc_files() -> None:
    """Give this process back its own files in /proc, which a change of user takes away."""
    call("prctl", _DUMPABLE, 1, 0, 0, 0)


def no_new_privileges() -> None:
    call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability of this user namespace, and the way back to one."""
    for capability in range(64):
        try:
            call("prctl", _DROP_BOUND, capability, 0, 0, 0)
        except OSError:  # beyond the last one that this kernel knows, or not ours to drop
            break
    header = struct.pack("Ii", 0x20080522, 0)
    call("syscall", _CAPSET[os.uname().machine], header, bytes(24))
