"""A game as flat arrays, in sequence form.

After von Stengel, 1996, "Efficient computation of behavior strategies":

1. A *sequence* of a player is an information set and an action in it; sequence 0 is to have done nothing.
   With perfect recall a sequence is also everything that the player did before.
2. Information sets are numbered so that a parent comes before its children, and the sequences of one
   information set follow each other. So one loop forward computes reaches, and one backward values.
3. A *strategy* is float64[sequences]: the probability of each action in its information set. A *plan* is the
   product of the probabilities on the way to and including each action. Entry 0 is 1 in both.
4. Terminals are entries of a matrix: sequence of player 0 × sequence of player 1, with the utility of
   player 0 times the probability of chance. Terminals with the same sequences and public state are one
   entry.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from numeric.arrays import F64, I32, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The information sets of one player."""

    parent: I32
    """int32[I]: the sequence that leads to the information set."""
    first: I32
    """int32[I]: the sequence of the first action."""
    count: I32
    """int32[I]: number of actions."""
    public: I32
    """int32[I]: public state."""
    action: I32
    """int32[sequences]: the last action, as the rules number it; -1 where there is none."""
    keys: tuple[Hashable, ...]
    """What the player knows, as the rules put it."""

    @property
    def num_infosets(self) -> int:
        """Number of information sets."""
        return len(self.parent)

    @property
    def num_sequences(self) -> int:
        """Number of sequences, with the empty one."""
        return 1 + int(self.count.sum())

    def sequences_in(self, infosets: Mask) -> Mask:
        """bool[sequences]: the actions of some information sets; never the empty sequence."""
        return np.concatenate([[False], np.repeat(infosets, self.count)])

    def only(self, infosets: Mask) -> tuple[I32, I32, I32]:
        """Parents, first sequences and counts of some information sets, for kernels."""
        return self.parent[infosets], self.first[infosets], self.count[infosets]

    def uniform(self) -> F64:
        """The strategy that plays all actions alike."""
        return np.concatenate([[1.0], np.repeat(1.0 / self.count, self.count)])


@dataclass(frozen=True, slots=True, eq=False)
class PublicTree:
    """The public states at which somebody acts."""

    parent: I32
    """int32[P]: the public state before; -1 at the start. Parents have lower numbers."""
    actor: I32
    """int32[P]: who acts."""
    level: I32
    """int32[P]: number of actions before, those of chance included."""
    keys: tuple[Hashable, ...]
    """What both players know, as the rules put it."""

    def below(self, root: int) -> Mask:
        """bool[P]: a public state and all that follow."""
        inside = np.zeros(len(self.parent), dtype=np.bool_)
        for public, parent in enumerate(self.parent.tolist()):
            inside[public] = public == root or (parent >= 0 and inside[parent])
        return inside

    def stage(self) -> I32:
        """int32[P]: how often chance acted since the first public state; in Leduc, the round."""
        stage = np.zeros_like(self.level)
        for public, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                stage[public] = stage[parent] + self.level[public] - self.level[parent] - 1
        return stage


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """A sparse matrix by rows: row r has the entries start[r] to start[r + 1]."""

    start: I32
    column: I32
    value: F64


@dataclass(frozen=True, eq=False)
class FlatGame:
    """A game as arrays. Solvers respond for player 0; `seen_by(1)` exchanges the players."""

    name: str
    sides: tuple[Side, Side]
    public: PublicTree
    row: I32
    """int32[T]: sequence of player 0 at each terminal."""
    column: I32
    """int32[T]: sequence of player 1."""
    at: I32
    """int32[T]: the last public state before the terminal."""
    chance: F64
    """float64[T]: probability of chance."""
    payoff: F64
    """float64[T]: probability of chance × utility of player 0."""

    @cached_property
    def by_row(self) -> Matrix:
        """The payoffs by sequences of player 0."""
        return by_rows(self.row, self.column, self.payoff, self.sides[0].num_sequences)

    @cached_property
    def by_column(self) -> Matrix:
        """The payoffs by sequences of player 1: the transposed matrix."""
        return by_rows(self.column, self.row, self.payoff, self.sides[1].num_sequences)

    def seen_by(self, player: int) -> FlatGame:
        """This game, or the one in which the players have changed names."""
        if player == 0:
            return self
        public = replace(self.public, actor=1 - self.public.actor)
        return FlatGame(
            self.name, self.sides[::-1], public, self.column, self.row, self.at, self.chance, -self.payoff
        )


def by_rows(row: I32, column: I32, value: F64, num_rows: int) -> Matrix:
    """A matrix from its entries; those in one place are added up."""
    order = np.lexsort((column, row))
    row, column, value = row[order], column[order], value[order]
    new = np.ones(len(row), dtype=np.bool_)
    new[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    heads = np.flatnonzero(new)
    sums = np.add.reduceat(value, heads) if len(heads) else value
    start = np.searchsorted(row[heads], np.arange(num_rows + 1)).astype(np.int32)
    return Matrix(start, column[heads], sums)
