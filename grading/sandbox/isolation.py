"""Which walls this machine can put around a submission, and what to do where it can put up none."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from insidebert.cli import CommandError


class SandboxUnavailable(CommandError):
    """No sandbox can be made here, or it broke while it was made."""


@dataclass(frozen=True)
class Isolation:
    """How a submission is kept apart.

    Attributes:
        name: "bubblewrap+landlock", "bubblewrap", "none" (only when asked for), or empty where none is possible.
        missing: what is not as it could be, why, and the cure.
        warm: kernels can be forked from a template, each in namespaces of its own.
    """

    name: str
    missing: str = ""
    warm: bool = False


NONE = Isolation("none", "submissions run with the rights of whoever grades: --isolation none was given")


@cache
def detect() -> Isolation:
    """Try it: make a sandbox the way grading does, without the imports. Takes under a second, once a process."""
    if sys.platform != "linux":
        return Isolation(
            "", "the sandbox needs Linux. Grade on a Linux machine, in a virtual one or in WSL 2"
        )
    from grading.sandbox import bubblewrap
    from grading.sandbox.limits import Limits
    from grading.sandbox.templates import KernelLost, Template

    if bubblewrap.installed() is None:
        return Isolation("", "bubblewrap is not installed. sudo apt-get install bubblewrap")
    reasons = []
    for nested in (True, False):
        try:
            template = Template(nested=nested, preload=False)
        except (SandboxUnavailable, OSError) as error:
            reasons.append(str(error))
            continue
        try:
            kernel = template.kernel(Limits(), {}, trial=True)
            kernel.why_ended(10)
            kernel.close()
        except (SandboxUnavailable, KernelLost) as error:
            reasons.append(str(error))
            continue
        finally:
            template.close()
        name = "bubblewrap+landlock" if template.about["landlock"] else "bubblewrap"
        return Isolation(name, "; ".join(_shortfalls(name, reasons)), warm=nested)
    return Isolation("", f"{reasons[-1]}. {cure(reasons[-1])}")


def _shortfalls(name: str, reasons: list[str]) -> list[str]:
    found = (
        [] if name == "bubblewrap+landlock" else ["the kernel has no Landlock (Linux 5.13 or newer has it)"]
    )
    return found + [f"kernels start cold, some seconds each: {reason}. {cure(reason)}" for reason in reasons]


def cure(reason: str) -> str:
    """What to do about bubblewrap's failure."""
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "Ubuntu's AppArmor keeps user namespaces from programs without a profile. As root write "
            "/etc/apparmor.d/bwrap: `abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap "
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
    if "unknown option" in reason.lower():
        return "Install bubblewrap 0.8 or newer"
    return "Unprivileged user namespaces must be allowed here"


def _setting(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return ""


def _in_container() -> bool:
    return Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
