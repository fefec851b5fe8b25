"""The solver: counterfactual regret minimisation that can be stopped at any time.

It runs in slices and can measure exploitability between them. The kernels poll a stop word and the clock once
per board, so a deadline is kept to about a millisecond, and the average strategy is valid whenever they
return.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numeric.arrays import F32
from solver.exact.engine import Engine
from solver.exact.exploitability import Quality, exploitability, measure
from solver.exact.schedules import DEFAULT_SCHEDULE, Schedule
from solver.exact.solution import Solution
from solver.games.game import Game
from solver.games.layout import Gadget, Tables, aligned
from solver.games.tree import DECISION

_SLICE = 512
"""Iterations per call without checks. Large, because every call has to wake up the other threads."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a solve stands."""

    iterations: int
    seconds: float
    """Time spent iterating, without exploitability checks."""
    exploitability: float | None
    """In chips, as of the last check."""


class Solver:
    """Solves one game. Typical use: `Solver(game).solve(target=...)`, then `.solution()`."""

    def __init__(
        self,
        game: Game,
        schedule: Schedule = DEFAULT_SCHEDULE,
        threads: int = 1,
        gadget: Callable[[Engine], Gadget] | None = None,
    ) -> None:
        self.game = game
        self.schedule = schedule
        self.iterations = 0
        self.head_start = 0
        """Iterations that the warm start counts as (`solver.depth_limited.turn_start`)."""
        self.engine = Engine(game, threads)
        self._gadget = gadget(self.engine) if gadget else None
        self.regret = aligned(game.table_size)
        self.average = aligned(game.table_size)
        self.basis = aligned(game.table_size if schedule.predictive else 0)
        self.frozen = np.zeros(game.tree.num_nodes, dtype=np.uint8)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all tables and of the working memory."""
        return self.regret.nbytes + self.average.nbytes + self.basis.nbytes + self.engine.memory_bytes

    def stop(self) -> None:
        """Make a running `run` or `solve` return soon. Any thread may call it. Holds until a `solve` ends."""
        self.engine.stop_word[0] = 1

    def run(self, iterations: int) -> int:
        """Run iterations until done or stopped; return how many were finished. Blocks."""
        table = self.schedule.table(self.head_start + self.iterations, iterations)
        tables = Tables(self.regret, self.average, self.basis, self.frozen)
        finished = self.engine.iterate(tables, table, self.schedule.floor, self._gadget)
        self.iterations += finished
        return finished

    def solve(
        self,
        max_iterations: int = 1_000_000,
        target: float | None = None,
        deadline: float | None = None,
        report: Callable[[Progress], None] | None = None,
    ) -> Progress:
        """Solve until the target, the deadline or the maximum is reached. Blocks.

        target    exploitability in chips
        deadline  by the clock of `time.monotonic`

        With a target or a report, exploitability is checked whenever iterations have grown by a tenth.
        """
        if deadline is not None:
            self.engine.set_deadline(deadline)
        checking = target is not None or report is not None
        seconds, found = 0.0, None
        try:
            while self.iterations < max_iterations and not self.engine.stop_word[0]:
                count = max(10, self.iterations // 10) if checking else _SLICE
                started = time.perf_counter()
                self.run(min(count, max_iterations - self.iterations))
                seconds += time.perf_counter() - started
                if checking and not self.engine.stop_word[0]:
                    now = self.exploitability()
                    found = found if np.isnan(now) else now
                    if report is not None:
                        report(Progress(self.iterations, seconds, found))
                    if target is not None and found is not None and found <= target:
                        break
        finally:
            self.engine.set_deadline(None)
        return Progress(self.iterations, seconds, found)

    @property
    def first_share(self) -> float:
        """Share of the first iteration in the average strategies."""
        return self.schedule.share_of(self.head_start + 1, self.head_start + self.iterations)

    def exploitability(self) -> float:
        """Exploitability of the average strategies, in chips. NaN if stopped during the check.

        Responses keep to locks. A gadget is ignored, as if the opponent always entered, so this is no target
        for a safe solve.
        """
        return exploitability(self.engine, self.average, self.frozen)

    def quality(self) -> Quality:
        """Values and best responses of the average strategies; responses keep to locks."""
        return measure(self.engine, self.average, self.frozen)

    def solution(self) -> Solution:
        """The average strategies so far; shares memory with the solver."""
        return Solution(self.game, self.average, self.iterations)

    def lock(self, node: int, strategy: F32, board: int | None = None) -> None:
        """Fix the strategy float32[A, H] of a decision node; it is not updated any more.

        board  lock the node on this board; None: on every board of the node's round. A node that is locked on
               one board stops learning on the others, too, where it plays by its current regrets: lock those
               as well
        """
        game = self.game
        if game.tree.kind[node] != DECISION:
            raise ValueError(f"node {node} is not a decision node")
        num_actions = len(game.tree.children_of(node))
        given = np.asarray(strategy, dtype=np.float32)
        if (
            given.shape != (num_actions, game.num_hands)
            or not (np.isfinite(given) & (given >= 0)).all()
            or (given.sum(axis=0) <= 0).any()
        ):
            raise ValueError(
                f"a strategy of node {node} needs {num_actions} rows of {game.num_hands} weights >= 0, "
                "with a positive sum for every hand"
            )
        chosen = [board] if board is not None else game.boards_of_round(int(game.tree.round[node]))
        for b in chosen:
            start = int(game.boards.table[b]) + int(game.tree.action_row[node]) * game.stride
            for table in (self.regret, self.average):
                rows = table[start : start + num_actions * game.stride].reshape(num_actions, game.stride)
                rows[:, : game.num_hands] = given
        self.frozen[node] = 1
