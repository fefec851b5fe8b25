"""`fathom acpc HOST PORT`: play one seat of a match on an ACPC dealer."""

from __future__ import annotations

import argparse
import random
import sys

from arena.policies import POLICIES
from server.acpc_client import MatchSummary, connect, play
from server.game_files import load_definition

_EXAMPLES = """examples:
  fathom acpc localhost 16177 --policy random --seed 7
  fathom acpc localhost 16178 --policy pot-odds --game holdem.nolimit.2p.reverse_blinds.game

policies:
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("host", help="where the dealer runs")
    parser.add_argument("port", type=_port, help="the port it printed for this seat")
    parser.add_argument(
        "--policy", choices=POLICIES, default="pot-odds", help="how to play (default: pot-odds)"
    )
    parser.add_argument("--game", default="hunl", help="a preset or an ACPC .game file (default: hunl)")
    parser.add_argument("--seed", type=int, help="repeat a match exactly (default: drawn at random)")
    parser.add_argument(
        "--wait",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="how long to wait for the dealer to listen (default: %(default)s)",
    )
    parser.epilog = _EXAMPLES + "\n".join(
        f"  {name:<12}{(policy.__doc__ or '').splitlines()[0]}" for name, policy in POLICIES.items()
    )


def run(args: argparse.Namespace) -> int:
    """Play the match and print what it came to; 1 if the dealer left before the end of a hand."""
    definition = load_definition(args.game)
    policy = POLICIES[args.policy]
    seed = random.SystemRandom().getrandbits(32) if args.seed is None else args.seed
    rng = random.Random(seed)
    with connect(args.host, args.port, args.wait, _report) as connection:
        _report(f"playing {args.policy} (seed {seed}) on {args.host}:{args.port}")
        summary = play(
            connection, definition, lambda match: policy(match.state, match.position, rng), _report
        )
    print(_summary_text(summary))
    if summary.unfinished_hand is not None:
        _report(f"the dealer went away in the middle of hand {summary.unfinished_hand}")
        return 1
    if not summary.hands:
        _report("the dealer closed the connection before the first hand")
        return 1
    return 0


def _summary_text(summary: MatchSummary) -> str:
    text = f"{summary.hands} hands, {summary.chips:+d} chips, {summary.mbb_per_hand:+.1f} mbb/hand"
    return text + (f", {summary.malformed_lines} bad lines" if summary.malformed_lines else "")


def _report(message: str) -> None:
    print(f"fathom acpc: {message}", file=sys.stderr, flush=True)


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 65536:
        raise argparse.ArgumentTypeError(f"{text} is not a port: give a number from 1 to 65535")
    return port
