"""Counter-based random numbers: a function of a seed and a key.

Any number of a hand's seed can be computed in any order, in Python or in a kernel. The mixing is Chris
Wellons's `lowbias32` over the key and both halves of the seed; products stay below 2^64, so that Python and
compiled code agree.
"""

from __future__ import annotations

import numpy as np

from numeric.jit import kernel

_MASK = np.uint64(0xFFFFFFFF)
_FIRST, _SECOND = np.uint64(0x7FEB352D), np.uint64(0x846CA68B)
_15, _16, _32 = np.uint64(15), np.uint64(16), np.uint64(32)
_TO_UNIT = 2.0**-32


@kernel
def unit_at(seed: np.uint64, key: int) -> float:
    """Uniform in [0, 1), 32 bits.

    key  0 .. 2^32 - 1
    """
    return float(_hash(seed, np.uint64(key))) * _TO_UNIT


@kernel
def seed_at(seed: np.uint64, key: int) -> np.uint64:
    """A new seed, practically independent of those at other keys.

    key  0 .. 2^31 - 1
    """
    high, low = _hash(seed, np.uint64(2 * key)), _hash(seed, np.uint64(2 * key + 1))
    new_seed: np.uint64 = np.uint64(high << _32) | low
    return new_seed


@kernel
def _hash(seed: np.uint64, key: np.uint64) -> np.uint64:
    mixed: np.uint64 = _mix(_mix(_mix(key) ^ (seed & _MASK)) ^ (seed >> _32))
    return mixed


@kernel
def _mix(x: np.uint64) -> np.uint64:
    x = (x ^ (x >> _16)) * _FIRST & _MASK
    x = (x ^ (x >> _15)) * _SECOND & _MASK
    return x ^ (x >> _16)
