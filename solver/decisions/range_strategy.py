"""A player's strategy for every hand at one point of the betting, as used by players, LBR and AIVAT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from game.actions import Action
from numeric.arrays import F32


@dataclass(frozen=True, slots=True, eq=False)
class RangeStrategy:
    """Actions, and their probabilities for each hand.

    Depends only on the public state (betting and board), not on the player's cards.
    """

    actions: tuple[Action, ...]
    """Legal and distinct."""
    probabilities: F32
    """float32[A, H]: columns add up to 1 for hands that the board does not block, and are 0 for others."""

    def draw(self, hand: int, rng: Random) -> Action:
        """Sample an action of one hand."""
        reached = np.cumsum(self.probabilities[:, hand], dtype=np.float64)
        index = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
        return self.actions[min(index, len(self.actions) - 1)]

    def probability(self, action: Action) -> F32:
        """float32[H]: probability of an action for each hand; zeros if it is not among the actions."""
        if action not in self.actions:
            return np.zeros(self.probabilities.shape[1], dtype=np.float32)
        row: F32 = self.probabilities[self.actions.index(action)]
        return row


def merge_actions(actions: Sequence[Action], rows: F32) -> RangeStrategy:
    """A strategy from rows float32[A, H]; rows of equal actions are added up."""
    different = tuple(dict.fromkeys(actions))
    if len(different) == len(actions):
        return RangeStrategy(different, rows)
    sums = np.zeros((len(different), rows.shape[1]), dtype=np.float32)
    for action, row in zip(actions, rows, strict=True):
        sums[different.index(action)] += row
    return RangeStrategy(different, sums)


def drop_rare(rows: F32, least: float) -> F32:
    """Drop probabilities below `least` from rows float32[A, H]; each column keeps its sum.

    After a few hundred samples a small probability is noise, and dropping it gains more than the mixture
    could (purification: docs/agent.md has the figures).
    """
    kept = np.where(rows < least, 0, rows)
    total, before = kept.sum(axis=0), rows.sum(axis=0)
    scale = np.divide(before, total, out=np.zeros_like(total), where=total > 0)
    result: F32 = np.where(total > 0, kept * scale, rows).astype(np.float32)
    return result
