from __future__ import annotations

import numpy as np

from solver.decisions.range_strategy import drop_rare


def test_rare_actions_are_dropped_and_the_rest_adds_up() -> None:
    rows = np.array([[0.05, 0.5, 0.0, 0.3], [0.95, 0.45, 0.0, 0.3], [0.0, 0.05, 0.0, 0.4]], dtype=np.float32)
    kept = drop_rare(rows, 0.1)
    np.testing.assert_allclose(kept[:, 0], [0, 1, 0])
    np.testing.assert_allclose(kept[:, 1], [0.5 / 0.95, 0.45 / 0.95, 0], rtol=1e-6)
    np.testing.assert_array_equal(kept[:, 2], 0)
    np.testing.assert_allclose(kept[:, 3], rows[:, 3])
    np.testing.assert_array_equal(drop_rare(rows, 0.0), rows)


def test_nothing_is_dropped_if_every_action_is_rare() -> None:
    rows = np.full((4, 2), 0.25, dtype=np.float32)
    np.testing.assert_array_equal(drop_rare(rows, 0.3), rows)
