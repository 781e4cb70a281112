"""Attacks on the machine: crashes, loops, memory, processes, floods, files that are not theirs, the network."""

from __future__ import annotations

from tests.hostile import RIGHT, SECRET, answering

NOT_RIGHT = "crashed incorrect not_attempted partial"
COUNT = "    return sum(p.numel() for p in model.parameters())\n"


def inside(lines: str) -> str:
    """An answer that does this, and then answers right."""
    body = "".join(f"    {line}\n" for line in lines.strip().splitlines())
    return f"def count_parameters(model):\n{body}{COUNT}"


exits = answering(inside("import os\nos._exit(0)"), flags={"touches_machine"}, states="crashed")
quits = answering("quit()\n" + RIGHT["count_parameters"], states="correct")
quits_inside = answering(inside("quit()"), states="correct")
segmentation_fault = answering(
    inside("import ctypes\nctypes.string_at(0)"), flags={"touches_interpreter"}, states="crashed"
)
system_exit = answering(inside("raise SystemExit(0)"), states="crashed")
kills_its_kernel = answering(
    inside("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
    flags={"touches_machine"},
    states="crashed correct",  # the first process of a namespace is deaf to its own signals
)
kills_everybody = answering(
    inside("import os, signal\nfor number in (-1, 1, os.getppid()):\n    os.kill(number, signal.SIGKILL)"),
    flags={"touches_machine"},
    states="crashed correct",
)
signals_to_groups = answering(
    "import ctypes, fcntl, os, termios, time\nlibc = ctypes.CDLL(None)\n"
    "def tell(number):\n"
    "    os.kill(0, number)\n"
    "    for pid in (-1, -os.getpgrp(), -os.getsid(0), *range(-400, -1)):\n        try:\n"
    "            os.kill(pid, number)\n        except OSError:\n            pass\n"
    "def slow(which, who):\n    libc.setpriority(which, who, 19)\n    libc.syscall(251, which + 1, who, 3 << 13)\n"
    "def type_into(path):\n    try:\n        terminal = os.open(path, os.O_RDWR)\n"
    "        for letter in b'exit\\n':\n            fcntl.ioctl(terminal, termios.TIOCSTI, bytes([letter]))\n"
    "        print('SEEN', [path])\n    except OSError:\n        pass\n"
    "end = time.monotonic() + 4\n"
    "while time.monotonic() < end:\n    for number in range(1, 65):\n        try:\n            tell(number)\n"
    "        except (OSError, KeyboardInterrupt):\n            pass\n"
    "    for path in ('/dev/tty', '/dev/console', *(f'/dev/pts/{n}' for n in range(9))):\n        type_into(path)\n"
    "    for who in (0, *range(2, 400)):\n        slow(os.PRIO_PGRP, who)\n    slow(os.PRIO_USER, os.getuid())\n"
    + RIGHT["count_parameters"],
    flags={"touches_machine"},
    states="correct crashed",
)
processes_with_odd_names = answering(
    inside(
        "import ctypes, os, time\nlibc = ctypes.CDLL(None)\nfor _ in range(4):\n    if os.fork() == 0:\n"
        "        libc.prctl(15, b'\\xff) R 1', 0, 0, 0)\n        libc.prctl(1, 0, 0, 0, 0)\n"
        "        mine = bytearray(b'x') * (700 * 2**20)\n        time.sleep(60)\n        os._exit(0)\ntime.sleep(30)"
    ),
    flags={"touches_machine"},
    states="crashed",
)
sixty_busy_processes = answering(
    "import os\nfor _ in range(60):\n    if os.fork() == 0:\n        os.setsid()\n        while True:\n"
    "            pass\n" + RIGHT["count_parameters"],
    flags={"touches_machine"},
    states="correct crashed",
)
an_endless_loop = answering(
    inside("import time\nwhile True:\n    time.sleep(0.05)"), states="crashed", findings={"timed_out"}
)
a_loop_that_swallows_interrupts = answering(
    inside(
        "import time\nwhile True:\n    try:\n        time.sleep(0.05)\n    except BaseException:\n        pass"
    ),
    states="crashed",
    findings={"timed_out"},
)
a_loop_deaf_to_signals = answering(
    inside(
        "import signal, time\nfor number in (signal.SIGINT, signal.SIGTERM):\n"
        "    signal.signal(number, signal.SIG_IGN)\nwhile True:\n    time.sleep(0.05)"
    ),
    flags={"touches_machine"},
    states="crashed",
    findings={"timed_out"},
)
a_long_sleep = answering(inside("import time\ntime.sleep(3600)"), states="crashed", findings={"timed_out"})
lists_without_end = answering(
    inside("kept = []\nwhile True:\n    kept.append([0] * 50_000_000)"), states="crashed"
)
a_huge_tensor = answering(inside("import torch\ntorch.ones(60 * 2**30)"), states="crashed")
a_fork_bomb = answering(
    inside(
        "import os, time\nfor _ in range(500):\n    if os.fork() == 0:\n        time.sleep(60)\n        os._exit(0)"
    ),
    flags={"touches_machine"},
    states="crashed",
)
a_daemon = answering(
    inside(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(987)\n"
        "    os._exit(0)\nos.wait()"
    ),
    flags={"touches_machine"},
    states="correct crashed",
)
endless_output = answering(
    "import time\ndef shout():\n    while True:\n        print('x' * 10_000)\nshout()\n"
    + RIGHT["count_parameters"],
    states="crashed",
    findings={"timed_out", "earlier_cell_failed"},
)
one_line_of_two_gigabytes = answering(
    "for _ in range(200):\n    print('x' * 10_000_000, end='')\n" + RIGHT["count_parameters"],
    states="correct crashed",  # a machine may not be done with it in time
)
a_message_without_an_end = answering(
    "import os, socket, stat, struct\nfor number in range(3, 100):\n    try:\n"
    "        if stat.S_ISSOCK(os.fstat(number).st_mode):\n"
    "            if str(socket.socket(fileno=os.dup(number)).getsockname()).endswith('-4'):\n"
    "                iopub = number\n"
    "    except OSError:\n        pass\n"
    "os.set_blocking(iopub, True)\n"
    "while True:\n    waiting = memoryview(bytes([3]) + struct.pack('>Q', 2**23) + bytes(2**23))\n"
    "    while len(waiting):\n        waiting = waiting[os.write(iopub, waiting):]\n",
    flags={"touches_machine"},
    states="crashed",
)
outputs_that_grow_in_the_file = answering(
    "from IPython.display import display\nx = [[] for _ in range(150_000)]\nfor _ in range(25):\n    x = [x]\n"
    "for _ in range(5):\n    display({'application/x+json': x}, raw=True)\n" + RIGHT["count_parameters"]
)
many_figures = answering(
    "from IPython.display import display\nimport base64, os\nfor _ in range(10_000):\n"
    "    display({'image/png': base64.b64encode(os.urandom(3_000)).decode()}, raw=True)\n"
    + RIGHT["count_parameters"],
)
thirty_large_pictures = answering(
    "from IPython.display import display\nimport base64, os\n"
    "picture = base64.b64encode(os.urandom(6_000_000)).decode()\n"
    "for _ in range(30):\n    display({'image/png': picture}, raw=True)\n" + RIGHT["count_parameters"]
)
one_picture_of_seventeen_megabytes = answering(
    "from IPython.display import display\nimport base64, os\n"
    "display({'image/png': base64.b64encode(os.urandom(17_000_000)).decode()}, raw=True)\n"
    + RIGHT["count_parameters"]
)
output_beside_evidence = answering(
    "from IPython.display import display\nfor _ in range(8):\n"
    "    display({'application/vnd.insidebert.evidence+json': 1, 'text/plain': 'x' * 7_000_000}, raw=True)\n"
    + RIGHT["count_parameters"]
)
a_full_disk = answering(
    "import os\ntry:\n    for number in range(1_000):\n        with open(f'/tmp/full-{number}', 'wb') as file:\n"
    "            file.write(bytes(2**20 * 16))\nexcept OSError as error:\n    print(error)\n"
    + RIGHT["count_parameters"],
    states="correct crashed",
)
waits_for_an_answer = answering(
    "name = input('Who is there?')\n" + RIGHT["count_parameters"], states="crashed"
)

_SEARCH = """
import glob, os
found = []
for folder in {folders!r}:
    for path in glob.glob(folder):
        if os.path.realpath(path).startswith(("/proc/", "/dev/", "/sys/")):  # some would make it wait
            continue
        try:
            with open(path, errors="replace") as file:
                found.append((path, [line for line in file if {secret!r} in line or "def judge" in line][:3]))
        except OSError:
            pass
found += [value for value in os.environ.values() if {secret!r} in value]
for number in glob.glob("/proc/[0-9]*/environ"):
    try:
        with open(number, errors="replace") as file:
            found.append(file.read().split({secret!r})[1:])
    except OSError:
        pass
print("SEEN", [hit for hit in found if hit and hit[-1]])
"""


def searching(*folders: str) -> str:
    # The secret's own text must not stand in the notebook, or finding it there would prove nothing.
    text = _SEARCH.replace("{folders!r}", repr(list(folders))).replace("{secret!r}", "SECRET")
    half = len(SECRET) // 2
    return f"SECRET = {SECRET[:half]!r} + {SECRET[half:]!r}\n" + text + RIGHT["count_parameters"]


reads_files_nearby = answering(
    searching(
        "*", "../*", "../../*", "../../../*.db", "solutions/*/*", "../solutions/*/*", "../../../solutions/*/*"
    ),
    flags={"touches_machine"},
)
reads_the_home_directory = answering(
    searching(*(f"{home}/*" for home in ("/root", "/home/*", "/tmp", "/tmp/*")))
)
reads_the_judges = answering(
    "import importlib.util, os\nimport checks\nroot = os.path.dirname(checks.__file__)\n"
    "print('SEEN', [name for name in os.listdir(root) if 'judges' in name and os.listdir(os.path.join(root, name))])\n"
    "print('SEEN', [name for name in os.listdir(os.path.dirname(root)) if name in ('grading', 'solutions', 'tests')])\n"
    + RIGHT["count_parameters"],
    flags={"touches_check"},
)
_WRITE = """
import os, site, sys, tempfile
import checks, insidebert, torch
for folder in (os.path.expanduser("~"), site.getsitepackages()[0], os.path.dirname(checks.__file__), sys.prefix,
               os.path.dirname(insidebert.__file__), "/tmp", "/var/tmp", "/dev/shm", "/", "/etc", "..", "../../.."):
    try:
        with open(os.path.join(folder, "insidebert-hostile-was-here"), "w") as file:
            file.write("import os")
    except OSError:
        pass
"""
leaves_files_everywhere = answering(
    _WRITE + RIGHT["count_parameters"]
)  # its name comes first, and it is graded first
reads_what_another_left = answering(
    "import glob, os\nprint('SEEN', [path for folder in ('/tmp', '/dev/shm', '/var/tmp', '~')\n"
    "               for path in glob.glob(os.path.expanduser(f'{folder}/insidebert-hostile-*'))])\n"
    + RIGHT["count_parameters"]
)
connects_out = answering(
    "import socket\nfor address in (('127.0.0.1', 22), ('1.1.1.1', 53), ('127.0.0.1', 5432)):\n"
    "    try:\n        socket.create_connection(address, timeout=1)\n        print('SEEN', address)\n"
    "    except OSError:\n        pass\n" + RIGHT["count_parameters"],
    flags={"touches_machine"},
)
connects_past_the_network = answering(
    "import socket\nfor family, address in ((socket.AF_VSOCK, (2, 1)), (socket.AF_ALG, ('hash', 'sha1'))):\n"
    "    try:\n        socket.socket(family, socket.SOCK_STREAM if family == socket.AF_VSOCK else "
    "socket.SOCK_SEQPACKET)\n        print('SEEN', address)\n    except OSError:\n        pass\n"
    + RIGHT["count_parameters"],
    flags={"touches_machine"},
)
listens = answering(
    "import socket\ntry:\n    server = socket.create_server(('127.0.0.1', 45454))\nexcept OSError:\n    pass\n"
    + RIGHT["count_parameters"],
    flags={"touches_machine"},
)
reaches_for_the_template = answering(
    "import os, socket, stat\nfor number in range(3, 256):\n    try:\n"
    "        if stat.S_ISSOCK(os.fstat(number).st_mode):\n"
    "            socket.socket(fileno=os.dup(number)).send(b'{\"fork\": true}')\n"
    "    except OSError:\n        pass\n" + RIGHT["count_parameters"],
    flags={"touches_machine"},
    states="correct crashed",
)
