"""`fathom lbr PLAYER`: local best response, a lower bound on a player's exploitability."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from server.cli.parts.numbers import whole_number
from server.cli.parts.outputs import check_output

if TYPE_CHECKING:
    from rich.console import Console

    from arena.lbr.run import LbrResult, LbrTerms

_EPILOG = """\
LBR knows the player's strategy, tracks the player's range exactly, and takes the action that is best if both
only check and call afterwards (Lisý and Bowling, 2017). A best response wins at least what LBR wins; against
always folding LBR wins 750 mbb/hand. docs/arena.md explains settings and results.

actions:
  fc             fold and call
  fcpa           fold, call, bet the pot, all-in
  56bets         fold, call and 56 bet sizes
  "33%, 75%, a"  fold, call and these bet sizes
rounds:
  1-4            LBR bets on every round
  3-4            LBR only checks and calls before the turn: wins most against most players

A hand is one board in one seat, evaluated for all hole cards LBR can hold. With --save NAME every deal is
written to NAME.lbr as it is played; run the same command again to continue, even after a kill.

examples:
  fathom lbr fold --hands 100
  fathom lbr blueprint --hands 20000 --actions fcpa --rounds 3-4 --save lbr-blueprint"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument(
        "player", metavar="PLAYER", help="a player of `fathom match` whose strategy can be queried"
    )
    parser.add_argument(
        "--hands", type=int, default=2_000, help="hands, half of them in each seat (default: 2000)"
    )
    parser.add_argument("--actions", default="fcpa", help="actions LBR may take (default: fcpa)")
    parser.add_argument(
        "--rounds", default="3-4", help="rounds on which LBR uses them (default: 3-4, turn and river)"
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, help="random seed of boards and actions (default: 1)"
    )
    parser.add_argument("--game", default="hunl", help="a preset or an ACPC .game file (default: hunl)")
    parser.add_argument("--workers", type=whole_number(), help="processes (default: one per core)")
    parser.add_argument(
        "--save", type=Path, metavar="NAME", help="write a journal, NAME.lbr, or resume from it"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Measure until all hands are played or the command is interrupted."""
    from rich.console import Console

    from arena.lbr.lbr import parse_settings
    from arena.lbr.run import LbrTerms
    from server.config.game_files import load_definition

    if args.hands < 2:
        raise ValueError(f"--hands {args.hands}: give at least 2, one in each seat")
    settings = parse_settings(args.actions, args.rounds)
    terms = LbrTerms(load_definition(args.game), args.player, settings, args.seed, (args.hands + 1) // 2)
    console = Console(stderr=True)
    journal = args.save.with_name(args.save.name + ".lbr") if args.save else None
    check_output("--save", journal)
    try:
        result = _measure(terms, journal, args.workers, console)
    except KeyboardInterrupt:
        if journal is not None:
            console.print(f"stopped; progress is saved in {journal}: run the same command to continue")
        return 130
    if args.json:
        print(json.dumps(result.to_json()))
    else:
        big_blind, button = result.by_position()
        print(
            f"local best response ({settings.actions}, rounds {settings.rounds}) wins {result.total} "
            f"from {args.player}, over {result.hands:,} hands (95 % interval)\n"
            f"as the big blind {big_blind}, on the button {button}"
        )
    return 0


def _measure(terms: LbrTerms, journal: Path | None, workers: int | None, console: Console) -> LbrResult:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from arena.lbr.run import measure_lbr
    from arena.runs.journal import Journal
    from arena.runs.statistics import Winnings
    from solver.equity.all_in import preflop_wins_are_counted

    if not preflop_wins_are_counted():
        console.print("computing the preflop equity table (once, about half a minute)")
    winnings, counted = Winnings(terms.definition.big_blind), 0
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("hands"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=2 * terms.deals)

        def tick(journal: Journal) -> None:
            nonlocal counted
            for line in journal.lines[counted:]:
                _, first, second = line.split()
                winnings.add((float(first) + float(second)) / 2)
            counted = len(journal.lines)
            progress.update(task, completed=2 * counted, description=f"LBR {winnings}")

        return measure_lbr(terms, journal, workers, tick, progress)
