"""The kernels' working memory and threads for one game. Above it, nobody handles scratch or barriers."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from solver.game import Game
from solver.kernels.threads import DEADLINE, NO_DEADLINE, NUM_COUNTERS
from solver.kernels.walk import EVALUATE, RESPOND, UPDATE, iterate, run_pass
from solver.layout import CHUNKS, F32, F64, I64, U8, Gadget, Scratch, Shape, Step, Tables, Team, aligned
from solver.program import compile_tree

__all__ = ["EVALUATE", "RESPOND", "UPDATE", "Engine"]


_EMPTY = np.zeros(0, dtype=np.float32)
_FOREVER_SECONDS = 1e9  # in nanoseconds still an int64


class Engine:
    """Runs passes over one game. Not for concurrent calls; each call blocks until done or stopped."""

    def __init__(self, game: Game, threads: int = 1) -> None:
        self.game = game
        self.threads = threads
        stride = game.stride
        self._compiled = compile_tree(game.tree, game.chance)
        self._shape = Shape(stride, game.num_cards, game.tree.num_rounds)
        leaves = np.array(self._compiled.leaf_rows, dtype=np.int32).reshape(2, -1, 2)
        chunks = aligned(CHUNKS * leaves.shape[1] * stride)
        counters = np.zeros(NUM_COUNTERS, dtype=np.int64)
        self._team = Team(
            self._scratch(rows=True, lanes=False),
            chunks,
            np.ascontiguousarray(leaves[..., 0]),
            np.ascontiguousarray(leaves[..., 1]),
            counters,
            threads,
        )
        self._scratches = [self._scratch(game.tree.num_rounds > 1, lanes=True) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads - 1, "solver") if threads > 1 else None
        self.reach = np.zeros((2, stride), dtype=np.float32)
        self.reach[:, : game.num_hands] = game.ranges
        self._root_value = np.zeros((2, stride), dtype=np.float32)
        self.stop_word: I64 = np.array([0, NO_DEADLINE], dtype=np.int64)

    @property
    def memory_bytes(self) -> int:
        """Working memory: scratch, boards and programs, without the tables."""
        arrays: list[npt.NDArray[Any]] = [
            *self._team.root,
            self._team.chunks,
            *self.game.boards,
            *self._compiled.program,
        ]
        for scratch in self._scratches:
            arrays += scratch
        return sum(array.nbytes for array in arrays)

    def set_deadline(self, deadline: float | None) -> None:
        """Stop what runs at a time of `time.monotonic`. None: no deadline, and a stop is over."""
        if deadline is None:
            self.stop_word[:] = 0, NO_DEADLINE
            return
        left = int(1e9 * min(deadline - time.monotonic(), _FOREVER_SECONDS))
        self.stop_word[DEADLINE] = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + left

    def iterate(self, tables: Tables, schedule: F64, floor: float, gadget: Gadget | None = None) -> int:
        """Run iterations, one per row of `schedule`; returns how many were finished before a stop."""
        choice = no_gadget() if gadget is None else gadget
        game = self.game

        def work(thread: int) -> int:
            return iterate(
                thread, self._shape, game.boards, self._compiled.program, tables, self._team,
                self._scratches[thread], choice, self.reach, self._root_value, schedule, floor,
                self.stop_word,
            )  # fmt: skip

        return self._together(work)

    def root_values(
        self, table: F32, player: int, mode: int, reach: F32 | None = None, frozen: U8 | None = None
    ) -> F32 | None:
        """float32[H]: a player's counterfactual values at the root, in chips × opponent's weight.

        table  strategies: regrets or strategy sums, normalised on the way
        mode   EVALUATE for the player's own strategy in `table`, RESPOND for his best response
        reach  float32[H]: the opponent's range instead of the game's
        frozen uint8[N]: nodes at which even a best response plays what `table` says
        None if stopped.
        """
        game = self.game
        opponent = self.reach[1 - player]
        if reach is not None:
            opponent = np.zeros(game.stride, dtype=np.float32)
            opponent[: game.num_hands] = reach
        if frozen is None:
            frozen = np.zeros(game.tree.num_nodes, dtype=np.uint8)
        tables, step = Tables(table, table, _EMPTY, frozen), Step(player, mode, 1.0, 1.0, 1.0, 1.0, 0.0)
        value = np.zeros(game.stride, dtype=np.float32)

        def work(thread: int) -> int:
            return run_pass(
                thread, self._shape, game.boards, self._compiled.program, tables, step, self._team,
                self._scratches[thread], opponent, value, self.stop_word,
            )  # fmt: skip

        return value[: game.num_hands] if self._together(work) else None

    def action_values(self, player: int) -> dict[int, F32]:
        """float32[A, H] for each own node of a player in the first round, as his last pass found it."""
        program = self._compiled.program
        segment = player * int(program.round_segments[-1])
        rows = self._team.root.value.reshape(-1, self.game.stride)[:, : self.game.num_hands]
        steps = program.up[program.segments[segment, 4] : program.segments[segment, 5]]
        return {node: rows[child : child + count].copy() for _, count, child, _, _, node in steps.tolist()}

    def _scratch(self, rows: bool, lanes: bool) -> Scratch:
        stride, places = self.game.stride, (self.game.stride + 1) * 8 if lanes else 0
        return Scratch(
            aligned(self._compiled.reach_rows * stride if rows else 0),
            aligned(self._compiled.value_rows * stride if rows else 0),
            aligned(places),
            aligned(places),
            aligned(places),
            aligned((self.game.num_cards + 1) * 8),
        )

    def _together(self, work: Callable[[int], int]) -> int:
        if self._pool is None:
            return work(0)
        others = [self._pool.submit(work, thread) for thread in range(1, self.threads)]
        answer = work(0)
        for other in others:
            other.result()
        return answer


def no_gadget() -> Gadget:
    """The absence of a choice before the root."""
    nothing = np.zeros(0, dtype=np.float32)
    return Gadget(-1, nothing, nothing, nothing)


def make_gadget(engine: Engine, player: int, alternative: F32) -> Gadget:
    """A choice for `player` between entering and float32[H] alternative counterfactual values."""
    game = engine.game
    gadget = Gadget(player, aligned(2 * game.stride), aligned(3 * game.stride), aligned(3 * game.stride))
    gadget.reach[: game.num_hands] = game.ranges[player]
    gadget.value[2 * game.stride : 2 * game.stride + game.num_hands] = alternative
    return gadget
