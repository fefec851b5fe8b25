"""Safety of re-solving rivers: exact exploitability in the turn game before and after.

Random turn spots are solved coarsely. Then every river subgame is re-solved for both players, the results are
inserted into the turn strategies, and the exploitability of the whole is measured in % of the pot.

before_pct         exploitability of the coarse turn solution, mean over spots
unsafe_pct         after unsafe re-solving from both ranges
resolve_pct        with the resolving gadget
reach_pct          with the gadget and gifts (Reach)
agent_pct          as the agent re-solves: expected values as alternatives, gifts, the opponent's range by
                   Bayes' rule, four fifths of which enter without a choice
*_worst_change_pct the largest increase over `before` of any spot (negative: all decreased)
*_worse            spots that increased by more than `tolerance_pct`
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace

import numpy as np

from abstraction.menu import parse_menu_book
from bench.figures import figure_parser
from game.cards import NUM_CARDS
from game.errors import RangeError
from game.hands import HAND_CLASS, NUM_CLASSES, NUM_HANDS
from numeric.arrays import F32, F64
from server.cli.parts.numbers import positive_number, whole_number
from solver.agent.street_solves import FORCED
from solver.exact.engine import Engine
from solver.exact.exploitability import exploitability
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.holdem import holdem_game
from solver.games.tree import CHANCE, DECISION, build_tree, even_root
from solver.resolving.subgame import Payoff, Subgame, path_gifts, put_back, safe_subgame, unsafe_subgame

QUICK = ("--spots", "5")
METHODS = ("unsafe", "resolve", "reach", "agent")
POT = 100
_KEPT = np.float32(1e-4)
"""Share of every hand that stays in the opponent's range, even if the solution never plays it."""
MENUS = ("100%, a | a", "a", "50%, a | a", "75% | a")


def main(argv: list[str]) -> int:
    """Measure and print; exit status 1 if a safe method raised exploitability beyond the tolerance."""
    parser = figure_parser("safety", __doc__)
    parser.add_argument(
        "--spots", type=whole_number(), default=20, help="random turn spots (default: %(default)s)"
    )
    parser.add_argument(
        "--first", type=whole_number(0), default=0, help="number of the first spot (default: %(default)s)"
    )
    parser.add_argument(
        "--coarse", type=whole_number(), default=30, help="turn iterations (default: %(default)s)"
    )
    parser.add_argument(
        "--fine", type=whole_number(), default=300, help="river iterations (default: %(default)s)"
    )
    parser.add_argument(
        "--tolerance",
        type=positive_number,
        default=0.02,
        help="allowed increase in %% of the pot (default: %(default)s)",
    )
    parser.add_argument("--verbose", action="store_true", help="print a line per spot on stderr")
    args = parser.parse_args(argv)
    started = time.perf_counter()
    rows = []
    for spot in range(args.first, args.first + args.spots):
        rows.append(_measure(spot, args.coarse, args.fine))
        if args.verbose:
            print(spot, np.round(rows[-1], 3), f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
    figures = _summary(np.array(rows), args.tolerance)
    figures |= {"coarse": args.coarse, "fine": args.fine, "seconds": time.perf_counter() - started}
    if args.json:
        print(json.dumps({"bench": "safety"} | {name: round(value, 4) for name, value in figures.items()}))
    else:
        for name, value in figures.items():
            print(f"{name:25} {value:.4g}")
    return int(figures["resolve_worse"] + figures["reach_worse"] > 0)


def _summary(rows: F64, tolerance: float) -> dict[str, float]:
    """Summarise float64[spots, 1 + methods]: exploitability before and after each method, % of the pot."""
    figures: dict[str, float] = {
        "spots": len(rows),
        "tolerance_pct": tolerance,
        "before_pct": float(rows[:, 0].mean()),
    }
    for name, after in zip(METHODS, rows[:, 1:].T, strict=True):
        change = after - rows[:, 0]
        figures[f"{name}_pct"] = float(after.mean())
        figures[f"{name}_worst_change_pct"] = float(change.max())
        figures[f"{name}_worse"] = int((change > tolerance).sum())
    return figures


def _measure(spot: int, coarse: int, fine: int) -> list[float]:
    solver = Solver(random_turn(spot))
    solver.run(coarse)
    solution, engine = solver.solution(), solver.engine
    tables = [solution.average, *[solve_rivers(solution, engine, method, fine) for method in METHODS]]
    return [100 / POT * exploitability(engine, table) for table in tables]


def random_turn(seed: int) -> Game:
    """A random turn spot: board, menu, stacks, and ranges of random hand classes."""
    rng = np.random.default_rng(seed)
    board = tuple([int(card) for card in rng.permutation(NUM_CARDS)[:4]])
    weights = rng.random((2, NUM_CLASSES)) * (rng.random((2, NUM_CLASSES)) < 0.25)
    ranges = weights[:, HAND_CLASS].astype(np.float32)
    assert ranges.shape == (2, NUM_HANDS)
    behind = int(POT * rng.uniform(1, 4))
    menus = parse_menu_book(MENUS[seed % len(MENUS)])
    return holdem_game(board, build_tree(even_root(2, POT, behind), menus), ranges)


def solve_rivers(solution: Solution, engine: Engine, method: str, iterations: int) -> F32:
    """Average strategies of the turn game after every river subgame was re-solved."""
    game, tree = solution.game, solution.game.tree
    combined = replace(solution, average=solution.average.copy())
    roots = [int(n) for n in np.flatnonzero(tree.kind == DECISION) if tree.kind[tree.parent[n]] == CHANCE]
    for node in roots:
        # Gifts are made on the turn, so they do not depend on the river card.
        payoff = Payoff.EXPECTED if method == "agent" else Payoff.BEST_RESPONSE
        gifts = [path_gifts(solution, node, 1, 1 - player, payoff, engine=engine) for player in range(2)]
        for board in game.boards_of_round(1):
            for player in range(2):
                try:
                    subgame = _subgame(solution, node, board, player, method, gifts[player])
                except RangeError:  # the coarse strategies never reach this node
                    continue
                forced = FORCED if method == "agent" else 0.0
                solver = subgame.solver(subgame.same_game(solution, node, board), forced=forced)
                solver.run(iterations)
                put_back(combined, node, solver.solution(), player)
                if method == "unsafe":
                    put_back(combined, node, solver.solution(), 1 - player)
                    break
    return combined.average


def _subgame(solution: Solution, node: int, board: int, player: int, method: str, gifts: F64) -> Subgame:
    if method == "unsafe":
        return unsafe_subgame(solution, node, board)
    if method == "agent":
        subgame = safe_subgame(solution, node, board, player, Payoff.EXPECTED, gifts)
        believed, possible = unsafe_subgame(solution, node, board).ranges, _KEPT * subgame.ranges
        return replace(subgame, ranges=np.maximum(believed, possible))
    return safe_subgame(solution, node, board, player, gifts=gifts if method == "reach" else None)
