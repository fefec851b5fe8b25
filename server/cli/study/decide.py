"""`fathom decide 'MATCHSTATE:…'`: show what the agent does in a given situation, and why."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from server.cli.parts.numbers import positive_number, whole_number
from server.config.machine import usable_cores

if TYPE_CHECKING:
    from rich.console import Console

    from game.actions import Action
    from game.definition import GameDefinition
    from protocol.acpc import MatchState
    from solver.decisions.decision import Decision

_EPILOG = """\
The state is the line an ACPC dealer sends: position, hand number, betting, cards.

examples:
  fathom decide 'MATCHSTATE:1:0::|AsKd'                           on the button, first to act
  fathom decide 'MATCHSTATE:0:0:r300c/:QhJh|/Th9c2s' --budget 5   big blind, first to act on the flop
  fathom decide 'MATCHSTATE:0:0:r300c/cr450:QhJh|/Th9c2s' --json  one line; "action" is what to send"""

_STREETS = ("pre-flop", "flop", "turn", "river")
_SEATS = ("in the big blind", "on the button")
_MORE = 4
"""How many times the effort is suggested if a solve has not converged."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    from solver.decisions.settings import DEFAULT_BUDGET

    parser.add_argument("state", help="MATCHSTATE line with our hole cards; it must be our turn")
    parser.add_argument(
        "--blueprint", type=Path, metavar="FILE", help="blueprint to play (default: the shipped one)"
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--budget",
        type=positive_number,
        metavar="SECONDS",
        help=f"time budget of the whole hand (default: {DEFAULT_BUDGET:g})",
    )
    effort.add_argument(
        "--iterations",
        type=whole_number(),
        help="iterations of a flop solve (turns get half, rivers four times as many) instead of a budget;"
        " reproducible",
    )
    parser.add_argument(
        "--threads",
        type=whole_number(),
        help=f"threads of a solve (default: all cores, here {usable_cores()}; with --iterations 1, which is"
        " reproducible)",
    )
    parser.add_argument("--seed", type=whole_number(0), default=1, help="random seed (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Decide and explain."""
    from random import Random

    from arena.players.agent_player import AgentPlayer
    from game.definition import HUNL
    from game.hands import hand_index
    from solver.agent.agent import Agent
    from solver.blueprint.default import default_blueprint_path
    from solver.blueprint.file import open_blueprint
    from solver.decisions.settings import make_settings

    match = _read_state(args.state, HUNL)
    state, position = match.state, match.position
    if state.betting.actor != position:
        raise ValueError(f"it is not our turn: position {position} does not act after {state.betting.text!r}")
    if args.blueprint is not None and not args.blueprint.is_file():
        raise ValueError(f"--blueprint {args.blueprint}: no such file")
    args.threads = args.threads or (1 if args.iterations else usable_cores())
    blueprint = open_blueprint(args.blueprint or default_blueprint_path())
    agent = Agent(blueprint, make_settings(args.budget or 0.0, args.iterations or 0, threads=args.threads))
    hand = AgentPlayer("agent", agent).start_hand(args.seed)
    decision = hand.decision(state.betting, state.visible_board)
    own = hand_index(*state.hole[position])
    action = decision.strategy.draw(own, Random(args.seed))
    if args.json:
        print(json.dumps(_record(decision, own, str(action))))
    else:
        from rich.console import Console

        _show(Console(highlight=False), position, decision, own, action, _more_effort(args))
    return 0


def _read_state(text: str, definition: GameDefinition) -> MatchState:
    from protocol.acpc import parse_match_state
    from protocol.errors import RemoteProtocolError

    try:
        return parse_match_state(text, definition)
    except RemoteProtocolError:
        fields = text.split(":")
        position = fields[1] if len(fields) > 1 else ""
        before, _, after = fields[-1].split("/")[0].partition("|")
        if position == "1" and before and not after:
            raise ValueError("position 1: write your hole cards after the |, e.g. |AsKd") from None
        if position == "0" and after and not before:
            raise ValueError("position 0: write your hole cards before the |, e.g. AsKd|") from None
        raise


def _record(decision: Decision, own: int, action: str) -> dict[str, object]:
    from solver.decisions.explanation import explain

    return {"action": action, **explain(decision, own)}


def _more_effort(args: argparse.Namespace) -> str:
    """Options that give a solve more time or iterations."""
    from solver.decisions.settings import DEFAULT_BUDGET

    if args.iterations:
        return f"--iterations {_MORE * args.iterations}"
    more = f"--budget {_MORE * (args.budget or DEFAULT_BUDGET):g}"
    return more if args.threads >= usable_cores() else f"{more} or --threads {usable_cores()}"


def _show(
    console: Console, position: int, decision: Decision, own: int, action: Action, more_effort: str
) -> None:
    import numpy as np
    from rich.table import Table

    from arena.report.hand_story import describe
    from game.cards import cards_text
    from game.hands import hand_text
    from server.cli.parts import grid
    from solver.decisions.convergence import judge_decision
    from solver.decisions.decision import Method

    betting, strategy = decision.betting, decision.strategy
    place = f"[bold]{_STREETS[betting.round_index]}[/] {cards_text(decision.board)}".rstrip()
    to_call = f"{betting.to_call:,}" if betting.to_call else "nothing"
    console.print(
        f"{place}, pot {betting.pot:,}, {to_call} to call;"
        f" we hold [bold]{hand_text(own)}[/] {_SEATS[position]}"
    )
    values, found = decision.values(), judge_decision(decision, decision.exploitability())
    phases = ", ".join(f"{name.replace('_', ' ')} {spent:.2f} s" for name, spent in decision.phases.items())
    console.print(f"{decision.method.value}, {decision.iterations:,} iterations; {phases}", style="dim")
    # Postflop decisions are looked up in the blueprint only if there is no time to solve them.
    hurried = decision.method is Method.BLUEPRINT and betting.round_index > 0
    if found.converged is False or hurried:
        console.print(f"Warning: {found.quality}", style="bold yellow")
        console.print(
            f"The strategy may still change with more iterations: try {more_effort}", style="yellow"
        )
    else:
        console.print(found.quality)
    words = tuple([_word(str(name), betting.definition.stacks[0]) for name in strategy.actions])
    colours, letters = grid.action_colours(words), grid.action_letters(words)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("", "action", "this hand", "", "value", "whole range", ""):
        table.add_column(title, justify="right" if "h" in title else "left")
    rows = zip(strategy.actions, strategy.probabilities, decision.frequencies(), colours, strict=True)
    for i, (name, row, share, colour) in enumerate(rows):
        here, everywhere = float(row[own]), float(share)
        table.add_row(
            grid.action_mark(console, colour, letters[i]),
            describe(name, betting),
            f"{here:.1%}",
            grid.share_bar(console, here, 12, colour),
            "" if values is None or np.isnan(values[i, own]) else f"{values[i, own]:+,.0f}",
            f"{everywhere:.1%}",
            grid.share_bar(console, everywhere, 12, colour),
        )
    console.print(table)
    labels = np.arange(len(decision.ranges[0]))
    if values is not None and decision.method is Method.DEPTH_LIMITED:
        console.print("value: a sampled estimate, in chips over the whole hand", style="dim")
    cells = grid.gather_cells(
        labels, decision.ranges[position].astype(np.float64), strategy.probabilities.astype(np.float64)
    )
    console.print("\n[bold]our range[/], by action")
    grid.show_grid(console, cells, colours, letters)
    theirs = decision.ranges[1 - position].astype(np.float64)
    cells = grid.gather_cells(labels, theirs, np.ones((1, len(labels))))
    console.print("[bold]the opponent's range[/]")
    grid.show_grid(console, cells, ("#8a63d2",), ("#",))
    console.print(f"[bold]→ {describe(action, betting)}[/]  ({action}; drawn at random from the strategy)")


def _word(action: str, stack: int) -> str:
    """An action as the grid names it: f, c, a for all-in, or r with a size."""
    return "a" if action == f"r{stack}" else action
