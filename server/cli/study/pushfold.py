"""`fathom pushfold`: the equilibrium of the push/fold game, and a report on how people play it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from server.cli.parts.configuration import add_store_arguments, chosen_store
from server.cli.parts.numbers import number_between

if TYPE_CHECKING:
    from arena.push_fold_pool import PoolReport

_EPILOG = """\
The small blind goes all-in or folds, the big blind calls or folds. The equilibrium is solved exactly, with
exact all-in equities. People play it on the daemon's page /pushfold, ten big blinds deep; their decisions are
kept in the hand store.

examples:
  fathom pushfold chart                      which hands go all-in and call at ten big blinds
  fathom pushfold chart --stack 7.5 --json
  fathom pushfold report                     what the equilibrium wins from everybody who played here
  fathom pushfold report --json"""

_SHOWN = 8


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.epilog = _EPILOG
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    chart = verbs.add_parser("chart", help="print the equilibrium for a stack size")
    chart.add_argument(
        "--stack", type=_stack, default=10.0, metavar="BB", help="stack in big blinds (default: %(default)g)"
    )
    report = verbs.add_parser("report", help="compare the players in the hand store with the equilibrium")
    add_store_arguments(report)
    for verb in (chart, report):
        verb.add_argument("--json", action="store_true", help="print one JSON line")


def run(args: argparse.Namespace) -> int:
    """Run the chosen verb."""
    return _chart(args.stack, args.json) if args.verb == "chart" else _report(args)


def _stack(text: str) -> float:
    from solver.equity.push_fold import LEAST_STACK, MOST_STACK

    return number_between(LEAST_STACK, MOST_STACK)(text)


def _chart(stack: float, as_json: bool) -> int:
    from game.hands import class_text
    from solver.equity.push_fold import class_shares, solve_push_fold

    solved = solve_push_fold(stack)
    if as_json:
        names = [class_text(c) for c in range(len(solved.push))]
        print(
            json.dumps(
                {
                    "stack": stack,
                    "value": round(solved.value, 6),
                    "exploitability": solved.exploitability,
                    "push": dict(zip(names, [round(float(share), 4) for share in solved.push], strict=True)),
                    "call": dict(zip(names, [round(float(share), 4) for share in solved.call], strict=True)),
                }
            )
        )
        return 0
    shares = class_shares()
    for title, strategy in (("small blind goes all-in", solved.push), ("big blind calls", solved.call)):
        print(f"{title}: {100 * float(shares @ strategy):.1f} % of hands")
        for row in range(13):
            print(" ".join([_cell(class_text(13 * row + c), strategy[13 * row + c]) for c in range(13)]))
        print()
    print("AKs: always; aks, in lower case: sometimes; ·: never")
    print(
        f"the small blind expects {solved.value:+.4f} big blinds per hand; exploitable by at most"
        f" {solved.exploitability:.1e} big blinds per hand"
    )
    return 0


def _cell(name: str, share: float) -> str:
    """One cell of the chart: always, sometimes (lower case) or never (a dot)."""
    return f"{name if share > 0.995 else name.lower() if share > 0.005 else '·':<3}"


def _report(args: argparse.Namespace) -> int:
    from arena.push_fold_pool import pool_report
    from server.play.push_fold_table import STACK, pool_decisions
    from server.store.hand_reader import HandReader

    reader = HandReader(chosen_store(args))
    try:
        decisions = pool_decisions(list(reader.push_fold_hands()))
    finally:
        reader.close()
    report = pool_report(STACK, decisions)
    print(json.dumps(report.record()) if args.json else _words(report))
    return 0


def _words(report: PoolReport) -> str:
    from arena.push_fold_pool import SEATS

    if not report.decisions:
        return "no push/fold hands in the store yet: play some on the daemon's page /pushfold"
    lines = [
        f"{report.decisions} decisions at {report.stack:g} big blinds",
        f"the equilibrium wins {report.bot_value:+.4f} big blinds per hand from this pool",
    ]
    for name, seat in zip(SEATS, report.seats, strict=True):
        lines += [
            "",
            f"{name}: the bot here expects {seat.bot_value:+.4f} (between equilibria {seat.game_value:+.4f});"
            f" in {seat.bot_inefficient_hands} of 1326 hands the opposite would win more from this pool",
        ]
        if seat.all_in is None:
            lines.append("  no decisions in this seat")
            continue
        lines.append(
            f"  the pool goes all-in {100 * seat.all_in:.1f} % of {seat.decisions} times,"
            f" {seat.classes_seen} of 169 classes seen, {len(seat.misplayed)} misplayed:"
        )
        lines += [
            f"  {found.hand:<4} all-in {100 * found.all_in:3.0f} % of {found.seen}, equilibrium"
            f" {100 * found.equilibrium:3.0f} %: costs {found.cost:.3f} each time"
            for found in seat.misplayed[:_SHOWN]
        ]
    return "\n".join(lines)
