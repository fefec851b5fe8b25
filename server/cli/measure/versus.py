"""`fathom versus PLAYER HOST PORT`: play on a remote ACPC dealer, with reports like those of `match`."""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from server.cli.measure.match import (
    add_outputs,
    all_in_adjustment,
    check_outputs,
    print_result,
    write_outputs,
)
from server.cli.parts.numbers import port_number, whole_number
from server.cli.parts.outputs import check_output

_EPILOG = """\
Plays until the dealer ends the match. Cards that the opponent does not show are unknown in reports and files.
With --save NAME every finished hand is appended to NAME.hands; if the dealer resumes an interrupted match,
the report covers both parts. Another match under the same name is appended too, but reported on its own.
`fathom match --help` lists the players.

examples:
  fathom versus blueprint localhost 16177
  fathom versus blueprint dealer.example.org 16177 --save series --html series.html"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("player", metavar="PLAYER", help="our player, as in `fathom match`")
    parser.add_argument("host", metavar="HOST", help="the dealer's host name or address")
    parser.add_argument(
        "port", metavar="PORT", type=port_number, help="the port the dealer printed for this seat"
    )
    parser.add_argument("--game", default="hunl", help="a preset or an ACPC .game file (default: hunl)")
    parser.add_argument("--seed", type=whole_number(0), help="random seed of our player (default: random)")
    parser.add_argument(
        "--opponent", default="opponent", metavar="NAME", help="the opponent's name in the report"
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="how long to keep trying to connect (default: 10)",
    )
    parser.add_argument("--save", type=Path, metavar="NAME", help="append the hands to NAME.hands")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    add_outputs(parser)
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Play the match; returns 1 if the dealer disconnected during a hand or before the first one ended."""
    from arena.players.registry import make_player, player_labels
    from server.config.game_files import load_definition
    from server.matches.acpc_client import connect, play
    from server.matches.versus import HandLog, SeatPlayer, versus_result

    check_outputs(args)
    journal = args.save.with_name(args.save.name + ".hands") if args.save else None
    check_output("--save", journal)
    definition = load_definition(args.game)
    player = make_player(args.player)
    seed = random.SystemRandom().getrandbits(32) if args.seed is None else args.seed
    hands = HandLog(definition, journal)

    def report(message: str) -> None:
        if not args.quiet:
            print(f"fathom versus: {message}", file=sys.stderr, flush=True)

    try:
        with connect(args.host, args.port, args.wait, report) as connection:
            summary = play(connection, definition, SeatPlayer(player, seed), report, hands.add)
    finally:
        hands.close()
    status = 0
    if summary.unfinished_hand is not None:
        report(f"the dealer disconnected during hand {summary.unfinished_hand}")
        status = 1
    states = hands.states()
    if not states:
        report("the dealer closed the connection before the end of the first hand")
        return 1
    names = player_labels((args.player, args.opponent))
    result = versus_result(definition, names, states)
    adjustments = all_in_adjustment(result)
    if not args.quiet:
        print_result(args, result, seed, adjustments)
    write_outputs(args, result, seed, adjustments)
    return status
