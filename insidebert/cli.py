"""The command `insidebert`: lab, doctor, pretrain, and what installed packages add to them.

A package adds a command through the entry-point group `insidebert.commands`: a function
`command(subparsers)` that makes its own sub-parser and calls `set_defaults(run=…)` on it, where
`run(args)` returns the exit status. A learner's bundle has no `grading/`, so it simply has fewer commands.

Exit status: 0 done, 1 something is wrong with what was looked at, 2 the command cannot do what was asked.
"""

from __future__ import annotations

import argparse
import errno
import importlib.util
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from insidebert import __version__, doctor, lab
from insidebert.errors import CommandError

PLUGINS = "insidebert.commands"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status.

    Args:
        argv: the words after `insidebert`; the process's own when None.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    _speak_utf8()
    try:
        if argv[:1] == ["pretrain"]:  # has a parser of its own, `--help` included
            return _pretrain(argv[1:])
        parser = _parser(argv)
        args = parser.parse_args(argv)
        if "run" not in args:
            parser.print_help()
            return 0
        return int(args.run(args))
    except CommandError as error:
        print(f"insidebert: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # a path that cannot be written
        print(f"insidebert: {_told(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _told(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" ({error.filename})" if error.filename else ""
        return f"the disk is full{where}. Make room and run the same command again."
    return f"{error.filename or 'the system'}: {error.strerror or error}"


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Every command's arguments; of the plug-ins only that one is imported whose command the words are."""
    parser = argparse.ArgumentParser(
        prog="insidebert",
        description="A hands-on course on how BERT is pre-trained, what it is made of, how it is fine-tuned.",
    )
    parser.add_argument("--version", action="version", version=f"insidebert {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    lab.command(commands)
    doctor.command(commands)
    commands.add_parser("pretrain", help="pre-train the course's small BERT", add_help=False)
    if argv[:1] not in (["lab"], ["doctor"]):
        plugins = sorted(entry_points(group=PLUGINS), key=lambda plugin: plugin.name)
        wanted = [plugin for plugin in plugins if argv[:1] == [plugin.name]]
        for plugin in wanted or plugins:
            _add(plugin, commands, wanted=bool(wanted))
    return parser


def _add(plugin: EntryPoint, commands: argparse._SubParsersAction, *, wanted: bool) -> None:
    """Lets one plug-in add its command; a broken one costs that command, not the others."""
    package = plugin.module.partition(".")[0]
    if importlib.util.find_spec(package) is None:  # a learner's bundle is told of grading/ and has none
        if wanted:
            raise CommandError(f"the command {plugin.name!r} comes with {package}/, which is not here.")
        return
    try:
        plugin.load()(commands)
    except Exception as error:  # whatever a plug-in raises, the person did not write it
        what = f"{type(error).__name__}: {error}"
        sentence = f"the command {plugin.name!r} ({plugin.value}) cannot be loaded: {what}"
        if wanted:
            raise CommandError(sentence) from error
        print(f"insidebert: {sentence}", file=sys.stderr)


def _pretrain(argv: list[str]) -> int:
    from insidebert.pretrain import main as pretrain  # imports torch

    return pretrain(argv)


def _speak_utf8() -> None:
    """Lets a terminal with a narrow encoding show `?` for what it lacks, instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
