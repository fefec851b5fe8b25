"""What a player does with every hand at one point of the betting: the currency of players, LBR and AIVAT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from game.actions import Action
from solver.layout import F32


@dataclass(frozen=True, slots=True, eq=False)
class RangeStrategy:
    """Actions and how often each hand takes them.

    Depends on what is public alone: betting and board, not on the cards the player holds.
    """

    actions: tuple[Action, ...]
    """Legal and different."""
    probabilities: F32
    """float32[A, H]: columns of hands that the board leaves possible add up to 1, others are 0."""

    def draw(self, hand: int, rng: Random) -> Action:
        """An action of one hand."""
        reached = np.cumsum(self.probabilities[:, hand], dtype=np.float64)
        index = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
        return self.actions[min(index, len(self.actions) - 1)]

    def probability(self, action: Action) -> F32:
        """float32[H]: how often each hand takes an action; zeros for one that is never taken."""
        if action not in self.actions:
            return np.zeros(self.probabilities.shape[1], dtype=np.float32)
        row: F32 = self.probabilities[self.actions.index(action)]
        return row


def merge_actions(actions: Sequence[Action], rows: F32) -> RangeStrategy:
    """A strategy from rows float32[A, H]; those of actions that are the same real one are added up."""
    different = tuple(dict.fromkeys(actions))
    if len(different) == len(actions):
        return RangeStrategy(different, rows)
    sums = np.zeros((len(different), rows.shape[1]), dtype=np.float32)
    for action, row in zip(actions, rows, strict=True):
        sums[different.index(action)] += row
    return RangeStrategy(different, sums)


def drop_rare(rows: F32, least: float) -> F32:
    """Rows float32[A, H] without what a hand does more seldom than `least`; what is left adds up as before.

    After a few hundred samples a small probability is noise; dropping it is worth more than the mixture it
    might have been (purification: docs/agent.md has the figures).
    """
    kept = np.where(rows < least, 0, rows)
    total, before = kept.sum(axis=0), rows.sum(axis=0)
    scale = np.divide(before, total, out=np.zeros_like(total), where=total > 0)
    result: F32 = np.where(total > 0, kept * scale, rows).astype(np.float32)
    return result
