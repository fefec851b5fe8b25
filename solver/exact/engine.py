"""The working memory and threads of the kernels for one game. Callers handle no scratch and no barriers."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from numeric.arrays import F32, F64, I64, U8
from numeric.cpu_affinity import keep_off, processor_here
from numeric.threads import DEADLINE, NO_DEADLINE, NUM_COUNTERS, STOPPED
from solver.exact.kernels.walk import EVALUATE, RESPOND, UPDATE, iterate, run_pass
from solver.exact.program import compile_tree
from solver.exact.river_parts import Part, cut_hands
from solver.games.game import Game
from solver.games.layout import (
    CHUNKS,
    LANES,
    LINE,
    Boards,
    Gadget,
    Scratch,
    Shape,
    Step,
    Tables,
    Team,
    aligned,
)

__all__ = ["EVALUATE", "RESPOND", "UPDATE", "Engine"]


_EMPTY = np.zeros(0, dtype=np.float32)
_NOTHING = np.zeros((0, 0), dtype=np.float32)
_BATCH = 8
"""Groups of terminals between two barriers on a single river: their lanes fit the second-level cache."""
_WORTH_WAKING = 1000
"""Groups of terminals, over all iterations of a call, from which on more threads pay off on a single
river."""
_FOREVER_SECONDS = 1e9  # still an int64 in nanoseconds


@dataclass(slots=True)
class _Worker:
    """One thread's view of a game and its working memory."""

    shape: Shape
    boards: Boards
    team: Team
    scratch: Scratch
    part: Part | None = None
    """This thread's part of a single river that threads share."""
    tables: Tables | None = None
    """Tables of the part."""


class _Share(NamedTuple):
    """The arrays that one thread's iterations change, and the ranges they start from."""

    tables: Tables
    gadget: Gadget
    reach: F32
    root_value: F32


