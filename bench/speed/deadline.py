"""How well solves meet their deadline: random river and turn spots, deadlines from 20 ms up, log-uniform.

Time is measured from the request (board, pot, stacks, menu as text, ranges) to the root's strategy; building
tree, hands of every river, tables and programs is included. Kernels and memory are warm, as in a daemon that
has solved a large turn before.

overshoot_ms_p50, _p99, _max   time of the answer minus the deadline
build_ms_p50, _max             time from the request to the first iteration
invalid_strategies             answers with a row that is not a probability distribution; must be 0
unfinished                     spots whose deadline passed before the first iteration was done
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np

from abstraction.menu import parse_menu_book
from bench.figures import figure_parser, print_figures
from game.cards import NUM_CARDS
from game.hands import HAND_CLASS, NUM_CLASSES, NUM_HANDS
from numeric.arrays import F32
from server.cli.parts.numbers import positive_number, whole_number
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.holdem import holdem_game
from solver.games.tree import DECISION, build_tree, even_root

MENUS = ("50%, 100%, a | 100%, a", "100%, a | a", "33%, 75%, a | a", "50% | 100%", "25%, 60%, 120%, a | a")
MIN_DEADLINE = 0.02
QUICK = ("--spots", "30")


@dataclass(frozen=True, slots=True)
class Request:
    """A spot and its deadline in seconds."""

    board: tuple[int, ...]
    pot: int
    behind: int
    menu: str
    ranges: F32
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one request."""

    build_ms: float
    overshoot_ms: float
    iterations: int
    valid: bool


def main(argv: list[str]) -> int:
    """Measure and print; exit status 1 if any strategy is invalid."""
    parser = figure_parser("deadline", __doc__)
    parser.add_argument(
        "--spots", type=whole_number(), default=200, help="random spots (default: %(default)s)"
    )
    parser.add_argument(
        "--first", type=whole_number(0), default=0, help="number of the first spot (default: %(default)s)"
    )
    parser.add_argument(
        "--max-deadline",
        type=positive_number,
        default=5.0,
        help="seconds, at least 0.02 (default: %(default)s)",
    )
    parser.add_argument(
        "--threads", type=whole_number(), default=1, help="threads of each solve (default: %(default)s)"
    )
    parser.add_argument("--verbose", action="store_true", help="print a line per spot on stderr")
    args = parser.parse_args(argv)
    if args.max_deadline < MIN_DEADLINE:
        parser.error(f"--max-deadline must be at least {MIN_DEADLINE}")
    warm_up(args.threads)
    outcomes = []
    for spot in range(args.first, args.first + args.spots):
        rng = np.random.default_rng([spot, 1])
        seconds = float(np.exp(rng.uniform(np.log(MIN_DEADLINE), np.log(args.max_deadline))))
        request = random_request(spot, 5 - int(rng.random() < 0.5), seconds)
        outcomes.append(answer(request, args.threads))
        if args.verbose:
            print(spot, len(request.board), request.menu, f"{seconds:.3f}", outcomes[-1], file=sys.stderr)
    figures = _summary(outcomes) | {"threads": args.threads, "max_deadline": args.max_deadline}
    print_figures({"bench": "deadline", **figures}, args.json)
    return int(figures["invalid_strategies"] > 0)


def _summary(outcomes: list[Outcome]) -> dict[str, float]:
    overshoot = np.array([outcome.overshoot_ms for outcome in outcomes])
    build = np.array([outcome.build_ms for outcome in outcomes])
    return {
        "spots": len(outcomes),
        "overshoot_ms_p50": round(float(np.quantile(overshoot, 0.5)), 2),
        "overshoot_ms_p99": round(float(np.quantile(overshoot, 0.99)), 2),
        "overshoot_ms_max": round(float(overshoot.max()), 2),
        "build_ms_p50": round(float(np.quantile(build, 0.5)), 2),
        "build_ms_max": round(float(build.max()), 2),
        "invalid_strategies": sum(not outcome.valid for outcome in outcomes),
        "unfinished": sum(outcome.iterations == 0 for outcome in outcomes),
    }


def random_request(spot: int, board_cards: int, seconds: float) -> Request:
    """A random board, pot, stacks, menu and ranges, both wide and narrow."""
    rng = np.random.default_rng([spot, 2])
    board = tuple([int(card) for card in rng.permutation(NUM_CARDS)[:board_cards]])
    share = rng.uniform(0.1, 1.0)
    weights = rng.random((2, NUM_CLASSES)) * (rng.random((2, NUM_CLASSES)) < share)
    pot = int(rng.integers(4, 4000))
    behind = int(pot * np.exp(rng.uniform(np.log(0.3), np.log(20.0)))) + 1
    menu = MENUS[int(rng.integers(len(MENUS)))]
    return Request(board, pot, behind, menu, weights[:, HAND_CLASS].astype(np.float32), seconds)


def warm_up(threads: int) -> None:
    """Compile or load the timed kernels, and touch as much memory as the largest spots need."""
    ranges = np.ones((2, NUM_HANDS), dtype=np.float32)
    for board_cards in (5, 4):
        answer(Request(tuple(range(board_cards)), 100, 2000, MENUS[0], ranges, 1.0), threads)


def answer(request: Request, threads: int) -> Outcome:
    """Solve until the deadline and check the answer."""
    started = time.monotonic()
    root = even_root(len(request.board) - 2, request.pot, request.behind)
    tree = build_tree(root, parse_menu_book(request.menu))
    solver = Solver(holdem_game(request.board, tree, request.ranges), threads=threads)
    built = time.monotonic()
    solver.solve(deadline=started + request.seconds)
    solution = solver.solution()
    strategy = solution.strategy(0)
    ended = time.monotonic()
    return Outcome(
        1000 * (built - started),
        1000 * (ended - started - request.seconds),
        solver.iterations,
        _is_distribution(strategy) and _valid_elsewhere(solution),
    )


def _valid_elsewhere(solution: Solution) -> bool:
    """Check every decision of the first round, and of later rounds on a few boards."""
    game = solution.game
    rng = np.random.default_rng(0)
    for node in np.flatnonzero(game.tree.kind == DECISION):
        boards = game.boards_of_round(int(game.tree.round[node]))
        for board in {int(b) for b in rng.choice(boards, 2)}:
            if not _is_distribution(solution.strategy(int(node), board)):
                return False
    return True


def _is_distribution(strategy: F32) -> bool:
    return bool((strategy >= 0).all() and np.allclose(strategy.sum(axis=0), 1.0, atol=1e-4))
