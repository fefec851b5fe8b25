from __future__ import annotations

import numpy as np
import pytest

from abstraction.clustering import cluster
from abstraction.features import Points
from abstraction.opponents import OPPONENT_CLASSES, derive_opponent_classes, preflop_histograms
from game.hands import NUM_CLASSES, class_text
from tests.reference.card_abstraction import nearest

pytestmark = pytest.mark.kernel


def blobs(width: int, levels: list[int], seed: int, num_points: int = 90) -> Points:
    """Points within two units of one of a few flat vectors."""
    rng = np.random.default_rng(seed)
    centres = np.array(levels)[rng.integers(0, len(levels), num_points)]
    centres[: len(levels)] = levels
    features = centres[:, None] + rng.integers(-2, 3, (num_points, width))
    return Points(features.astype(np.uint8 if width == 32 else np.int16), rng.integers(1, 5, num_points))


@pytest.mark.parametrize("width", [8, 32])
def test_separate_blobs_are_found(width: int) -> None:
    levels = [10, 60, 110, 200]
    found = cluster(blobs(width, levels, seed=3), len(levels), seed=1)
    assert np.abs(found.centroids.astype(np.int64) - np.array(levels)[:, None]).max() <= 2


@pytest.mark.parametrize("width", [8, 32])
def test_centroids_are_weighted_means_of_their_points(width: int) -> None:
    points = blobs(width, [10, 90, 220], seed=5)
    centroids = cluster(points, 3, seed=2).centroids
    power = 1 if width == 32 else 2
    own = np.array([nearest(point, centroids.tolist(), power) for point in points.features.tolist()])
    for k in range(3):
        mean = np.average(
            points.features[own == k].astype(np.float64), axis=0, weights=points.weights[own == k]
        )
        assert np.abs(mean - centroids[k]).max() <= 0.5


def test_the_same_seed_gives_the_same_clusters_by_rising_sums() -> None:
    points = blobs(8, [5, 50, 500, 900], seed=1)
    first, again = cluster(points, 6, seed=4), cluster(points, 6, seed=4)
    assert np.array_equal(first.centroids, again.centroids)
    assert first.mean_squared_distance == again.mean_squared_distance
    assert (np.diff(first.centroids.sum(axis=1)) >= 0).all()


def test_as_many_clusters_as_different_points() -> None:
    features = np.repeat(np.arange(12, dtype=np.int16)[:, None] * 30, 8, axis=1)
    points = Points(np.concatenate([features, features]), np.ones(24, dtype=np.int64))
    found = cluster(points, 12, seed=0)
    assert np.array_equal(found.centroids, features)
    assert found.mean_squared_distance == 0
    with pytest.raises(ValueError, match="only 12 different points"):
        cluster(points, 13, seed=0)
    with pytest.raises(ValueError, match="cannot make 25 clusters of 24 points"):
        cluster(points, 25, seed=0)


@pytest.mark.slow
def test_opponent_classes_equal_a_new_clustering() -> None:
    assert np.array_equal(derive_opponent_classes(), OPPONENT_CLASSES)


@pytest.mark.slow
def test_preflop_equities_are_the_published_ones() -> None:
    # All-in equity against a random hand, e.g. the Wizard of Odds' table for two players.
    histograms = preflop_histograms()
    totals = histograms.sum(axis=1, keepdims=True)
    equities = 1 - (np.cumsum(histograms[:, :32], axis=1) / totals).mean(axis=1)
    by_name = {class_text(c): float(equities[c]) for c in range(NUM_CLASSES)}
    assert by_name["AA"] == pytest.approx(0.852037, abs=1e-6)
    assert by_name["AKs"] == pytest.approx(0.670446, abs=1e-6)
    assert by_name["32o"] == pytest.approx(0.323032, abs=1e-6)
