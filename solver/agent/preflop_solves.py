"""Plays the first round, solving it from the first bet on that is not in the blueprint's tree.

1. As long as all bets are in the blueprint's tree, the round is looked up, because the blueprint is the
   solution of exactly this game. (Agents that always solve use their own solution.)
2. A bet that is not in the tree is a *departure*. The round is solved again from the node before the bet,
   with the bet in the tree, so the range that makes the bet is solved, too. Both players bring the ranges
   that follow from the betting so far. Ours is fixed, because our actions have been made. The opponent's is
   only the best estimate; if the departure is their first action, it is the full range.
3. From there on this solution is played, and the flop's ranges come from it. Another bet that it does not
   have is another departure, solved with the ranges of this solution, as on later streets
   (`solver.resolving.root`).
4. Solutions are identified by seat, by betting and ranges at their root, and by tree. Finished ones are kept
   on disk.

The interface is that of `solver.agent.preflop_lookup`, which is used where a blueprint has no leaf table.
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
from game.hands import HAND_CLASS, NUM_CLASSES, NUM_HANDS, unblocked
from numeric.arrays import F32
from numeric.folders import writable_cache
from solver.blueprint.file import FULL, Blueprint
from solver.blueprint.walk import BlueprintWalk
from solver.decisions.decision import Decision, Method
from solver.decisions.limits import Limits, solve_in_slices
from solver.decisions.range_strategy import RangeStrategy
from solver.decisions.settings import TABLE
from solver.depth_limited.preflop import SCHEDULE, LeafTable, preflop_solver, preflop_tree
from solver.depth_limited.solver import DepthLimitedSolver
from solver.exact.cut import cut_tree
from solver.games.history import betting_states, coded_action, step_code
from solver.games.tree import DECISION, FOLD_ACTION, Tree
from solver.resolving.context import Context
from solver.resolving.ranges import full_ranges, living_range, narrowed_range, was_done

_T = TypeVar("_T")

_ITERATIONS = 500
_LEAST_ITERATIONS = 8
_PAST_SHARE = 0.5
"""Share of the time for solving earlier decisions again, if their solutions are no longer in memory."""
_MOST_KNOWN = 64
"""Maximum number of solutions in memory."""
_MOST_UNFINISHED = 4
"""Maximum number of unfinished solves to keep, which can be continued."""
_MOST_FILES = 2_000
"""Maximum number of solutions on disk, about 100 KB each. The oldest are deleted."""
_FORMAT = 2
"""Version of the files; part of their names, so that another version solves everything again."""

_HAND_OF_CLASS = np.unique(HAND_CLASS, return_index=True)[1]


@dataclass(frozen=True, slots=True, eq=False)
class PreflopSolution:
    """The first round from one decision on, solved for one seat or looked up."""

    tree: Tree
    ranges: F32
    """float32[2, 1326]: both players' ranges at the first decision."""
    table: F32
    """float32[rows, 169]: strategies, the rows of one node after the other."""
    iterations: int
    """0 if looked up."""

    def strategy(self, node: int) -> F32:
        """float32[A, 1326]: action probabilities at a decision node."""
        first = int(self.tree.action_row[node])
        rows: F32 = self.table[first : first + len(self.tree.children_of(node))][:, HAND_CLASS]
        return rows

    def narrowed(self, weights: F32, node: int, index: int) -> F32:
        """A range after an action at a node.

        If the strategy was solved, rare actions narrow the range, too (`solver.resolving.ranges`, rule 2).

        weights  float32[1326]
        """
        taken = self.strategy(node)[index]
        if not self.iterations:
            return narrowed_range(weights, taken)
        left: F32 = weights * taken
        return left if was_done(weights, left, SCHEDULE.first_share(self.iterations)) else weights


@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """Root of a solve."""

    betting: BettingState
    tree: Tree
    """Tree of the whole round."""
    node: int
    ranges: F32
    """float32[2, 1326]"""


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """The node that a hand's betting has reached."""

    solution: PreflopSolution
    node: int
    ranges: F32


