"""Makes flop books: the order of flops, and the solve of one entry.

1. An entry is the flop from its start to its end, with the blueprint's ranges for both players, a warm start
   from the blueprint's strategies and learned leaves: the same solve as the agent's first decision on a flop,
   with its largest menu and more iterations.
2. The most frequent pairs of line and flop come first, in a fixed order, so that a book is useful long before
   it is complete.
3. An entry is a function of blueprint, line, flop, menu and iterations.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from abstraction.isomorphism import board_multiplicities, canonical_boards
from numeric.arrays import I64, U8
from solver.blueprint.file import Blueprint, open_blueprint
from solver.blueprint.walk import BlueprintWalk
from solver.depth_limited.flop_start import warm_start_flop
from solver.depth_limited.solver import SAMPLED_SCHEDULE, DepthLimitedSolver
from solver.equity.all_in import flop_wins
from solver.exact.solution import Solution
from solver.flop_book.file import (
    NUM_FLOPS,
    BookError,
    BookFile,
    book_path,
    create_book_file,
    flop_hands,
    flop_tree,
    open_book_file,
    quantised,
)
from solver.flop_book.lines import FlopLine, flop_lines
from solver.games.tree import DECISION
from solver.leaves.flop_end import FlopEnd
from solver.leaves.learned import LearnedLeaves
from solver.leaves.match import leaves_of, match_nodes
from solver.leaves.rollouts import one_round_game
from solver.resolving.context import Context
from solver.resolving.root import find_root

BOOK_ITERATIONS = 1_500
_LOCK = "making.lock"
_SHUFFLE = 1
_TRIAL_ITERATIONS = 50
"""Iterations to skip when measuring speed, because the first ones are slower."""


@dataclass(frozen=True, slots=True)
class Task:
    """An entry to make."""

    line: str
    row: int
    """Index in `canonical_boards(3)`."""


def flops_in_order(count: int = NUM_FLOPS) -> I64:
    """int64[count]: canonical flops, the most frequent first, ties in a fixed random order."""
    shuffled = np.random.default_rng(_SHUFFLE).permutation(NUM_FLOPS)
    order = shuffled[np.argsort(-board_multiplicities(3)[shuffled], kind="stable")]
    chosen: I64 = order[:count].astype(np.int64)
    return chosen


def tasks_in_order(lines: Sequence[FlopLine], flops: I64) -> list[Task]:
    """All pairs of line and flop, the most frequent first."""
    weights = board_multiplicities(3)
    pairs = [(-line.share * int(weights[row]), Task(line.text, int(row))) for line in lines for row in flops]
    return [task for _, task in sorted(pairs, key=lambda pair: pair[0])]


def flops_share(flops: I64) -> float:
    """Share of all dealt flops that these canonical flops stand for."""
    weights = board_multiplicities(3)
    return float(weights[flops].sum() / weights.sum())


def flop_solver(blueprint: Blueprint, line: FlopLine, row: int, menu: str) -> DepthLimitedSolver:
    """The solver of an entry, before its first iteration."""
    board = tuple(canonical_boards(3)[row].tolist())
    walk = BlueprintWalk(blueprint.tree, blueprint.definition)
    root = find_root(line.betting, board, Context(line.betting.text, line.ranges, {}))
    tree, first = flop_tree(line, menu), line.betting.actor
    twins = match_nodes(tree, root.root, walk.tree, walk.find(line.betting, 0))
    game = one_round_game(board, tree, root.ranges)
    leaves = leaves_of(tree, root.root, walk.tree, twins)
    end = FlopEnd(blueprint, game, leaves, 1 - first, flop_wins(board, game.labels), seed=row)
    solver = DepthLimitedSolver(game, LearnedLeaves(end), 1 - first, SAMPLED_SCHEDULE)
    warm_start_flop(solver, blueprint, walk.tree, twins, board)
    return solver


def solve_entry(blueprint: Blueprint, line: FlopLine, row: int, menu: str, iterations: int) -> U8:
    """uint8[rows, 1176]: the stored strategies of a solve. Blocks for seconds."""
    solver = flop_solver(blueprint, line, row, menu)
    solver.solve(iterations)
    return strategies_of(solver.solution(), row)


def strategies_of(solution: Solution, row: int) -> U8:
    """uint8[rows, 1176]: the average strategies of all decisions of a canonical flop, in the tree's order."""
    game = solution.game
    assert np.array_equal(game.labels, flop_hands(row)), "ranges keep every possible hand"
    nodes = np.flatnonzero(game.tree.kind == DECISION).tolist()
    return np.concatenate([quantised(solution.strategy(node)) for node in nodes])


def seconds_of_entry(blueprint: Blueprint, line: FlopLine, row: int, menu: str, iterations: int) -> float:
    """Estimate the time of an entry's solve from a few iterations. Blocks for about a second."""
    flop_solver(blueprint, line, row, menu).solve(2)  # loads kernels and files
    started = time.perf_counter()
    solver = flop_solver(blueprint, line, row, menu)
    solver.solve(_TRIAL_ITERATIONS)
    middle = time.perf_counter()
    solver.solve(2 * _TRIAL_ITERATIONS)
    each = (time.perf_counter() - middle) / _TRIAL_ITERATIONS
    return middle - started + each * max(iterations - _TRIAL_ITERATIONS, 0)


def open_for_making(
    folder: Path, line: FlopLine, blueprint: Blueprint, menu: str, iterations: int
) -> BookFile:
    """The file of a line, made if it does not exist. Raises if it has another number of iterations."""
    path = book_path(folder, line.text)
    if not path.exists():
        create_book_file(folder, line, blueprint, menu, iterations)
    file = open_book_file(path, {line.text: line}, blueprint, menu)
    if file.iterations != iterations:
        raise BookError(
            f"{path} has entries of {file.iterations:,} iterations:"
            f" go on with --iterations {file.iterations}, or name another folder"
        )
    return file


@contextmanager
def only_maker(folder: Path) -> Iterator[None]:
    """Lock a folder, made if it does not exist. Raises if another process holds the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BookError(
                f"a flop book is being made in {folder}: wait for it or stop it, or name another folder"
            ) from None
        yield


def entry_solver(path: Path, menu: str, iterations: int) -> Callable[[Task], U8]:
    """A function that makes entries, for a process of its own.

    path  of the blueprint
    """
    blueprint = open_blueprint(path)
    lines = {line.text: line for line in flop_lines(blueprint)}
    return lambda task: solve_entry(blueprint, lines[task.line], task.row, menu, iterations)
