"""Sequential random numbers for kernels, from a state that the caller passes."""

from __future__ import annotations

import numpy as np

from numeric.arrays import U64
from numeric.jit import kernel

_TO_UNIT = np.float32(2.0**-24)
_7, _13, _17, _40 = [np.uint64(number) for number in (7, 13, 17, 40)]


@kernel
def random_unit(state: U64) -> np.float32:
    """Uniform in [0, 1), 24 bits: Marsaglia's xorshift64 (13, 7, 17); the state is advanced in place."""
    x = state[0]
    x ^= x << _13
    x ^= x >> _7
    x ^= x << _17
    state[0] = x
    return np.float32(x >> _40) * _TO_UNIT
