from __future__ import annotations

import numpy as np
import pytest

from numeric.threads import GENERATION, NUM_COUNTERS, meet
from solver.exact.kernels.regret import (
    add_to_average,
    best_value,
    gather_value,
    spread_2,
    spread_3,
    spread_4,
    spread_reach,
    update_2,
    update_3,
    update_4,
    update_regret,
)
from solver.games.layout import aligned

pytestmark = pytest.mark.kernel

STRIDE, BEGIN, END = 24, 8, 24


def random_table(num_actions: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = aligned(num_actions * STRIDE)
    table[:] = rng.random(table.size) - 0.5
    table.reshape(num_actions, STRIDE)[:, ::5] *= -np.sign(
        table.reshape(num_actions, STRIDE)[:, ::5]
    )  # all <= 0
    return table


def strategy_of(rows: np.ndarray) -> np.ndarray:
    """Regret matching for each hand."""
    result = np.zeros_like(rows, dtype=np.float64)
    for h in range(rows.shape[1]):
        positive = [max(float(x), 0.0) for x in rows[:, h]]
        total = sum(positive)
        result[:, h] = [p / total for p in positive] if total > 0 else [1 / len(positive)] * len(positive)
    return result


@pytest.mark.parametrize("num_actions", [1, 2, 3, 5])
def test_reach_spreads_by_regret_matching(num_actions: int) -> None:
    table = random_table(num_actions, 1)
    rows = aligned((num_actions + 1) * STRIDE)
    rows[:STRIDE] = np.random.default_rng(2).random(STRIDE)
    spread_reach(table, 0, num_actions, STRIDE, BEGIN, END, rows, 0, 1)
    got = rows.reshape(-1, STRIDE)
    expected = strategy_of(table.reshape(num_actions, STRIDE)) * got[0]
    np.testing.assert_allclose(got[1:, BEGIN:END], expected[:, BEGIN:END], rtol=1e-5)
    assert not got[1:, :BEGIN].any()  # another thread's hands
    average = aligned(num_actions * STRIDE)
    average[:] = 1.0
    add_to_average(average, 0, num_actions, STRIDE, BEGIN, END, rows, 1, 0.25)
    np.testing.assert_allclose(
        average.reshape(-1, STRIDE)[:, BEGIN:END], 0.25 + expected[:, BEGIN:END], rtol=1e-5
    )


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("floor", [0.0, -np.inf])
@pytest.mark.parametrize("num_actions", [2, 3, 4])
def test_values_and_regrets(num_actions: int, floor: float, accumulate: bool) -> None:
    table = random_table(num_actions, 3)
    before = table.reshape(num_actions, STRIDE).copy()
    start = aligned((num_actions + 1) * STRIDE)
    start[:] = np.random.default_rng(4).random(start.size)
    child_values, old = start.reshape(-1, STRIDE)[1:].copy(), start[:STRIDE].copy()
    node_value = (strategy_of(before) * child_values).sum(axis=0)
    expected_value = node_value + (old if accumulate else 0)

    rows = start.copy()
    gather_value(table, 0, num_actions, STRIDE, BEGIN, END, rows, 1, 0, accumulate)
    np.testing.assert_allclose(rows[BEGIN:END], expected_value[BEGIN:END], rtol=1e-5)
    np.testing.assert_array_equal(table.reshape(num_actions, STRIDE), before)

    rows = start.copy()
    update_regret(table, 0, num_actions, STRIDE, BEGIN, END, rows, 1, 0, accumulate, 0.9, 0.5, floor)
    np.testing.assert_allclose(rows[BEGIN:END], expected_value[BEGIN:END], rtol=1e-5)
    expected = np.maximum(np.where(before > 0, before * 0.9, before * 0.5) + child_values - node_value, floor)
    after = table.reshape(num_actions, STRIDE)
    np.testing.assert_allclose(after[:, BEGIN:END], expected[:, BEGIN:END], rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(after[:, :BEGIN], before[:, :BEGIN])

    rows = start.copy()
    best_value(num_actions, STRIDE, BEGIN, END, rows, 1, 0, accumulate)
    expected_best = child_values.max(axis=0) + (old if accumulate else 0)
    np.testing.assert_allclose(rows[BEGIN:END], expected_best[BEGIN:END], rtol=1e-6)


@pytest.mark.parametrize("num_actions", [2, 3, 4])
def test_kernels_for_fixed_action_counts_match_the_general_ones(num_actions: int) -> None:
    rng = np.random.default_rng(6)
    spread = {2: spread_2, 3: spread_3, 4: spread_4}[num_actions]
    update = {2: update_2, 3: update_3, 4: update_4}[num_actions]
    table, average = aligned(num_actions * STRIDE), aligned(num_actions * STRIDE)
    regret = table.reshape(num_actions, STRIDE)
    regret[:] = rng.random(regret.shape) - 0.3
    regret[:, ::5] = -0.1
    regret[0, 9] = 1e-35  # too small to divide by
    regret[1:, 9] = 0.0
    average[:] = 2.0
    rows = aligned((num_actions + 1) * STRIDE)
    rows[:STRIDE] = rng.random(STRIDE)
    strategy = strategy_of(np.where(regret > 1e-30, regret, 0))
    spread(table, average, 0, STRIDE, BEGIN, END, rows, 0, 1, 0.5)
    below = (strategy * rows[:STRIDE])[:, BEGIN:END]
    np.testing.assert_allclose(rows.reshape(-1, STRIDE)[1:, BEGIN:END], below, rtol=1e-5)
    np.testing.assert_allclose(average.reshape(-1, STRIDE)[:, BEGIN:END], 1.0 + below, rtol=1e-5)
    for accumulate, floor in ((False, -np.inf), (True, -np.inf), (False, 0.0)):
        rows[:] = rng.random(rows.size)
        before, start = regret.copy(), rows.reshape(-1, STRIDE).copy()
        node_value = (strategy_of(np.where(before > 1e-30, before, 0)) * start[1:]).sum(axis=0)
        update(table, 0, STRIDE, BEGIN, END, rows, 1, 0, accumulate, 0.75, 0.25, floor)
        faded = np.where(before > 0, before * 0.75, before * 0.25)
        expected = np.maximum(faded + start[1:] - node_value, floor)
        np.testing.assert_allclose(regret[:, BEGIN:END], expected[:, BEGIN:END], rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(regret[:, :BEGIN], before[:, :BEGIN])
        node_value = node_value + (start[0] if accumulate else 0)
        np.testing.assert_allclose(rows[BEGIN:END], node_value[BEGIN:END], rtol=1e-5)


def test_barrier_of_one_thread_returns_at_once() -> None:
    counters = np.zeros(NUM_COUNTERS, dtype=np.int64)
    meet(counters, 1)
    assert counters[GENERATION] == 0
