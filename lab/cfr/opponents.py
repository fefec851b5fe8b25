"""Opponents to respond to: strategies of player 1 of three kinds."""

from __future__ import annotations

import numpy as np

from lab.cfr.solver import SaddleSolver, checked_iterations
from lab.flat.game import FlatGame
from lab.flat.saddle import whole_game
from numeric.arrays import F64


def uniform(game: FlatGame) -> F64:
    """Plays all actions alike."""
    return game.sides[1].uniform()


def unfinished(game: FlatGame, iterations: int) -> F64:
    """The average strategy of a few iterations of CFR: the fewer, the weaker."""
    return SaddleSolver(whole_game(game), plus=False).run(checked_iterations(iterations)).their_strategy()


def random_strategy(game: FlatGame, seed: int) -> F64:
    """A strategy drawn evenly from all."""
    side = game.sides[1]
    weights = np.random.default_rng(seed).exponential(size=side.num_sequences - 1)
    sums = np.add.reduceat(weights, side.first - 1)
    return np.concatenate([[1.0], weights / np.repeat(sums, side.count)])
