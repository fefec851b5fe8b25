"""The dial p between safety and exploitation, and what it promises."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from numeric.arrays import F32, F64

Reach = TypeVar("Reach", F32, F64)
"""Reaches or strategies: float64 in the lab, float32 in hold'em."""


def checked_dial(p: float) -> float:
    """p, if it is one: the probability that the opponent plays the model."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p = {p:g}: the trust in the model is a number from 0 (safe) to 1 (best response)")
    return p


def join_reaches(model: Reach, free: Reach, p: float) -> Reach:
    """The reach of an opponent who plays the model with probability p and as it likes otherwise.

    So no tree is doubled (Milec, Kubicek and Lisy, section 4, "Computing CDRNR").
    """
    return p * model + (1 - p) * free


def exploitability_bound(gain: float, p: float) -> float:
    """How much less than the value a response may get in the worst case, by its gain (theorem 5.3)."""
    return gain * p / (1 - p) if p < 1.0 else np.inf


def blend(safe: Reach, exploiting: Reach, p: float) -> Reach:
    """The reaches of playing one strategy with probability p and else the other (CDBR-NE).

    Reaches are blended, not the odds of each decision: then the gain is linear in p, and the exploitability
    at most that, as the paper's equations say. Its p for CDBR-NE is the weight of the safe strategy; here p
    always is the trust in the model.
    """
    return join_reaches(exploiting, safe, p)
