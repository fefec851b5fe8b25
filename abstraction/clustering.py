"""Weighted k-means with k-means++ seeding over integer features.

Tails are compared by earth mover's distance, river equities by Euclidean distance (`abstraction.nearest`).
Centroids are means, rounded to the features' units. All sums are of integers, so the result depends only on
the points, the number of clusters and the seed, not on threads or the machine.

Seeding: Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007. Points are
sorted by the sum of their coordinates, so a new seed can only be nearest to points whose sum is close to its
own; blocks of points that it cannot improve are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.progress import Progress

from abstraction.equity import NUM_BINS
from abstraction.features import Features, Points
from abstraction.nearest import Centroids, lay_out, nearest_equities, nearest_tail
from abstraction.threads import run_chunks
from numeric.arrays import F32, I32, I64
from numeric.jit import kernel

MAX_PASSES = 40
SETTLED = 0.001
"""Stop when fewer than this share of the points change their cluster in a pass."""

_BLOCK = 128  # points that the seeding skips or looks at together
_CHUNK = 1 << 15  # points that a thread assigns at a time


@dataclass(frozen=True, slots=True)
class Clustering:
    """Centroids by rising mean equity, and how well they fit their points."""

    centroids: Features
    mean_squared_distance: float  # in the features' units, by weight


def cluster(
    points: Points,
    num_clusters: int,
    seed: int,
    progress: Progress | None = None,
    label: str = "clustering",
) -> Clustering:
    """Divide points into `num_clusters` clusters; needs at least as many different points."""
    order = np.argsort(points.features.sum(axis=1, dtype=np.int64), kind="stable")
    features, weights = points.features[order], points.weights[order]
    if num_clusters < 1 or len(features) < num_clusters:
        raise ValueError(f"cannot make {num_clusters:,} clusters of {len(features):,} points: sample more")
    rng = np.random.default_rng([seed, num_clusters])
    centroids = _by_sum(_seed_centroids(features, weights, num_clusters, rng, progress, label))
    task = progress.add_task(f"{label}: passes", total=MAX_PASSES) if progress else None
    nearest = np.full(len(features), -1, dtype=np.int32)
    distances = np.empty(len(features), dtype=np.float32)
    for passed in range(1, MAX_PASSES + 1):
        moved = _assign_all(features, lay_out(centroids), nearest, distances)
        if progress and task is not None:
            progress.update(task, completed=passed)
        if moved <= SETTLED * len(features):
            break
        centroids = _by_sum(_means(features, weights, nearest, distances, centroids))
    if progress and task is not None:
        progress.update(task, completed=MAX_PASSES)
    _assign_all(features, lay_out(centroids), nearest, distances)
    power = 2 if features.shape[1] == NUM_BINS else 1  # Euclidean distances come squared
    mean = float(np.average(distances.astype(np.float64) ** power, weights=weights))
    return Clustering(centroids, mean)


def _seed_centroids(
    features: Features,
    weights: I64,
    num_clusters: int,
    rng: np.random.Generator,
    progress: Progress | None,
    label: str,
) -> Features:
    """Draw points one by one, each with probability proportional to its squared distance to earlier ones."""
    num_points = len(features)
    num_blocks = -(-num_points // _BLOCK)
    sums = features.sum(axis=1, dtype=np.int64)
    squared = np.full(num_points, np.iinfo(np.int64).max, dtype=np.int64)
    largest = np.full(num_blocks, np.iinfo(np.int64).max, dtype=np.int64)
    masses = np.zeros(num_blocks, dtype=np.int64)
    chosen = np.empty(num_clusters, dtype=np.int64)
    task = progress.add_task(f"{label}: seeds", total=num_clusters) if progress else None
    for k in range(num_clusters):
        if k == 0:
            chosen[k] = np.searchsorted(np.cumsum(weights), rng.integers(int(weights.sum())), side="right")
        else:
            total = int(masses.sum())
            if total == 0:
                raise ValueError(f"only {k:,} different points for {num_clusters:,} clusters: sample more")
            chosen[k] = _find_mass(int(rng.integers(total)), masses, weights, squared)
        _update_distances(features, sums, weights, chosen[k], squared, largest, masses)
        if progress and task is not None and (k % 64 == 63 or k + 1 == num_clusters):
            progress.update(task, completed=k + 1)
    return features[chosen]


@kernel
def _update_distances(
    features: Features, sums: I64, weights: I64, chosen: int, squared: I64, largest: I64, masses: I64
) -> None:
    """Update the distances after adding a new seed.

    squared  int64[N]       in place: squared distance to the nearest seed
    largest  int64[blocks]  in place: the largest of `squared` in each block
    masses   int64[blocks]  in place: the sum of weight * squared of each block
    """
    num_points, num_coordinates = features.shape
    seed, seed_sum = features[chosen], sums[chosen]
    by_tails = num_coordinates == NUM_BINS
    for block in range(masses.shape[0]):
        start, end = block * _BLOCK, min((block + 1) * _BLOCK, num_points)
        gap = max(sums[start] - seed_sum, seed_sum - sums[end - 1], 0)
        # |Σx - Σy| <= Σ|x - y|, and (Σx - Σy)² <= 8 Σ(x - y)²
        if gap * gap // (1 if by_tails else num_coordinates) >= largest[block]:
            continue
        block_largest, mass = np.int64(0), np.int64(0)
        for n in range(start, end):
            distance = np.int64(0)
            for i in range(num_coordinates):
                difference = np.int64(features[n, i]) - np.int64(seed[i])
                distance += abs(difference) if by_tails else difference * difference
            if by_tails:
                distance *= distance
            squared[n] = min(squared[n], distance)
            block_largest = max(block_largest, squared[n])
            mass += weights[n] * squared[n]
        largest[block], masses[block] = block_largest, mass


@kernel
def _find_mass(wanted: int, masses: I64, weights: I64, squared: I64) -> int:
    """The point at which the running sum of weight * squared first exceeds `wanted`."""
    block = 0
    while wanted >= masses[block]:
        wanted -= masses[block]
        block += 1
    n = block * _BLOCK
    while wanted >= weights[n] * squared[n]:
        wanted -= weights[n] * squared[n]
        n += 1
    return n


def _assign_all(features: Features, centroids: Centroids, nearest: I32, distances: F32) -> int:
    def work(start: int, end: int) -> int:
        return _assign(features[start:end], centroids, nearest[start:end], distances[start:end])

    return sum(run_chunks(work, len(features), _CHUNK))


@kernel
def _assign(features: Features, centroids: Centroids, nearest: I32, distances: F32) -> int:
    """Nearest centroid of each point, and how far (squared on the river); returns how many changed."""
    num_points, num_coordinates = features.shape
    point, lanes = np.empty(num_coordinates, dtype=np.float32), np.empty(8, dtype=np.float32)
    moved = 0
    for n in range(num_points):
        for i in range(num_coordinates):
            point[i] = features[n, i]
        if num_coordinates == NUM_BINS:
            k, distance = nearest_tail(point, centroids, lanes)
        else:
            k, distance = nearest_equities(point, centroids, lanes)
        moved += nearest[n] != k
        nearest[n], distances[n] = k, distance
    return moved


def _means(features: Features, weights: I64, nearest: I32, distances: F32, centroids: Features) -> Features:
    """Rounded means of the clusters; an empty cluster is replaced by one of the points that fit worst."""
    totals = np.zeros(centroids.shape, dtype=np.int64)
    masses = np.zeros(len(centroids), dtype=np.int64)
    _add_up(features, weights, nearest, totals, masses)
    empty = np.flatnonzero(masses == 0)
    means = (2 * totals + masses[:, None]) // np.maximum(2 * masses[:, None], 1)
    if len(empty):
        means[empty] = features[np.argsort(-distances, kind="stable")[: len(empty)]]
    return means.astype(centroids.dtype)


@kernel
def _add_up(features: Features, weights: I64, nearest: I32, totals: I64, masses: I64) -> None:
    for n in range(features.shape[0]):
        masses[nearest[n]] += weights[n]
        for i in range(features.shape[1]):
            totals[nearest[n], i] += weights[n] * features[n, i]


def _by_sum(centroids: Features) -> Features:
    return centroids[np.argsort(centroids.sum(axis=1, dtype=np.int64), kind="stable")]
