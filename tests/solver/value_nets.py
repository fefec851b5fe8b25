"""Value nets for tests."""

from __future__ import annotations

import numpy as np

from solver.leaves.features import NUM_FEATURES
from solver.leaves.value_net import HIDDEN, ValueNet


def random_net(seed: int = 1) -> ValueNet:
    """An untrained net."""
    rng = np.random.default_rng(seed)
    shapes = [(NUM_FEATURES, HIDDEN), HIDDEN, (HIDDEN, HIDDEN), HIDDEN, (HIDDEN, 4), 4]
    weights = [rng.normal(0, 0.2, shape).astype(np.float32) for shape in shapes]
    centre = rng.normal(0, 1, NUM_FEATURES).astype(np.float32)
    return ValueNet(centre, rng.uniform(0.5, 1, NUM_FEATURES).astype(np.float32), *weights)
