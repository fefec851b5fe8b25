"""`fathom decide 'MATCHSTATE:…'`: what the agent does in a hand, and why."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from game.actions import Action
    from solver.decision import Decision

_EPILOG = """\
The state is what an ACPC dealer sends: position, hand number, betting, cards.

examples:
  fathom decide 'MATCHSTATE:1:0::|AsKd'                           on the button, first to act
  fathom decide 'MATCHSTATE:0:0:r300c/:QhJh|/Th9c2s' --budget 5   big blind, first to act on the flop
  fathom decide 'MATCHSTATE:0:0:r300c/cr450:QhJh|/Th9c2s' --json  one line; "action" is what to send"""

_STREETS = ("pre-flop", "flop", "turn", "river")
_SEATS = ("big blind", "button")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("state", help="MATCHSTATE line with the cards we hold; it must be our turn")
    parser.add_argument("--blueprint", type=Path, metavar="FILE", help="default: the one with Fathom")
    parser.add_argument("--budget", type=float, default=0.0, metavar="SECONDS", help="for the whole hand")
    parser.add_argument(
        "--iterations",
        type=int,
        default=0,
        help="of flop solves (turns get half, rivers four times as many), instead of a budget: repeatable",
    )
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Decide and explain."""
    from random import Random

    from arena.agent_player import AgentPlayer
    from game.definition import HUNL
    from game.hands import hand_index
    from protocol.acpc import parse_match_state
    from solver.agent import Agent
    from solver.agent_settings import make_settings
    from solver.blueprint import open_blueprint
    from solver.default_blueprint import default_blueprint_path

    match = parse_match_state(args.state, HUNL)
    state, position = match.state, match.position
    if state.betting.actor != position:
        raise ValueError(f"it is not our turn: position {position} does not act after {state.betting.text!r}")
    blueprint = open_blueprint(args.blueprint or default_blueprint_path())
    agent = Agent(blueprint, make_settings(args.budget, args.iterations, threads=args.threads))
    hand = AgentPlayer("agent", agent).start_hand(args.seed)
    decision = hand.decision(state.betting, state.visible_board)
    own = hand_index(*state.hole[position])
    action = decision.strategy.draw(own, Random(args.seed))
    if args.json:
        print(json.dumps(_record(decision, own, str(action))))
    else:
        from rich.console import Console

        _show(Console(highlight=False), position, decision, own, action)
    return 0


def _record(decision: Decision, own: int, action: str) -> dict[str, object]:
    from solver.explanation import explain

    return {"action": action, **explain(decision, own)}


def _show(console: Console, position: int, decision: Decision, own: int, action: Action) -> None:
    import numpy as np
    from rich.table import Table

    from arena.hand_story import describe
    from game.cards import cards_text
    from game.hands import hand_text
    from server.cli.grid import action_colours, coloured_grid, gather_cells, share_bar

    betting, strategy = decision.betting, decision.strategy
    board = cards_text(decision.board) or "no board yet"
    console.print(
        f"[bold]{_STREETS[betting.round_index]}[/] {board}, pot {betting.pot:,}, {betting.to_call:,} to call;"
        f" we hold [bold]{hand_text(own)}[/] in the {_SEATS[position]}"
    )
    values, exploitability = decision.values(), decision.exploitability()
    quality = (
        "" if exploitability is None else f", exploitable for {exploitability / betting.pot:.2%} of the pot"
    )
    phases = ", ".join(f"{name.replace('_', ' ')} {spent:.2f} s" for name, spent in decision.phases.items())
    console.print(
        f"{decision.method.value}, {decision.iterations:,} iterations{quality}; {phases}", style="dim"
    )
    words = tuple([_word(str(name), betting.definition.stacks[0]) for name in strategy.actions])
    colours = action_colours(words)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("action", "this hand", "", "worth", "whole range", ""):
        table.add_column(title, justify="right" if "h" in title else "left")
    rows = zip(strategy.actions, strategy.probabilities, decision.frequencies(), colours, strict=True)
    for i, (name, row, share, colour) in enumerate(rows):
        here, everywhere = float(row[own]), float(share)
        table.add_row(
            describe(name, betting),
            f"{here:.1%}",
            share_bar(here, 12, colour),
            "" if values is None or np.isnan(values[i, own]) else f"{values[i, own]:+,.0f}",
            f"{everywhere:.1%}",
            share_bar(everywhere, 12, colour),
        )
    console.print(table)
    labels = np.arange(len(decision.ranges[0]))
    cells = gather_cells(
        labels, decision.ranges[position].astype(np.float64), strategy.probabilities.astype(np.float64)
    )
    console.print(
        "\n[bold]our range[/], by what it does", coloured_grid(cells, colours, console.width), sep="\n"
    )
    theirs = decision.ranges[1 - position].astype(np.float64)
    cells = gather_cells(labels, theirs, np.ones((1, len(labels))))
    console.print(
        "[bold]the opponent's range[/]", coloured_grid(cells, ("#8a63d2",), console.width), sep="\n"
    )
    console.print(f"[bold]→ {describe(action, betting)}[/]  ({action})")


def _word(action: str, stack: int) -> str:
    """As the grid's colours know actions: f, c, a, and r with a size."""
    return "a" if action == f"r{stack}" else action
