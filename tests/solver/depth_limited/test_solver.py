"""Depth-limited solving: the paper's Rock-Paper-Scissors+, and payoff tables."""

from __future__ import annotations

import numpy as np
import pytest

from solver.depth_limited.solver import DepthLimitedSolver, TableLeaves
from solver.exact.schedules import cfr_plus
from solver.games.game import Deck, Game, make_game
from solver.games.tree import CHANCE, DECISION, NO_ACTION, TreeBuilder

PAYOFFS = np.array([[0, -1, 2], [1, 0, -2], [-2, 2, 0]], dtype=np.float32)
"""Payoffs of the first player: rock, paper, scissors against the same. Scissors count double."""


def rps_plus() -> Game:
    """The first player moves unseen, then the game is cut off. Hand 0 is theirs, hand 1 the opponent's."""
    builder = TreeBuilder()
    root = builder.add(DECISION, 0, -1, NO_ACTION, player=0)
    for action in range(3):
        builder.add(CHANCE, 0, root, action)
    hands = np.array([[0, 2], [1, 3]])
    ranges = np.array([[1, 0], [0, 1]], dtype=np.float32)
    nobody_wins = np.zeros(2, dtype=np.int64)
    return make_game(
        builder.finish(), hands, np.arange(2), ranges, (), lambda _: nobody_wins, Deck(2, hand_size=1)
    )


def leaf_matrices(strategies: list[list[float]]) -> np.ndarray:
    """[L, K, H, H]: payoffs of each of the opponent's strategies for the rest of the game."""
    matrices = np.zeros((3, len(strategies), 2, 2), dtype=np.float32)
    for k, strategy in enumerate(strategies):
        matrices[:, k, 0, 1] = PAYOFFS @ np.array(strategy, dtype=np.float32)
    return matrices


def solve(strategies: list[list[float]], iterations: int = 20_000) -> np.ndarray:
    # The opponent has not seen the move, so all three leaves are in one group.
    leaves = TableLeaves(leaf_matrices(strategies))
    solver = DepthLimitedSolver(rps_plus(), leaves, 1, cfr_plus(2.0), groups=np.zeros(3, dtype=np.int32))
    solver.solve(iterations)
    return solver.solution().strategy(0)[:, 0]


@pytest.mark.kernel
def test_enough_continuations_give_the_rps_plus_equilibrium() -> None:
    pure = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert solve(pure, 3000) == pytest.approx([0.4, 0.4, 0.2], abs=1e-3)


@pytest.mark.kernel
def test_adding_the_equilibrium_continuation_changes_nothing() -> None:
    pure = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.4, 0.4, 0.2]]
    assert solve(pure, 3000) == pytest.approx([0.4, 0.4, 0.2], abs=1e-3)


@pytest.mark.kernel
def test_one_continuation_is_not_enough() -> None:
    """Against the equilibrium every move is worth 0, so all moves look equally good."""
    strategy = solve([[0.4, 0.4, 0.2]], 300)
    assert np.abs(strategy - [0.4, 0.4, 0.2]).max() > 0.05
