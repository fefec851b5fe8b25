"""Playing the first round by solving it, once for every set of bets that were made; kept on disk.

Has the same form as `solver.blueprint_preflop`, which stands in where a blueprint has no table of values.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

from game.betting import BettingState
from game.cards import Cards
from game.hands import HAND_CLASS, NUM_CLASSES, unblocked
from game.jit import cache_home
from solver.blueprint import Blueprint
from solver.blueprint_walk import BlueprintWalk
from solver.decision import Decision, Method
from solver.depth_limited import DepthLimitedSolver
from solver.layout import F32
from solver.limits import Limits, solve_in_slices
from solver.nested import Context, betting_states, coded_action, everything, narrowed
from solver.preflop import LeafTable, preflop_solver, preflop_tree
from solver.range_strategy import RangeStrategy
from solver.tree import CALL_ACTION, DECISION, Tree

_T = TypeVar("_T")

_ITERATIONS = 500
_LEAST_ITERATIONS = 8
_MOST_KNOWN = 64
"""Solutions in memory,"""
_MOST_UNFINISHED = 4
"""solves that were cut off and can go on,"""
_MOST_FILES = 2_000
"""and solutions on disk, some 100 KB each. The oldest make room."""
_FORMAT = 1
"""Of the files; another number makes all solves anew."""


@dataclass(frozen=True, slots=True, eq=False)
class PreflopSolution:
    """The first round as solved for one seat."""

    tree: Tree
    table: F32
    """float32[rows, 169]: strategies, a node's rows one after the other."""
    iterations: int

    def strategy(self, node: int) -> F32:
        """float32[A, 169]."""
        first = int(self.tree.action_row[node])
        return self.table[first : first + len(self.tree.children_of(node))]


class SolvedPreflop:
    """Strategies and ranges of the first round, solved. Not for concurrent calls."""

    def __init__(
        self,
        blueprint: Blueprint,
        walk: BlueprintWalk,
        tables: tuple[LeafTable, LeafTable],
        folder: Path | None = None,
        iterations: int = _ITERATIONS,
    ) -> None:
        self._blueprint, self._walk, self._tables = blueprint, walk, tables
        self._folder = cache_home() / "preflop" / blueprint.identity if folder is None else folder
        self._iterations = iterations
        self._known: dict[str, PreflopSolution] = {}
        self._unfinished: dict[str, DepthLimitedSolver] = {}

    def decide(self, betting: BettingState, board: Cards, seed: int, limits: Limits) -> Decision:  # noqa: ARG002
        """What every hand does, and both ranges."""
        started = time.monotonic()
        states = betting_states(betting)
        solution = self._solution(states, betting.actor, limits)
        node = solution.tree.find(tuple([_code(*step) for step in pairwise(states)]))
        actions = tuple([coded_action(code) for code in solution.tree.actions_of(node)])
        rows = solution.strategy(node)[:, HAND_CLASS] * unblocked(board)
        return Decision(
            betting,
            board,
            RangeStrategy(actions, np.asarray(rows, dtype=np.float32)),
            _ranges(solution, states),
            Method.DEPTH_LIMITED,
            solution.iterations,
            {"solve": time.monotonic() - started},
        )

    def context(self, betting: BettingState, seed: int, limits: Limits) -> Context:  # noqa: ARG002
        """What the player to act knows at the start of the flop."""
        states = betting_states(betting)
        first = next(i for i, state in enumerate(states) if state.round_index > 0)
        solution = self._solution(states[: first + 1], betting.actor, limits)
        return Context(states[first].text, _ranges(solution, states[: first + 1]), {})

    def _solution(self, states: list[BettingState], seat: int, limits: Limits) -> PreflopSolution:
        """The round solved for a seat, with all bets that were made in a hand. Blocks if they are new.

        A solve that was cut off by its limits goes on when asked for again; only whole ones are written.
        """
        tree = preflop_tree(self._blueprint.definition, self._blueprint.menus, _bets(states))
        key = hashlib.sha256(
            f"{_FORMAT}|{seat}|{self._iterations}|".encode() + tree.action.tobytes() + tree.parent.tobytes()
        )
        name = key.hexdigest()[:24]
        found = self._known.get(name) or self._read(name, tree)
        if found is None:
            solver = self._unfinished.pop(name, None) or self._solver(tree, seat)
            found = self._solve(tree, solver, limits)
            if found.iterations < self._iterations:
                _keep(self._unfinished, name, solver, _MOST_UNFINISHED)
                return found
            self._write(name, found)
        _keep(self._known, name, found, _MOST_KNOWN)
        return found

    def _solver(self, tree: Tree, seat: int) -> DepthLimitedSolver:
        table, chooser = self._tables[1 - seat], 1 - seat
        return preflop_solver(self._blueprint.definition, tree, self._walk.tree, table, chooser)

    def _solve(self, tree: Tree, solver: DepthLimitedSolver, limits: Limits) -> PreflopSolution:
        started = time.monotonic()
        done = solver.solve(min(max(_LEAST_ITERATIONS, solver.iterations), self._iterations))
        deadline = started + (1e6 if limits.seconds is None else limits.seconds)
        solve_in_slices(solver.solve, done, self._iterations, deadline, limits)
        solution = solver.solution()
        rows = [solution.strategy(node) for node in np.flatnonzero(tree.kind == DECISION).tolist()]
        return PreflopSolution(tree, np.concatenate(rows), solver.iterations)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.npy"

    def _read(self, name: str, tree: Tree) -> PreflopSolution | None:
        path = self._path(name)
        try:
            table = np.load(path)
            os.utime(path)  # in use: others are older
        except (OSError, ValueError, EOFError):
            return None  # not there, or damaged: solve it again
        if table.shape != (tree.round_rows[0], NUM_CLASSES):
            return None
        return PreflopSolution(tree, table, self._iterations)

    def _write(self, name: str, solution: PreflopSolution) -> None:
        path = self._path(name)
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                np.save(file, solution.table)
            partial.replace(path)
            self._make_room()
        except OSError:
            partial.unlink(missing_ok=True)  # a full or read-only disk costs solving again, no more

    def _make_room(self) -> None:
        files = list(self._folder.glob("*.npy"))
        if len(files) <= _MOST_FILES:
            return
        by_age = sorted((file.stat().st_mtime_ns, file) for file in files)
        for _, file in by_age[: len(files) - _MOST_FILES * 9 // 10]:
            file.unlink(missing_ok=True)


def _keep(shelf: dict[str, _T], name: str, thing: _T, most: int) -> None:
    """Put something on a shelf of so many places, the oldest making room."""
    shelf.pop(name, None)
    shelf[name] = thing
    while len(shelf) > most:
        del shelf[next(iter(shelf))]


def _ranges(solution: PreflopSolution, states: list[BettingState]) -> F32:
    """float32[2, 1326]: both ranges on the way to the last state, by Bayes' rule."""
    ranges, node, tree = everything(), 0, solution.tree
    for before, after in pairwise(states):
        index = tree.actions_of(node).index(_code(before, after))
        taken = solution.strategy(node)[index][HAND_CLASS]
        ranges[before.actor] = narrowed(ranges[before.actor], taken)
        node = int(tree.children_of(node)[index])
    return ranges


def _bets(states: list[BettingState]) -> dict[str, tuple[int]]:
    """Every raise of the first round, by the betting before it."""
    return {
        before.text: (after.max_spent,)
        for before, after in pairwise(states)
        if before.round_index == 0 and after.max_spent > before.max_spent
    }


def _code(before: BettingState, after: BettingState) -> int:
    return CALL_ACTION if after.max_spent == before.max_spent else after.max_spent
