"""Sums over a weighted range, one pass over the hands each: what a local best response asks all the time."""

from __future__ import annotations

import numpy as np

from game.jit import kernel
from solver.layout import F32, F64


@kernel
def call_sums(weights: F64, equities: F32) -> tuple[float, float]:
    """Weight of a range, and its weight times a hand's equity against it.

    weights   float64[H]  in
    equities  float32[H]  in
    """
    total = won = 0.0
    for h in range(weights.shape[0]):
        total += weights[h]
        won += weights[h] * np.float64(equities[h])
    return total, won


@kernel
def bet_sums(weights: F64, folds: F32, equities: F32) -> tuple[float, float, float]:
    """Weight of a range that folds, of what stays, and the latter times a hand's equity against it.

    folds  float32[H]  in: how often each hand folds
    """
    folded = kept = won = 0.0
    for h in range(weights.shape[0]):
        fold = np.float64(folds[h])
        staying = weights[h] * (1.0 - fold)
        folded += weights[h] * fold
        kept += staying
        won += staying * np.float64(equities[h])
    return folded, kept, won


@kernel
def action_sums(weights: F64, probabilities: F32, sums: F64) -> None:
    """How much of a range takes each action.

    probabilities  float32[A, H]  in
    sums           float64[A]     out
    """
    for a in range(probabilities.shape[0]):
        total = 0.0
        for h in range(weights.shape[0]):
            total += weights[h] * np.float64(probabilities[a, h])
        sums[a] = total


@kernel
def follow(weights: F64, factors: F32, out: F64) -> None:
    """Out = weights × factors, scaled to add up to 1; all 0 if nothing is left.

    factors  float32[H]  in: how often each hand does what was seen, or 0 and 1 for hands that cannot be
    """
    total = 0.0
    for h in range(weights.shape[0]):
        out[h] = weights[h] * np.float64(factors[h])
        total += out[h]
    if total > 0.0:
        for h in range(weights.shape[0]):
            out[h] /= total


@kernel
def draw(weights: F64, uniform: float) -> int:
    """An index drawn in proportion to weights of which some are positive, by a number of [0, 1)."""
    total = 0.0
    for h in range(weights.shape[0]):
        total += weights[h]
    left, last = uniform * total, 0
    for h in range(weights.shape[0]):
        if weights[h] > 0.0:
            last = h
            left -= weights[h]
            if left < 0.0:
                return h
    return last
