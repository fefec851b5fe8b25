"""`fathom acpc HOST PORT`: play one seat of a match on an ACPC dealer."""

from __future__ import annotations

import argparse
import random
import socket
import sys

from arena.players.policies import POLICIES
from game.definition import GameDefinition
from server.cli.parts.numbers import port_number, positive_number, whole_number
from server.config.game_files import load_definition
from server.matches.acpc_client import MatchSummary, connect, play

_AGENT = "agent"
_BUDGET_SECONDS = 7.0

_EXAMPLES = """examples:
  fathom acpc localhost 16177                              the agent, 7 seconds per hand on average
  fathom acpc localhost 16177 --budget 0.5 --workers 2 --blueprint training-tiny/tiny.blueprint
  fathom acpc localhost 16178 --policy random --seed 7

policies:
  agent       Fathom itself: solves every decision within the time budget.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("host", help="the dealer's host name or address")
    parser.add_argument("port", type=port_number, help="the port the dealer printed for this seat")
    parser.add_argument(
        "--policy", choices=(_AGENT, *POLICIES), default=_AGENT, help="who plays (default: agent)"
    )
    parser.add_argument("--game", default="hunl", help="a preset or an ACPC .game file (default: hunl)")
    parser.add_argument(
        "--wait",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="how long to keep trying to connect (default: %(default)s)",
    )
    agent = parser.add_argument_group("the agent")
    agent.add_argument(
        "--budget",
        type=positive_number,
        default=_BUDGET_SECONDS,
        metavar="SECONDS",
        help="time per hand, on average over the match (default: %(default)s)",
    )
    agent.add_argument(
        "--blueprint", default="", metavar="FILE", help="blueprint to play (default: the shipped one)"
    )
    agent.add_argument(
        "--workers", type=whole_number(), default=1, help="solver processes (default: %(default)s)"
    )
    others = parser.add_argument_group("the other policies")
    others.add_argument(
        "--seed", type=whole_number(0), help="random seed, to repeat a match exactly (default: random)"
    )
    parser.epilog = _EXAMPLES + "\n".join(
        f"  {name:<12}{(policy.__doc__ or '').splitlines()[0]}" for name, policy in POLICIES.items()
    )


def run(args: argparse.Namespace) -> int:
    """Play the match and print the result; returns 1 if the dealer disconnected during a hand."""
    definition = load_definition(args.game)
    with connect(args.host, args.port, args.wait, _report) as connection:
        if args.policy == _AGENT:
            summary, signal = _play_agent(args, connection, definition)
        else:
            summary, signal = _play_policy(args, connection, definition), 0
    print(_summary_text(summary))
    if signal:
        return 128 + signal
    if summary.unfinished_hand is not None:
        _report(f"the dealer disconnected during hand {summary.unfinished_hand}")
        return 1
    if not summary.hands:
        _report("the dealer closed the connection before the first hand")
        return 1
    return 0


def _play_policy(
    args: argparse.Namespace, connection: socket.socket, definition: GameDefinition
) -> MatchSummary:
    policy = POLICIES[args.policy]
    seed = random.SystemRandom().getrandbits(32) if args.seed is None else args.seed
    rng = random.Random(seed)
    _report(f"playing {args.policy} (seed {seed}) on {args.host}:{args.port}")
    return play(connection, definition, lambda match: policy(match.state, match.position, rng), _report)


def _play_agent(
    args: argparse.Namespace, connection: socket.socket, definition: GameDefinition
) -> tuple[MatchSummary, int]:
    """Play the agent; returns the summary and the signal that ended the match early (0 if none)."""
    from server.config.blueprint_choice import choose_blueprint
    from server.config.config import LogConfig, MatchConfig, WorkersConfig
    from server.matches.agent_match import play_agent_match
    from server.telemetry.logs import configure_logging

    configure_logging(LogConfig(level="warning"))
    blueprint = choose_blueprint(args.blueprint, _report)
    if blueprint.definition != definition:
        raise ValueError(f"the blueprint is not for the game {args.game!r}: give its own game with --game")
    spec = MatchConfig(args.host, args.port, budget=args.budget)
    _report(f"playing agent ({args.budget:g} s per hand) on {args.host}:{args.port}")
    result = play_agent_match(connection, spec, blueprint, WorkersConfig(count=args.workers, nice=0))
    status = result.status
    if status.error:
        _report(status.error)
    thought = status.thinking_seconds / max(status.hands, 1)
    rungs = ", ".join(f"{count} {rung}" for rung, count in result.decisions.items() if count)
    _report(f"{thought:.2f} s per hand, slowest decision {status.slowest_seconds:.2f} s; {rungs or 'none'}")
    return MatchSummary(
        status.hands, status.chips, definition.big_blind, status.malformed_lines, status.unfinished_hand
    ), result.signal


def _summary_text(summary: MatchSummary) -> str:
    text = f"{summary.hands} hands, {summary.chips:+d} chips, {summary.mbb_per_hand:+.1f} mbb/hand"
    return text + (f", {summary.malformed_lines} malformed lines" if summary.malformed_lines else "")


def _report(message: str) -> None:
    print(f"fathom acpc: {message}", file=sys.stderr, flush=True)
