"""Splits a single river into parts of its hands, one for each thread (`kernels.river_parts`).

Except at terminals, a part is a game of its own; there a hand's value depends on the opponent's hands in all
parts. While threads iterate, a part also has its own rows and tables: if rows of two parts were adjacent in
memory, each processor would prefetch what the other is writing. Measured, that costs more than a second
thread gains.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from numeric.arrays import F32
from solver.games.layout import LINE, Boards, Gadget, Tables, aligned

_LEAST_HANDS = 64
"""Parts with fewer hands are not worth a thread."""


@dataclass(frozen=True, slots=True)
class Part:
    """Hands begin..end-1 of a one-round game whose rows are `stride` apart; whole tie groups only."""

    begin: int
    end: int
    stride: int
    boards: Boards
    """The root board with only these hands."""

    @property
    def width(self) -> int:
        """The stride of the part's own rows."""
        return ((self.end - self.begin) // LINE + 1) * LINE

    def take(self, whole: F32, mine: F32 | None = None) -> F32:
        """Copy the part's columns of some rows, into `mine` if it has the right size."""
        rows = whole.reshape(-1, self.stride)[:, self.begin : self.end]
        size = len(rows) * self.width
        kept = aligned(size) if mine is None or mine.size != size else mine
        kept.reshape(-1, self.width)[:, : rows.shape[1]] = rows
        return kept

    def give_back(self, mine: F32, whole: F32) -> None:
        """Copy columns taken by `take` back."""
        rows = mine.reshape(-1, self.width)[:, : self.end - self.begin]
        whole.reshape(-1, self.stride)[:, self.begin : self.end] = rows

    def take_tables(self, whole: Tables, mine: Tables | None) -> Tables:
        """`take` all tables but `frozen`, which is shared."""
        kept = (None, None, None) if mine is None else (mine.regret, mine.average, mine.basis)
        return Tables(
            self.take(whole.regret, kept[0]),
            self.take(whole.average, kept[1]),
            self.take(whole.basis, kept[2]),
            whole.frozen,
        )

    def take_gadget(self, whole: Gadget) -> Gadget:
        """`take` a gadget."""
        regret, reach, value = self.take(whole.regret), self.take(whole.reach), self.take(whole.value)
        return Gadget(whole.player, regret, reach, value, whole.forced)


def cut_hands(boards: Boards, stride: int, wanted: int) -> list[Part]:
    """Split into up to `wanted` parts of similar size; a single part if hands are not in order of strength.

    Tie groups are not split, so there are fewer parts if many hands are equal.
    """
    live, groups = int(boards.live[0]), int(boards.groups[0])
    edges = [0, live]
    if groups > 0 and np.array_equal(boards.position[0, :live], np.arange(live)):
        ends = boards.ends[0, :groups].astype(np.int64)
        near = [int(ends[np.abs(ends - live * k / wanted).argmin()]) for k in range(1, wanted)]
        inner = [edge for edge in near if _LEAST_HANDS <= edge <= live - _LEAST_HANDS]
        edges = sorted({0, live, *inner})
    return [_cut(boards, stride, begin, end) for begin, end in pairwise(edges)]


def _cut(boards: Boards, stride: int, begin: int, end: int) -> Part:
    live = end - begin
    ends = boards.ends[0, : boards.groups[0]].astype(np.int64)
    own_ends = ends[(ends > begin) & (ends <= end)] - begin
    part = Part(begin, end, stride, boards)
    position = np.full((1, part.width), part.width, dtype=np.uint16)
    position[0, :live] = np.arange(live)
    own_boards = boards._replace(
        position=position,
        pair=np.ascontiguousarray(boards.pair[:1, begin:end]),
        ends=own_ends.astype(np.uint16)[None],
        live=np.array([live], dtype=np.int32),
        groups=np.array([len(own_ends)], dtype=np.int32),
    )
    return Part(begin, end, stride, own_boards)
