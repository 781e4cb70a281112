"""The walls around one kernel, in the order in which they can be put up.

`own_namespaces` in the guard, then, in the kernel's process: `own_files`, `hold_to` and `give_up_privileges`.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from collections.abc import Mapping
from pathlib import Path

from . import landlock, linux, seccomp

SCRATCH = "/scratch"  # the only folder a submission may write to; /tmp is a link into it
SHARED_MEMORY = "/dev/shm"
HOME = f"{SCRATCH}/home"
TEMPORARY = f"{SCRATCH}/tmp"
HOST_PROCESSES = "/run/proc"  # see bubblewrap.py; hidden from every kernel
FILES = 10_000  # files in the scratch folder
_NOBODY = 65534
_DEVICES = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
)


def leave_root() -> None:
    """Become nobody, for good: root's processes could not be counted, and have rights in files of root's."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        linux.own_proc_files()


def own_namespaces() -> None:
    """Put this process into new user, IPC, network and host name spaces, and its next child into a new PID one."""
    user, group = os.getuid(), os.getgid()
    linux.unshare("user", "pid", "ipc", "net", "uts")
    Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="utf-8")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="utf-8")
    linux.raise_loopback()


def own_files(scratch_bytes: int) -> None:
    """As the first process of the new PID namespace: a /proc, terminals and scratch folders that nobody else sees."""
    linux.unshare("mount")
    linux.mount_processes()
    linux.mount_terminals()
    linux.mount_small(SCRATCH, scratch_bytes, FILES)
    linux.mount_small(SHARED_MEMORY, scratch_bytes, FILES)
    if os.path.isdir(HOST_PROCESSES):  # noqa: PTH112
        linux.mount_small(HOST_PROCESSES, 4096, 1)
    _forbid("/proc/sys/user/max_user_namespaces", 0)  # in a new one it would be root and could mount
    _forbid("/proc/sys/kernel/shmall", 0)


def _forbid(setting: str, value: int) -> None:
    """Older kernels have not all of these for one namespace; each is one wall of several."""
    with contextlib.suppress(OSError):
        Path(setting).write_text(str(value), encoding="utf-8")


def hold_to(limits: Mapping[str, int]) -> None:
    """The resource limits of the kernel and all it starts; memory is on top of what is there already."""
    size = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    hard = {
        resource.RLIMIT_AS: size + limits["memory_bytes"],
        resource.RLIMIT_NPROC: limits["processes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NICE: 0,  # what its guard has put back stays there
        resource.RLIMIT_RTPRIO: 0,
    }
    for kind, value in hard.items():
        _, most = resource.getrlimit(kind)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (value, value))
    # A file beyond the limit is an OSError, not the end of the kernel.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(
            "1000", encoding="utf-8"
        )  # if memory runs out, this goes first


def give_up_privileges() -> None:
    """The last step: capabilities, files outside the scratch folders, and calls nobody needs."""
    linux.drop_capabilities()
    linux.no_new_privileges()
    linux.die_with_parent(signal.SIGKILL)  # the parent is the guard
    for folder in (HOME, TEMPORARY):
        Path(folder).mkdir(exist_ok=True)
    landlock.confine([SCRATCH, SHARED_MEMORY], [path for path in _DEVICES if os.path.exists(path)])  # noqa: PTH110
    seccomp.confine()
