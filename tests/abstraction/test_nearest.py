from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.nearest import NUM_SLOTS, find_equal, lay_out, nearest_equities, nearest_tail
from tests.reference.card_abstraction import nearest

# As plain Python, numpy warns when words wrap around.
pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered")]


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 60), st.sampled_from([2, 9, 256]))
def test_nearest_tail_is_the_first_of_the_nearest(seed: int, num_centroids: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    centroids = rng.integers(0, levels, (num_centroids, 32)).astype(np.uint8)
    centroids = centroids[np.argsort(centroids.sum(axis=1, dtype=np.int64), kind="stable")]
    search, lanes = lay_out(centroids), np.empty(8, dtype=np.float32)
    for point in rng.integers(0, levels, (8, 32)).astype(np.uint8):
        found, distance = nearest_tail(point.astype(np.float32), search, lanes)
        expected = nearest(point.tolist(), centroids.tolist(), power=1)
        assert found == expected
        assert distance == np.abs(point.astype(np.int64) - centroids[expected].astype(np.int64)).sum()


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 60), st.sampled_from([2, 9, 1025]))
def test_nearest_equities_is_the_first_of_the_nearest(seed: int, num_centroids: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    centroids = rng.integers(0, levels, (num_centroids, 8)).astype(np.int16)
    centroids = centroids[np.argsort(centroids.sum(axis=1, dtype=np.int64), kind="stable")]
    search, lanes = lay_out(centroids), np.empty(8, dtype=np.float32)
    for point in rng.integers(0, levels, (8, 8)).astype(np.int16):
        found, distance = nearest_equities(point.astype(np.float32), search, lanes)
        expected = nearest(point.tolist(), centroids.tolist(), power=2)
        assert found == expected
        assert distance == ((point.astype(np.int64) - centroids[expected]) ** 2).sum()


@pytest.mark.parametrize("dtype", [np.uint8, np.int16])
def test_equal_rows_are_found(dtype: type[np.generic]) -> None:
    features = np.random.default_rng(1).integers(0, 2, (1326, 8)).astype(dtype)
    slots = np.full(NUM_SLOTS, -1, dtype=np.int16)
    rows = features.tolist()
    assert [find_equal(features, row, slots) for row in range(1326)] == [rows.index(row) for row in rows]
