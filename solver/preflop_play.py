"""Playing the first round by solving it, as soon as somebody bets what the blueprint's tree does not have.

1. As long as all bets are in that tree the round is looked up: the blueprint is the solution of that very
   game. (Agents that always solve have a solution of their own for it.)
2. A bet that the tree does not have is a *departure*. The round is solved with that bet in it, from just
   before it on, so what it is made with is solved, too. Both players bring the ranges there that they have by
   what was played so far. Ours must be that one: our actions are done and cannot be chosen anew. His is the
   best guess there is, and none at all if it is his first action: then he may hold everything.
3. From there on that solution is played, and the flop's ranges come from it. Another bet that it does not
   have is another departure, solved with the ranges this solution gives: as on later streets
   (`solver.nested`).
4. Solutions are known by seat, betting and ranges at their root, and tree. Whole ones are kept on disk.

Has the same form as `solver.blueprint_preflop`, which stands in where a blueprint has no table of values.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

from game.betting import BettingState
from game.cards import Cards
from game.folders import writable_cache
from game.hands import HAND_CLASS, NUM_CLASSES, NUM_HANDS, unblocked
from solver.agent_settings import TABLE
from solver.blueprint import FULL, Blueprint
from solver.blueprint_walk import BlueprintWalk
from solver.cut import cut_tree
from solver.decision import Decision, Method
from solver.depth_limited import DepthLimitedSolver
from solver.layout import F32
from solver.limits import Limits, solve_in_slices
from solver.nested import (
    Context,
    betting_states,
    coded_action,
    everything,
    keep_alive,
    narrowed,
    step_code,
    was_done,
)
from solver.preflop import SCHEDULE, LeafTable, preflop_solver, preflop_tree
from solver.range_strategy import RangeStrategy
from solver.tree import DECISION, FOLD_ACTION, Tree

_T = TypeVar("_T")

_ITERATIONS = 500
_LEAST_ITERATIONS = 8
_PAST_SHARE = 0.5
"""Of the time, for solving again what earlier decisions were read from, should it be known no more."""
_MOST_KNOWN = 64
"""Solutions in memory,"""
_MOST_UNFINISHED = 4
"""solves that were cut off and can go on,"""
_MOST_FILES = 2_000
"""and solutions on disk, some 100 KB each. The oldest make room."""
_FORMAT = 2
"""Of the files; another number makes all solves anew."""

_HAND_OF_CLASS = np.unique(HAND_CLASS, return_index=True)[1]


@dataclass(frozen=True, slots=True, eq=False)
class PreflopSolution:
    """The first round from some decision on, as solved for one seat or looked up."""

    tree: Tree
    ranges: F32
    """float32[2, 1326]: what both players bring to its first decision."""
    table: F32
    """float32[rows, 169]: strategies, a node's rows one after the other."""
    iterations: int
    """0: looked up."""

    def strategy(self, node: int) -> F32:
        """float32[A, 1326]."""
        first = int(self.tree.action_row[node])
        rows: F32 = self.table[first : first + len(self.tree.children_of(node))][:, HAND_CLASS]
        return rows

    def narrowed(self, weights: F32, node: int, index: int) -> F32:
        """A range after an action at a node. What was solved tells of rare bets, too (`solver.nested`, 5).

        weights  float32[1326]
        """
        taken = self.strategy(node)[index]
        if not self.iterations:
            return narrowed(weights, taken)
        left: F32 = weights * taken
        return left if was_done(weights, left, SCHEDULE.first_share(self.iterations)) else weights


@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """Where to solve from."""

    betting: BettingState
    tree: Tree
    """Of the whole round."""
    node: int
    ranges: F32
    """float32[2, 1326]"""


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where a hand's betting has led."""

    solution: PreflopSolution
    node: int
    ranges: F32