class SolvedPreflop:
    """Strategies and ranges of the first round by solving. Not for concurrent calls."""

    def __init__(
        self,
        blueprint: Blueprint,
        walk: BlueprintWalk,
        tables: tuple[LeafTable, LeafTable],
        always: bool = False,
        folder: Path | None = None,
        iterations: int = _ITERATIONS,
    ) -> None:
        """Use a blueprint and its leaf tables.

        always  solve even while all bets are in the blueprint's tree
        """
        self._blueprint, self._walk, self._tables, self._always = blueprint, walk, tables, always
        self._folder = writable_cache() / "preflop" / blueprint.identity if folder is None else folder
        self._iterations = iterations
        self._looked_up = _look_up(blueprint)
        self._known: dict[str, PreflopSolution] = {}
        self._unfinished: dict[str, DepthLimitedSolver] = {}

    def solves(self, betting: BettingState) -> bool:
        """Whether a decision is solved rather than looked up."""
        return self._always or bool(self._departures(betting_states(betting)))

    def decide(
        self,
        betting: BettingState,
        board: Cards,
        context: Context | None,
        seed: int,  # noqa: ARG002
        limits: Limits,
    ) -> Decision:
        """The strategy of every hand, both ranges, and the opponent's replies."""
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
        """The context of the player to act at the start of the flop."""
        states = betting_states(betting)
        first = next(i for i, state in enumerate(states) if state.round_index > 0)
        place = self._find(states[: first + 1], betting.actor, limits, is_past=True)
        return Context(states[first].text, place.ranges, {})

    def _departures(self, states: list[BettingState]) -> list[int]:
        """Indices of the actions that the tree did not have so far."""
        found: list[int] = []
        tree, node = self._looked_up.tree, 0
        for i, (before, after) in enumerate(pairwise(states)):
            code = step_code(before, after)
            if code not in tree.actions_of(node):
                found.append(i)
                root = self._root(states, i, full_ranges())
                tree, node = root.tree, root.node
            node = int(tree.children_of(node)[tree.actions_of(node).index(code)])
        return found

    def _root(self, states: list[BettingState], departure: int, ranges: F32) -> _Root:
        """The decision node of a departure, in a tree with all bets up to and including it."""
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
        """Follow a hand through the solutions it is played by. Blocks while it solves new ones.

        is_past  the last decision has been made: what was solved for it stays as it is
        context  from our last decision, with the ranges that it was made with; an unfinished solve may have
                 been continued since then
        """
        started = time.monotonic()
        departures = self._departures(states)
        solution, node, ranges = self._looked_up, 0, full_ranges()
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
        """Solve the round for a seat from a decision on, or find the solution. Blocks if it is new.

        An unfinished solve is continued when it is asked for again, unless its decisions are past. Only
        finished ones are written to disk.
        """
        tree = cut_tree(root.tree, root.node)
        ranges = np.stack([living_range(weights, np.ones(NUM_HANDS, dtype=bool)) for weights in root.ranges])
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
            return None  # missing or damaged: solve it again
        with suppress(OSError):
            os.utime(path)  # mark as used, so that others are deleted first
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
            # If the disk is full or read-only, solutions are just solved again.
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
    """Add an entry to a dictionary of limited size; the oldest entries are dropped."""
    shelf.pop(name, None)
    shelf[name] = thing
    while len(shelf) > most:
        del shelf[next(iter(shelf))]


def _look_up(blueprint: Blueprint) -> PreflopSolution:
    """The first round of the blueprint."""
    tree = preflop_tree(blueprint.definition, blueprint.menus, {})
    nodes = [tree.history_of(node) for node in np.flatnonzero(tree.kind == DECISION).tolist()]
    rows = [blueprint.rows(blueprint.tree.find(history)) for history in nodes]
    table = np.asarray(np.concatenate(rows) / np.float32(FULL), dtype=np.float32)
    return PreflopSolution(tree, full_ranges(), table, iterations=0)


def _bets(states: list[BettingState]) -> dict[str, tuple[int]]:
    """Every raise of the first round, by the betting before it."""
    return {
        before.text: (after.max_spent,)
        for before, after in pairwise(states)
        if before.round_index == 0 and after.max_spent > before.max_spent
    }
