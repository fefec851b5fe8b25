"""Exact search for the nearest of many centroids.

Centroids are sorted by the sum of their coordinates, which is their mean equity up to scale, and stored in
blocks of eight. The search starts at the block where the point's own sum belongs and goes up and down until
the difference of sums alone exceeds the best distance found: |Σx - Σy| <= Σ|x - y|, and by Cauchy-Schwarz
(Σx - Σy)² <= 8 Σ(x - y)² for eight coordinates.

Coordinates are small integers in float32 lanes: 32 of at most 255, or eight of at most 1024. All distances
stay below 2²⁴, so float32 is exact and the order of summation does not matter. Among equally near centroids
the first is returned.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from abstraction.equity import NUM_BINS, NUM_OPPONENT_CLASSES
from numeric.arrays import F32, I16
from numeric.jit import kernel
from numeric.simd import LANES, least_of8, load8, maximum8, splat, store8

Features = npt.NDArray[np.integer[Any]]

_SLOT_BITS = 12
NUM_SLOTS = 1 << _SLOT_BITS
"""Size of the hash table of `find_equal`: several times the number of hands on a board."""

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_FAR = 1e6  # coordinates of the padding in the last block
_ZERO = np.float32(0)


class Centroids(NamedTuple):
    """Centroids laid out for the search."""

    blocks: F32  # flat [blocks, coordinates, 8]
    sums: F32  # [blocks * 8], rising


def lay_out(centroids: Features) -> Centroids:
    """Prepare [K, 32] tails or [K, 8] equities, sorted by rising sum."""
    num_centroids, num_coordinates = centroids.shape
    padding = np.full((-num_centroids % LANES, num_coordinates), _FAR, dtype=np.float32)
    padded = np.concatenate([centroids.astype(np.float32), padding])
    blocks = padded.reshape(-1, LANES, num_coordinates).transpose(0, 2, 1)
    return Centroids(np.ascontiguousarray(blocks).reshape(-1), padded.sum(axis=1, dtype=np.float32))


@kernel
def nearest_tail(point: F32, centroids: Centroids, lanes: F32) -> tuple[int, np.float32]:
    """Index of and distance to the nearest centroid by earth mover's distance.

    point  float32[32]  in
    lanes  float32[8]   scratch
    """
    blocks, sums = centroids.blocks, centroids.sums
    total = _ZERO
    for i in range(NUM_BINS):
        total += point[i]
    home = _home_block(total, sums)
    best, best_block = least_of8(_distances_to_tails(blocks, home, point)), home
    block = home + 1
    while block < sums.shape[0] // LANES and sums[block * LANES] - total <= best:
        least = least_of8(_distances_to_tails(blocks, block, point))
        if least < best:
            best, best_block = least, block
        block += 1
    block = home - 1
    while block >= 0 and total - sums[block * LANES + LANES - 1] <= best:
        least = least_of8(_distances_to_tails(blocks, block, point))
        if least <= best:
            best, best_block = least, block
        block -= 1
    store8(lanes, 0, _distances_to_tails(blocks, best_block, point))
    return best_block * LANES + _first_of(best, lanes), best


@kernel
def nearest_equities(point: F32, centroids: Centroids, lanes: F32) -> tuple[int, np.float32]:
    """Index of and squared distance to the nearest centroid by Euclidean distance.

    point  float32[8]  in
    lanes  float32[8]  scratch
    """
    blocks, sums = centroids.blocks, centroids.sums
    eight = np.float32(NUM_OPPONENT_CLASSES)
    x = (
        splat(point[0]),
        splat(point[1]),
        splat(point[2]),
        splat(point[3]),
        splat(point[4]),
        splat(point[5]),
        splat(point[6]),
        splat(point[7]),
    )
    total = _ZERO
    for i in range(NUM_OPPONENT_CLASSES):
        total += point[i]
    home = _home_block(total, sums)
    best, best_block = least_of8(_distances_to_equities(blocks, home, x)), home
    block = home + 1
    while block < sums.shape[0] // LANES:
        gap = sums[block * LANES] - total
        if gap * gap > eight * best:
            break
        least = least_of8(_distances_to_equities(blocks, block, x))
        if least < best:
            best, best_block = least, block
        block += 1
    block = home - 1
    while block >= 0:
        gap = total - sums[block * LANES + LANES - 1]
        if gap * gap > eight * best:
            break
        least = least_of8(_distances_to_equities(blocks, block, x))
        if least <= best:
            best, best_block = least, block
        block -= 1
    store8(lanes, 0, _distances_to_equities(blocks, best_block, x))
    return best_block * LANES + _first_of(best, lanes), best


@kernel
def find_equal(features: Features, row: np.int64, slots: I16) -> np.int64:
    """The first earlier row with the same features, or the row itself.

    Many hands of a board have equal features: about 270 of the 1128 on a turn differ, 420 of 1081 on a river.

    features  [N <= 1326, 8 | 32]  in
    slots     int16[NUM_SLOTS]     in place: a hash table of rows, -1 where free
    """
    code = np.uint64(0)
    for i in range(features.shape[1]):
        code = (code ^ np.uint64(features[row, i])) * _HASH_FACTOR
    slot = code >> np.uint64(64 - _SLOT_BITS)
    while slots[slot] >= 0:
        other = slots[slot]
        same = True
        for i in range(features.shape[1]):
            same &= features[other, i] == features[row, i]
        if same:
            return np.int64(other)
        slot = (slot + np.uint64(1)) & np.uint64(NUM_SLOTS - 1)
    slots[slot] = row
    return row


@kernel
def _home_block(total: np.float32, sums: F32) -> int:
    """The last block whose first sum is not above the total; the first block if there is none."""
    low, high = 0, sums.shape[0] // LANES
    while high - low > 1:
        middle = (low + high) // 2
        if sums[middle * LANES] <= total:
            low = middle
        else:
            high = middle
    return low


@kernel
def _distances_to_tails(blocks: F32, block: int, point: F32) -> F32:
    start = block * NUM_BINS * LANES
    distance = splat(_ZERO)
    for i in range(NUM_BINS):
        x, y = splat(point[i]), load8(blocks, start + i * LANES)
        distance = distance + maximum8(x - y, y - x)
    return distance


@kernel
def _distances_to_equities(blocks: F32, block: int, x: tuple[Any, ...]) -> F32:
    start = block * NUM_OPPONENT_CLASSES * LANES
    d0, d1 = load8(blocks, start) - x[0], load8(blocks, start + 8) - x[1]
    d2, d3 = load8(blocks, start + 16) - x[2], load8(blocks, start + 24) - x[3]
    d4, d5 = load8(blocks, start + 32) - x[4], load8(blocks, start + 40) - x[5]
    d6, d7 = load8(blocks, start + 48) - x[6], load8(blocks, start + 56) - x[7]
    squares: F32 = ((d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)) + ((d4 * d4 + d5 * d5) + (d6 * d6 + d7 * d7))
    return squares


@kernel
def _first_of(value: np.float32, lanes: F32) -> int:
    for lane in range(LANES):
        if lanes[lane] == value:
            return lane
    return 0
