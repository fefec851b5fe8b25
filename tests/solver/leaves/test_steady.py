"""The control variate of leaf values, compared with plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from solver.games.layout import aligned
from solver.leaves.kernels.steady import TILE, mean_wins, take_luck_out
from solver.leaves.rollouts import _tile


def rows(*shape: int, seed: int) -> np.ndarray:
    array = aligned(int(np.prod(shape))).reshape(shape)
    array[:] = np.random.default_rng(seed).uniform(-1, 1, shape)
    return array


@pytest.mark.kernel
@pytest.mark.parametrize("num_leaves", [1, 4, 6])
def test_mean_wins_match_matrix_products(num_leaves: int) -> None:
    num_hands, stride = 21, 2 * TILE
    wins = rows(num_hands, num_hands, seed=1)
    reach = rows(num_leaves, 3, stride, seed=2)
    reach[:, :, num_hands:] = 0
    means, counter = np.zeros((num_leaves, stride), dtype=np.float32), np.zeros(1, dtype=np.int64)
    mean_wins(_tile(wins, stride), counter, reach, means)
    expected = reach[:, 0, :num_hands] @ wins.T
    np.testing.assert_allclose(means[:, :num_hands], expected, rtol=1e-4, atol=1e-5)
    assert (means[:, num_hands:] == 0).all()


@pytest.mark.kernel
@pytest.mark.parametrize(("first", "end"), [(0, 1), (1, 3)])
def test_control_variate_matches_numpy(first: int, end: int) -> None:
    stakes, shut = np.array([300, 900, 500], dtype=np.float32), np.array([0, 1, 0], dtype=np.uint8)
    wins, means, now = rows(3, TILE, seed=1), rows(3, TILE, seed=2), rows(3, TILE, seed=4)
    value = rows(3, 3, TILE, seed=3)
    before = value.copy()
    take_luck_out(stakes, shut, 1.2, first, end, wins, means, now, value)
    luck = (1.2 * stakes[:, None] * (wins - means))[:, None]
    expected = before.copy()
    expected[:, first:end] -= luck
    expected[1, first:end] = stakes[1] * (now[1] - wins[1] + means[1])
    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-3)
