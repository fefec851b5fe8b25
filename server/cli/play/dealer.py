"""`fathom dealer`: run an ACPC match, with the reference dealer's arguments and behaviour."""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.dealer.dealer import DealerOptions

_COLLECT_EVERY_OBJECTS = 50_000
_EPILOG = """\
The dealer prints the two ports to connect to, waits for one player on each, deals #Hands hands and prints
the score in chips. Exit status: 0 when the match was played, 1 when anything went wrong, 2 for unknown or
missing arguments, 130 and 143 after Ctrl-C and SIGTERM.

examples:
  fathom dealer duel hunl 3000 42 Alice Bob            then: fathom acpc localhost PORT --policy random
  fathom dealer duel holdem.game 3000 42 Alice Bob -q -p 19001,19002
  fathom dealer duel hunl 3000 42 Alice Bob -T         later, to resume: the same with -T -a"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the reference dealer's arguments and flags, and a few of our own."""
    parser.add_argument(
        "match_name", metavar="matchName", help="names the match and its .log and .tlog files"
    )
    parser.add_argument(
        "game", metavar="gameDefFile", help="an ACPC .game file, or hunl, nlfh, limit, kuhn, leduc"
    )
    parser.add_argument("hands", metavar="#Hands", help="how many hands to play")
    parser.add_argument("seed", metavar="rngSeed", help="decides the cards: a number, taken modulo 2^32")
    parser.add_argument("names", metavar="pNname", nargs="+", help="the players' names, one per seat")
    parser.add_argument(
        "-f", dest="fixed_seats", action="store_true", help="fixed dealer button at the table"
    )
    parser.add_argument("-l", dest="log", action="store_false", default=True, help="write no log file")
    parser.add_argument(
        "-L", dest="log", action="store_true", default=True, help="write a log file (default)"
    )
    parser.add_argument(
        "-p", dest="ports", metavar="port1,port2", default="", help="ports (default: any free)"
    )
    parser.add_argument("-q", dest="quiet", action="store_true", help="only errors, warnings and the score")
    parser.add_argument(
        "-t", dest="transactions", action="store_false", default=False, help="no transaction file (default)"
    )
    parser.add_argument("-T", dest="transactions", action="store_true", help="write a transaction file")
    parser.add_argument("-a", dest="append", action="store_true", help="append to the files: with -T, resume")
    parser.add_argument(
        "--t_response", metavar="MS", default="600000", help="time for one response (%(default)s)"
    )
    parser.add_argument("--t_hand", metavar="MS", default="600000", help="time for one hand (%(default)s)")
    parser.add_argument(
        "--t_per_hand", metavar="MS", default="7000", help="average per hand over the match (%(default)s)"
    )
    parser.add_argument(
        "--start_timeout",
        metavar="MS",
        default="-1",
        help="wait for connections; negative: for ever (default)",
    )
    parser.add_argument(
        "--version_timeout",
        metavar="MS",
        default="600000",
        help="wait for a connected player's first line (%(default)s); negative: for ever",
    )
    parser.add_argument("--host", default="", help="address to listen on (default: all of this machine's)")
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="a progress line every second (default: without -q, if stderr is a terminal)",
    )
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Deal one match and return the reference dealer's exit status."""
    from arena.dealer.dealer import run_dealer
    from game.errors import DefinitionError

    # Hands waiting to be logged are not garbage: collecting more often only costs time.
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY_OBJECTS)
    try:
        options = _options(args)
    except (_BadArgumentError, DefinitionError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    return run_dealer(options, sys.stdout.buffer, sys.stderr.buffer)


class _BadArgumentError(ValueError):
    pass


def _options(args: argparse.Namespace) -> DealerOptions:
    from arena.dealer.clock import TimeLimits
    from arena.dealer.dealer import DealerOptions
    from arena.dealer.match import MatchTerms
    from game.definition import NUM_PLAYERS
    from server.config.game_files import load_definition

    definition = load_definition(args.game)
    if len(args.names) < NUM_PLAYERS:
        raise _BadArgumentError(f"{len(args.names)} player names, needs {NUM_PLAYERS}")
    if len(args.names) > NUM_PLAYERS:
        raise _BadArgumentError(
            f"{len(args.names)} player names ({' '.join(args.names)}), takes {NUM_PLAYERS}"
        )
    hands = _unsigned(args.hands, "invalid number of hands", 32)
    if hands == 0 or args.hands.lstrip().startswith("-"):
        raise _BadArgumentError(f"invalid number of hands {args.hands}")
    limits = TimeLimits(
        response_ms=_unsigned(args.t_response, "could not get response timeout from", 64),
        hand_ms=_unsigned(args.t_hand, "could not get player hand timeout from", 64),
        per_hand_ms=_unsigned(args.t_per_hand, "could not get average player hand timeout from", 64),
    )
    terms = MatchTerms(
        definition=definition,
        hands=hands,
        seed=_unsigned(args.seed, "invalid random number seed", 32),
        names=(args.names[0], args.names[1]),
        fixed_seats=args.fixed_seats,
        limits=limits,
    )
    progress = args.progress
    if progress is None:
        progress = not args.quiet and sys.stderr.isatty()
    return DealerOptions(
        match_name=args.match_name,
        game_name=args.game,
        terms=terms,
        host=args.host,
        ports=_ports(args.ports),
        log=args.log,
        transactions=args.transactions,
        append=args.append,
        quiet=args.quiet,
        progress=progress,
        start_timeout_ms=_timeout(args.start_timeout, "could not get start timeout"),
        version_timeout_ms=_timeout(args.version_timeout, "could not get version timeout"),
    )


def _unsigned(text: str, complaint: str, bits: int) -> int:
    from protocol.acpc_scan import scan_unsigned

    scanned = scan_unsigned(os.fsencode(text), 0, bits)
    if scanned is None:
        raise _BadArgumentError(f"{complaint} {text}")
    return scanned[0]


def _timeout(text: str, complaint: str) -> int | None:
    match = re.match(r"\s*([+-]?[0-9]+)", text)
    if match is None:
        raise _BadArgumentError(f"{complaint} {text}")
    milliseconds = int(match[1])
    return None if milliseconds < 0 else milliseconds


def _ports(text: str) -> tuple[int, int]:
    ports = [0, 0]
    for seat, part in enumerate(text.split(",") if text else []):
        if not part.strip().isdecimal() or int(part) > 65535:
            raise _BadArgumentError(f"bad port string {text}")
        if seat < len(ports):
            ports[seat] = int(part)
    return ports[0], ports[1]
