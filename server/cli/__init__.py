"""The command `fathom`: one module per subcommand, imported only when it runs, so that help is instant.

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

COMMANDS = {
    "serve": "run the daemon: HTTP API, ACPC dealer connections and a pool of solver workers",
    "warm-up": "compile the kernels and unpack the blueprint, so that the first start is fast",
    "config": "check or print the daemon's configuration",
    "demo": "watch two simple players on a local dealer; needs no set-up",
    "dealer": "run an ACPC dealer, a drop-in replacement for the reference program",
    "acpc": "play a match on an ACPC dealer",
    "match": "play a duplicate match between two players and report the winner",
    "versus": "play on a remote ACPC dealer and report the result",
    "slumbot": "play against Slumbot, or a server that implements its API",
    "decide": "show what the agent does in a given situation, and why",
    "story": "let the agent play hands and print its reasoning",
    "pushfold": "the push/fold game: its equilibrium, and how people play it",
    "hands": "list, show and export hands played by the daemon and `fathom slumbot`",
    "keys": "create, list and revoke the daemon's API keys",
    "lbr": "measure a lower bound on a player's exploitability by local best response",
    "solve": "solve a flop, turn or river spot exactly and show the strategy",
    "train": "train a blueprint; can be interrupted and resumed at any time",
    "blueprint": "inspect, verify, measure, export and plan blueprints",
    "bench": "run the benchmarks, one JSON line per figure",
}

_EPILOG = "Run `fathom COMMAND --help` for a command's options and examples."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(
        prog="fathom",
        description="A heads-up no-limit hold'em bot that solves its decisions.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"fathom {fathom_version()}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    # Only the wanted command's module is imported: numba alone costs half a second.
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    if wanted is not None and wanted not in COMMANDS and arguments[0] == wanted:
        parser.error(_unknown_command(wanted))
    for name, summary in COMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=summary, description=summary, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == wanted:
            _module(name).configure(subparser)
    args, unknown = parser.parse_known_args(arguments)
    if unknown:
        subparsers.choices[args.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    module = _module(args.command)
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


def _unknown_command(word: str) -> str:
    near = difflib.get_close_matches(word, COMMANDS, 1)
    hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(COMMANDS)}"
    return f"unknown command {word!r}: {hint}"


def _module(command: str) -> ModuleType:
    return importlib.import_module(f"server.cli.{command.replace('-', '_')}")


def _terminate(signum: int, frame: object) -> None:  # noqa: ARG001
    """Exit as on Ctrl-C, so that files are left complete."""
    raise SystemExit(128 + signum)