class SolvedPreflop:
    """Strategies and ranges of the first round, solved. Not for concurrent calls."""

    def __init__(
        self,
        blueprint: Blueprint,
        walk: BlueprintWalk,
        tables: tuple[LeafTable, LeafTable],
        always: bool = False,
        folder: Path | None = None,
        iterations: int = _ITERATIONS,
    ) -> None:
        """With the tables of a blueprint.

        always  solve also while all bets are in the blueprint's tree
        """
        self._blueprint, self._walk, self._tables, self._always = blueprint, walk, tables, always
        self._folder = writable_cache() / "preflop" / blueprint.identity if folder is None else folder
        self._iterations = iterations
        self._looked_up = _look_up(blueprint)
        self._known: dict[str, PreflopSolution] = {}
        self._unfinished: dict[str, DepthLimitedSolver] = {}

    def solves(self, betting: BettingState) -> bool:
        """Whether a decision is solved, not looked up."""
        return self._always or bool(self._departures(betting_states(betting)))

    def decide(
        self,
        betting: BettingState,
        board: Cards,
        context: Context | None,
        seed: int,  # noqa: ARG002
        limits: Limits,
    ) -> Decision:
        """What every hand does, both ranges, and how he replies."""
        started = time.monotonic()
        place = self._find(betting_states(betting), betting.actor, limits, is_past=False, context=context)
        solution, tree = place.solution, place.solution.tree
        actions = tuple([coded_action(code) for code in tree.actions_of(place.node)])
        replies = {
            action: {
                code: row
                for code, row in zip(tree.actions_of(child), solution.strategy(child), strict=True)
                if code != FOLD_ACTION
            }
            for action, child in zip(actions, tree.children_of(place.node).tolist(), strict=True)
            if tree.kind[child] == DECISION
        }
        rows = solution.strategy(place.node) * unblocked(board)
        return Decision(
            betting,
            board,
            RangeStrategy(actions, np.asarray(rows, dtype=np.float32)),
            place.ranges,
            Method.DEPTH_LIMITED if solution.iterations else Method.BLUEPRINT,
            solution.iterations,
            {"solve" if solution.iterations else "look_up": time.monotonic() - started},
            replies,
            leaf=TABLE,
        )

    def context(self, betting: BettingState, seed: int, limits: Limits) -> Context:  # noqa: ARG002
        """What the player to act knows at the start of the flop."""
        states = betting_states(betting)
        first = next(i for i, state in enumerate(states) if state.round_index > 0)
        place = self._find(states[: first + 1], betting.actor, limits, is_past=True)
        return Context(states[first].text, place.ranges, {})

    def _departures(self, states: list[BettingState]) -> list[int]:
        """The numbers of the bets that no tree had so far."""
        found: list[int] = []
        tree, node = self._looked_up.tree, 0
        for i, (before, after) in enumerate(pairwise(states)):
            code = step_code(before, after)
            if code not in tree.actions_of(node):
                found.append(i)
                root = self._root(states, i, everything())
                tree, node = root.tree, root.node
            node = int(tree.children_of(node)[tree.actions_of(node).index(code)])
        return found

    def _root(self, states: list[BettingState], departure: int, ranges: F32) -> _Root:
        """The decision at which a departure is made, in a tree with all bets up to that one."""
        bets, before = _bets(states[: departure + 2]), states[: departure + 1]
        tree = preflop_tree(self._blueprint.definition, self._blueprint.menus, bets)
        node = tree.find(tuple([step_code(*step) for step in pairwise(before)]))
        return _Root(before[-1], tree, node, ranges)

    def _find(
        self,
        states: list[BettingState],
        seat: int,
        limits: Limits,
        is_past: bool,
        context: Context | None = None,
    ) -> _Place:
        """Follow a hand through what is played in it. Blocks if there is something new to solve.

        is_past  its last decision has been made: what was solved for it stays as it is
        context  of our last decision, which has the ranges by which it was made: a solve that was cut off may
                 have gone on since
        """
        started = time.monotonic()
        departures = self._departures(states)
        solution, node, ranges = self._looked_up, 0, everything()
        if self._always and 0 not in departures:
            root = _Root(states[0], solution.tree, 0, ranges)
            solution = self._solve(root, seat, limits, started, is_past or bool(departures))
        for i, (before, after) in enumerate(pairwise(states)):
            if i in departures:
                root = self._root(states, i, ranges)
                solution = self._solve(root, seat, limits, started, is_past or i < departures[-1])
                node, ranges = 0, solution.ranges.copy()
            index = solution.tree.actions_of(node).index(step_code(before, after))
            ranges[before.actor] = solution.narrowed(ranges[before.actor], node, index)
            if context is not None and context.text == after.text:
                ranges = context.ranges.copy()
            node = int(solution.tree.children_of(node)[index])
        return _Place(solution, node, ranges)

    def _solve(
        self, root: _Root, seat: int, limits: Limits, started: float, is_past: bool
    ) -> PreflopSolution:
        """The round solved for a seat from a decision on. Blocks if it is new.

        A solve that was cut off by its limits goes on when asked for again, unless its decisions are past;
        only whole ones are written.
        """
        tree = cut_tree(root.tree, root.node)
        ranges = np.stack([keep_alive(weights, np.ones(NUM_HANDS, dtype=bool)) for weights in root.ranges])
        key = hashlib.sha256(f"{_FORMAT}|{seat}|{self._iterations}|{root.betting.text}|".encode())
        for array in (tree.action, tree.parent, ranges):
            key.update(array.tobytes())
        name = key.hexdigest()[:24]
        found = self._known.get(name) or self._read(name, tree, ranges)
        if found is None:
            solver = self._unfinished.pop(name, None) or self._solver(root, ranges, seat)
            if not (is_past and solver.iterations):
                seconds = 1e6 if limits.seconds is None else limits.seconds
                deadline = started + (_PAST_SHARE * seconds if is_past else seconds)
                done = solver.solve(min(max(_LEAST_ITERATIONS, solver.iterations), self._iterations))
                solve_in_slices(solver.solve, done, self._iterations, deadline, limits)
            solution = solver.solution()
            rows = [solution.strategy(node) for node in np.flatnonzero(tree.kind == DECISION).tolist()]
            found = PreflopSolution(tree, ranges, np.concatenate(rows), solver.iterations)
            if found.iterations < self._iterations:
                _keep(self._unfinished, name, solver, _MOST_UNFINISHED)
                return found
            self._write(name, found)
        _keep(self._known, name, found, _MOST_KNOWN)
        return found

    def _solver(self, root: _Root, ranges: F32, seat: int) -> DepthLimitedSolver:
        definition, chooser = self._blueprint.definition, 1 - seat
        return preflop_solver(
            definition, root.tree, self._walk.tree, self._tables[chooser], chooser, root.node,
            ranges[:, _HAND_OF_CLASS],
        )  # fmt: skip

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.npy"

    def _read(self, name: str, tree: Tree, ranges: F32) -> PreflopSolution | None:
        path = self._path(name)
        try:
            table = np.load(path)
        except (OSError, ValueError, EOFError):
            return None  # not there, or damaged: solve it again
        with suppress(OSError):
            os.utime(path)  # in use: others are older
        if table.shape != (tree.round_rows[0], NUM_CLASSES):
            return None
        return PreflopSolution(tree, ranges, table, self._iterations)

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
            # A full or read-only disk costs solving again, no more.
            with suppress(OSError):
                partial.unlink()

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


def _look_up(blueprint: Blueprint) -> PreflopSolution:
    """The first round as the blueprint has it."""
    tree = preflop_tree(blueprint.definition, blueprint.menus, {})
    nodes = [tree.history_of(node) for node in np.flatnonzero(tree.kind == DECISION).tolist()]
    rows = [blueprint.rows(blueprint.tree.find(history)) for history in nodes]
    table = np.asarray(np.concatenate(rows) / np.float32(FULL), dtype=np.float32)
    return PreflopSolution(tree, everything(), table, iterations=0)


def _bets(states: list[BettingState]) -> dict[str, tuple[int]]:
    """Every raise of the first round, by the betting before it."""
    return {
        before.text: (after.max_spent,)
        for before, after in pairwise(states)
        if before.round_index == 0 and after.max_spent > before.max_spent
    }
