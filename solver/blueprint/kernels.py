"""Kernels of blueprints: quantised strategies, and deals sampled from a list."""

from __future__ import annotations

import numpy as np

from numeric.arrays import F32, I32, U8, U64
from numeric.jit import kernel
from numeric.xorshift import random_unit
from solver.blueprint.layout import Betting, Deals

ONE = np.float32(1)


@kernel
def quantise_strategies(betting: Betting, num_buckets: I32, strategy: F32, out: U8) -> None:
    """Probabilities in 255ths that add up to 255.

    strategy  float32[node][bucket][action]  in
    out       uint8[node][action][bucket]    out: neighbouring buckets play alike, so this order packs well
    """
    remainder = np.empty(256, dtype=np.float32)
    for n in range(betting.base.shape[0]):
        num_actions, where = betting.num_actions[n], betting.base[n]
        for bucket in range(num_buckets[n]):
            row = where + bucket * num_actions
            quantise_infoset(strategy, row, num_actions, remainder, out, where + bucket, num_buckets[n])


@kernel
def quantise_infoset(
    strategy: F32, row: int, num_actions: int, remainder: F32, out: U8, first: int, stride: int
) -> None:
    """Round down, then the largest remainders up; written to out[first + a * stride]."""
    left = 255
    for a in range(num_actions):
        exact = strategy[row + a] * np.float32(255)
        whole = min(left, int(exact))
        remainder[a] = exact - np.float32(whole)
        out[first + a * stride] = whole
        left -= whole
    while left > 0:
        largest = 0
        for a in range(1, num_actions):
            if remainder[a] > remainder[largest]:
                largest = a
        out[first + largest * stride] += np.uint8(1)
        remainder[largest] -= ONE
        left -= 1


@kernel
def draw_deals(all_deals: Deals, random: U64, deals: Deals) -> None:
    """Fill a batch with deals drawn from a list, all equally likely."""
    count = np.float32(all_deals.outcome.shape[0])
    for d in range(deals.outcome.shape[0]):
        row = np.int64(random_unit(random) * count)
        for r in range(deals.outcome.shape[1]):
            deals.outcome[d, r] = all_deals.outcome[row, r]
        for i in range(deals.buckets.shape[1]):
            deals.buckets[d, i] = all_deals.buckets[row, i]
