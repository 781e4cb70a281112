"""A short list of system calls that a submission has no use for and could do harm with: they fail with EPERM.

They make memory that no process is charged for, look into other processes, take more of the machine than was given,
or open the parts of the kernel in which most holes have been found; so do sockets of all families but the four that
programs use. See seccomp(2); the filter is a small program in the kernel's packet language.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct

from .linux import NEW_NAMESPACES, call

_PRCTL_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_FOREIGN = 0x40000000  # x86-64 kernels run a second, 32-bit set of calls from this number on

# x86_64 and aarch64; calls since Linux 5 have one number everywhere
_CALLS = {
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "syslog": (103, 116),
    "sched_setaffinity": (203, 122),  # see share.py
    "ioprio_set": (251, 30),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "memfd_secret": (447, 447),
}
_CLONE, _CLONE_3 = (56, 220), 435
_SOCKET, _SOCKET_PAIR = (41, 198), (53, 199)
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def confine() -> None:
    """Refuse the calls above from here on, in this process and all it starts. Needs no_new_privs.

    Does nothing on a machine whose numbers are not in the table.
    """
    if (machine := os.uname().machine) not in _MACHINES:
        return
    architecture, column = _MACHINES[machine]
    code = _program(architecture, column)
    program = _Program(len(code) // 8, code)
    call("prctl", _PRCTL_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0)


def _program(architecture: int, column: int) -> bytes:
    """Kill what speaks another architecture's numbers; fail what is on the list; let the rest pass.

    A step is its code, how many steps to skip if true and if false, and its operand. The number of the call stays
    loaded until a part has decided that it is about this call.
    """
    refused = _RETURN, 0, 0, _FAIL | errno.EPERM
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _FOREIGN),
        refused,
        # The C library does without clone3, whose flags no filter can see.
        (_EQUAL, 0, 1, _CLONE_3),
        (_RETURN, 0, 0, _FAIL | errno.ENOSYS),
        # A clone may not make a user namespace.
        (_EQUAL, 0, 4, _CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_ANY_BIT, 0, 1, NEW_NAMESPACES["user"]),
        refused,
        (_RETURN, 0, 0, _ALLOW),
    ]
    most = len(_FAMILIES)
    steps += [
        (_EQUAL, 1, 0, _SOCKET[column]),
        (_EQUAL, 0, most + 3, _SOCKET_PAIR[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        *((_EQUAL, most - index, 0, family) for index, family in enumerate(_FAMILIES)),
        (_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
    ]
    numbers = sorted(row[column] for row in _CALLS.values())
    steps += [(_EQUAL, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    steps += [(_RETURN, 0, 0, _ALLOW), refused]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