class Engine:
    """Runs passes over one game. Not for concurrent calls; every call blocks until done or stopped."""

    def __init__(self, game: Game, threads: int = 1) -> None:
        self.game = game
        self.threads = threads
        stride = game.stride
        self._compiled = compile_tree(game.tree, game.chance)
        self._root = self._rows(stride)
        self._counters = np.zeros(NUM_COUNTERS, dtype=np.int64)
        lone = game.tree.num_rounds == 1
        self._alone = self._all = self._share_boards(1 if lone else threads)
        if lone and threads > 1:
            self._all = self._share_hands(threads) or self._alone
        workers = len(self._all)
        self._pool = ThreadPoolExecutor(workers - 1, "solver") if workers > 1 else None
        self.reach = np.zeros((2, stride), dtype=np.float32)
        self.reach[:, : game.num_hands] = game.ranges
        self._root_value = np.zeros((2, stride), dtype=np.float32)
        self.stop_word: I64 = np.array([0, NO_DEADLINE], dtype=np.int64)

    @property
    def memory_bytes(self) -> int:
        """Bytes of working memory: scratch, boards and programs, without the tables."""
        arrays: list[npt.NDArray[Any]] = [*self.game.boards, *self._compiled.program]
        for worker in (*self._alone, *self._all):
            team = worker.team
            arrays += [
                team.chunks,
                team.told,
                team.own,
                team.lanes,
                team.fold_lanes,
                *team.root,
                *worker.scratch,
            ]
            arrays += worker.tables or ()
        return sum(array.nbytes for array in {id(array): array for array in arrays}.values())

    def set_deadline(self, deadline: float | None) -> None:
        """Stop running passes at this time of `time.monotonic`. None: no deadline, and clear any stop."""
        if deadline is None:
            self.stop_word[:] = 0, NO_DEADLINE
            return
        left = int(1e9 * min(deadline - time.monotonic(), _FOREVER_SECONDS))
        self.stop_word[DEADLINE] = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + left

    def iterate(self, tables: Tables, schedule: F64, floor: float, gadget: Gadget | None = None) -> int:
        """Run one iteration per row of `schedule`; return how many were finished before a stop."""
        choice = no_gadget() if gadget is None else gadget
        # A few iterations on a single river are over before another thread has woken up.
        worth = len(schedule) * len(self._compiled.program.lane_kind) >= _WORTH_WAKING
        workers = self._all if worth else self._alone

        # Copied here, not in the threads: copying all at once, they would queue for Python's lock.
        shares = [_take_share(one, tables, choice, self.reach, self._root_value) for one in workers]

        def work(thread: int) -> int:
            one, share = workers[thread], shares[thread]
            return iterate(
                thread, one.shape, one.boards, self._compiled.program, share.tables, one.team, one.scratch,
                share.gadget, share.reach, share.root_value, schedule, floor, self.stop_word,
            )  # fmt: skip

        finished = self._together(workers, work)
        for one, share in zip(workers, shares, strict=True):
            if one.part is not None:
                _give_back(one.part, share, tables, choice, self._root_value)
        return finished

    def root_values(
        self, table: F32, player: int, mode: int, reach: F32 | None = None, frozen: U8 | None = None
    ) -> F32 | None:
        """float32[H]: a player's counterfactual values at the root, in chips × opponent's weight.

        table   strategies as regrets or strategy sums, which are normalised on the way
        mode    EVALUATE for the player's own strategy in `table`, RESPOND for their best response
        reach   float32[H]: the opponent's range, instead of the game's
        frozen  uint8[N]: nodes at which even a best response plays the strategy in `table`

        Returns None if stopped.
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
            one = self._alone[thread]
            return run_pass(
                thread, one.shape, one.boards, self._compiled.program, tables, step, one.team, one.scratch,
                opponent, value, self.stop_word,
            )  # fmt: skip

        return value[: game.num_hands] if self._together(self._alone, work) else None

    def action_values(self, player: int) -> dict[int, F32]:
        """float32[A, H] by decision node of a player in the first round, from their last pass."""
        program = self._compiled.program
        segment = player * int(program.round_segments[-1])
        rows = self._root.value.reshape(-1, self.game.stride)[:, : self.game.num_hands]
        steps = program.up[program.segments[segment, 4] : program.segments[segment, 5]]
        return {node: rows[child : child + count].copy() for _, count, child, _, _, node in steps.tolist()}

    def _share_boards(self, threads: int) -> list[_Worker]:
        """Workers that share the boards of the second round and the hands of the first."""
        game = self.game
        shape = Shape(game.stride, game.num_cards, game.tree.num_rounds)
        team = self._team(0, threads)
        scratches = [self._rows(game.stride if shape.num_rounds > 1 else 0) for _ in range(threads)]
        return [_Worker(shape, game.boards, team, self._with_lanes(rows, game.stride)) for rows in scratches]

    def _share_hands(self, threads: int) -> list[_Worker]:
        """Workers that share the hands of a single river; empty if there are too few hands."""
        parts = cut_hands(self.game.boards, self.game.stride, threads)
        if len(parts) == 1:
            return []
        team, line = self._team(_BATCH, len(parts)), self._line
        workers = []
        for part in parts:
            rows, places = self._rows(part.width), (part.width + 1) * LANES
            own = team._replace(
                root=rows,
                own=_table(2 * _BATCH, line),
                lanes=_table(_BATCH, places),
                fold_lanes=_table(_BATCH, places),
            )
            shape = Shape(part.width, self.game.num_cards, 1)
            workers.append(_Worker(shape, part.boards, own, self._with_lanes(rows, part.width), part))
        return workers

    @property
    def _line(self) -> int:
        """Elements of S and F, rounded up to whole cache lines."""
        return -(-(self.game.num_cards + 1) * LANES // LINE) * LINE

    def _team(self, batch: int, threads: int) -> Team:
        leaves = np.array(self._compiled.leaf_rows, dtype=np.int32).reshape(2, -1, 2)
        return Team(
            self._root,
            aligned(CHUNKS * leaves.shape[1] * self.game.stride),
            np.ascontiguousarray(leaves[..., 0]),
            np.ascontiguousarray(leaves[..., 1]),
            self._counters,
            _table(2 * batch * threads * 2, self._line),
            _NOTHING,
            _NOTHING,
            _NOTHING,
            batch,
            threads,
        )

    def _rows(self, stride: int) -> Scratch:
        reach, value = (
            aligned(self._compiled.reach_rows * stride),
            aligned(self._compiled.value_rows * stride),
        )
        return Scratch(reach, value, _EMPTY, _EMPTY, _EMPTY, _EMPTY)

    def _with_lanes(self, rows: Scratch, stride: int) -> Scratch:
        lanes, folds, out = (aligned((stride + 1) * LANES) for _ in range(3))
        return Scratch(rows.reach, rows.value, lanes, folds, out, aligned((self.game.num_cards + 1) * LANES))

    def _together(self, workers: list[_Worker], work: Callable[[int], int]) -> int:
        self._counters[STOPPED::LANES] = 0
        if self._pool is None or len(workers) == 1:
            return work(0)
        here = processor_here()

        def join(thread: int) -> int:
            keep_off(here)
            return work(thread)

        others = [self._pool.submit(join, thread) for thread in range(1, len(workers))]
        answer = work(0)
        for other in others:
            other.result()
        return answer


def _take_share(one: _Worker, tables: Tables, gadget: Gadget, reach: F32, root_value: F32) -> _Share:
    if one.part is None:
        return _Share(tables, gadget, reach, root_value)
    one.tables = one.part.take_tables(tables, one.tables)
    own_gadget = one.part.take_gadget(gadget) if gadget.player >= 0 else gadget
    own_reach = one.part.take(reach).reshape(2, -1)
    return _Share(one.tables, own_gadget, own_reach, np.zeros_like(own_reach))


def _give_back(part: Part, share: _Share, tables: Tables, gadget: Gadget, root_value: F32) -> None:
    part.give_back(share.root_value, root_value)
    part.give_back(share.tables.regret, tables.regret)
    part.give_back(share.tables.average, tables.average)
    part.give_back(share.tables.basis, tables.basis)
    if gadget.player >= 0:
        part.give_back(share.gadget.regret, gadget.regret)
        part.give_back(share.gadget.reach, gadget.reach)
        part.give_back(share.gadget.value, gadget.value)


def _table(rows: int, columns: int) -> F32:
    return aligned(rows * columns).reshape(rows, columns)


def no_gadget() -> Gadget:
    """A gadget that does nothing."""
    nothing = np.zeros(0, dtype=np.float32)
    return Gadget(-1, nothing, nothing, nothing, 0.0)


def make_gadget(engine: Engine, player: int, alternative: F32, forced: float = 0.0) -> Gadget:
    """A gadget: `player` enters, or takes the alternative counterfactual values float32[H]."""
    game = engine.game
    rooms = aligned(2 * game.stride), aligned(3 * game.stride), aligned(3 * game.stride)
    gadget = Gadget(player, *rooms, forced)
    gadget.reach[: game.num_hands] = game.ranges[player]
    gadget.value[2 * game.stride : 2 * game.stride + game.num_hands] = alternative
    return gadget
