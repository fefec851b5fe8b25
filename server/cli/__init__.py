"""The command `fathom`: one module per subcommand, in folders by use, imported only when it runs.

A subcommand module has two functions: `configure(parser)` declares its arguments, `run(args)` does the work
and returns the exit status. Errors about the user's input are printed as one line, without a traceback.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import ModuleType

from arena.errors import MatchAborted
from solver.version import fathom_version

GROUPS = {
    "daemon": {
        "serve": "run the daemon: HTTP API, ACPC dealer connections and a pool of solver workers",
        "warm-up": "compile the kernels and unpack the blueprint, so that the first start is fast",
        "config": "check or print the daemon's configuration",
        "keys": "create, list and revoke the daemon's API keys",
        "hands": "list, show and export hands played by the daemon and `fathom slumbot`",
    },
    "play": {
        "demo": "watch two simple players on a local dealer; needs no set-up",
        "acpc": "play a match on an ACPC dealer",
        "dealer": "run an ACPC dealer, a drop-in replacement for the reference program",
        "slumbot": "play against Slumbot, or a server that implements its API",
    },
    "study": {
        "solve": "solve a flop, turn or river spot exactly and show the strategy",
        "decide": "show what the agent does in a given situation, and why",
        "story": "let the agent play hands and print its reasoning",
        "pushfold": "the push/fold game: its equilibrium, and how people play it",
    },
    "measure": {
        "match": "play a duplicate match between two players and report the winner",
        "versus": "play on a remote ACPC dealer and report the result",
        "lbr": "measure a lower bound on a player's exploitability by local best response",
        "bench": "run the benchmarks, one JSON line per figure",
        "lab": "reproduce tables and figures of the papers, on the algorithms that play",
    },
    "blueprints": {
        "train": "train a blueprint; can be interrupted and resumed at any time",
        "blueprint": "inspect, verify, measure, export and plan blueprints",
    },
}
"""What each command does, by folder; help lists them in this order."""

_FOLDERS = {command: folder for folder, commands in GROUPS.items() for command in commands}
_EPILOG = "Run `fathom COMMAND --help` for a command's options and examples."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(
        prog="fathom",
        description="A heads-up no-limit hold'em bot that solves its decisions.",
        epilog=_commands_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"fathom {fathom_version()}")
    subparsers = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, help="one of the commands below"
    )
    # Only the wanted command's module is imported: numba alone costs half a second.
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    if wanted is not None and wanted not in _FOLDERS and arguments[0] == wanted:
        parser.error(_unknown_command(wanted))
    for name, folder in _FOLDERS.items():
        subparser = subparsers.add_parser(
            name, description=GROUPS[folder][name], formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == wanted:
            command_module(name).configure(subparser)
    args, unknown = parser.parse_known_args(arguments)
    if unknown:
        subparsers.choices[args.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    module = command_module(args.command)
    try:
        return int(module.run(args))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader went away (`fathom … | head`): not an error, but do not flush into a closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except MemoryError as error:
        print(f"fathom {args.command}: out of memory ({error}): try a smaller problem", file=sys.stderr)
        return 1
    except (ValueError, OSError, MatchAborted) as error:
        # Bad input raises ValueError with a readable message; a missing file raises OSError.
        print(f"fathom {args.command}: {_words(error)}", file=sys.stderr)
        return 2 if isinstance(error, (ValueError, OSError)) else 1


def _words(error: Exception) -> str:
    """The error's message; an OSError is reworded as file name and reason, without its errno."""
    if not isinstance(error, OSError) or error.filename is None or error.strerror is None:
        return str(error)
    words = {FileNotFoundError: "no such file", IsADirectoryError: "is a folder"}
    return f"{os.fsdecode(error.filename)}: {words.get(type(error), error.strerror.lower())}"


def _commands_help() -> str:
    """The list of commands by group, shown below the usage."""
    lines = []
    for folder, commands in GROUPS.items():
        lines += [f"{folder}:", *(f"  {name:<11}{summary}" for name, summary in commands.items()), ""]
    return "\n".join([*lines, _EPILOG])


def _unknown_command(word: str) -> str:
    near = difflib.get_close_matches(word, _FOLDERS, 1)
    hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(_FOLDERS)}"
    return f"unknown command {word!r}: {hint}"


def command_module(command: str) -> ModuleType:
    """The module of a command."""
    return importlib.import_module(f"server.cli.{_FOLDERS[command]}.{command.replace('-', '_')}")


def _terminate(signum: int, frame: object) -> None:  # noqa: ARG001
    """Exit as on Ctrl-C, so that files are left complete."""
    raise SystemExit(128 + signum)
