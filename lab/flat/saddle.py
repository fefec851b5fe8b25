"""The one problem that every response solves, in one step or in many.

Player 0 looks for the strategy that is best in the worst case, where

- player 0 is bound to a given strategy in the public states that were solved before;
- in the public states that were seen, up to the depth limit, player 1 plays the model with probability p
  and is free otherwise, and player 0 does not learn which (the restricted Nash response of Johanson,
  Zinkevich and Bowling, 2008, "Computing robust counter-strategies"). Both reach the rest of the game
  together: there one free player has their joint reach `p * model + (1 - p) * free`. Nothing is doubled
  (Milec, Kubicek and Lisy, section 4, "Computing CDRNR").

p = 0 is an equilibrium; p = 1 with all public states seen is a best response; p = 1 up to a depth limit is
a step of CDBR, any other p one of CDRNR. Below the depth limit both players are free, which is the optimal
value function.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.flat.game import FlatGame
from numeric.arrays import F64, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Saddle:
    """See the module. The sets of public states are closed: they contain what comes before their members."""

    game: FlatGame
    ours: F64
    """float64[sequences of 0]: the given strategy; read where `solved`."""
    solved: Mask
    """bool[P]: public states in which player 0 is bound."""
    model: F64
    """float64[sequences of 1]: the model's reaches; read where `seen`."""
    seen: Mask
    """bool[P]: public states in which the model plays."""
    p: float

    @property
    def bound(self) -> Mask:
        """bool[information sets of 0]: those with a given strategy."""
        return self.solved[self.game.sides[0].public]

    @property
    def covered(self) -> Mask:
        """bool[information sets of 1]: those in which the model plays."""
        return self.seen[self.game.sides[1].public]

    def stakes(self) -> tuple[F64, F64]:
        """How the value depends on player 1: float64[sequences of 1] and float64[information sets of 1].

        The value is `direct · q + inflow · v`. q is the utility that player 0's plan gets at each sequence of
        player 1 without what follows, v what it gets from an information set on against the best response.
        """
        side, p = self.game.sides[1], self.p
        direct = np.where(side.sequences_in(self.covered), p * self.model, 0.0)
        direct[0] = 1.0
        inflow = np.where(self.covered, 0.0, direct[side.parent])
        inflow[(side.parent == 0) & self.covered] = 1 - p
        return direct, inflow


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A strategy of player 0, and what it gets in the worst case."""

    value: float
    strategy: F64


def whole_game(game: FlatGame, p: float = 0.0, model: F64 | None = None) -> Saddle:
    """No depth limit: an equilibrium, or a restricted Nash response to a model's reaches."""
    one, other = game.sides
    publics = len(game.public.parent)
    reaches = np.zeros(other.num_sequences) if model is None else model
    return Saddle(
        game, one.uniform(), np.zeros(publics, dtype=np.bool_), reaches, np.ones(publics, dtype=np.bool_), p
    )
