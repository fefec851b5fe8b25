"""Modifications of a strategy before it is played: bias, threshold, purification.

They are applied in this order, to the actions of the betting tree:

1. *bias*: multiply the weight of fold, call or all raises by a factor. Modicum's opponents at the depth limit
   are the blueprint biased by a factor of ten (Brown, Sandholm and Amos, 2018).
2. *threshold*: never take actions with a smaller probability (Ganzfried, Sandholm and Waugh, 2012).
3. *purify*: always fold if folding has a larger probability than this. Otherwise take the most likely of
   fold, call and all raises together; among raises the most likely size. A winning bot of MIT Pokerbots did
   so.

Weights are whole numbers, so that Python and kernels agree exactly. Ties go to the first action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from abstraction.buckets import BLOCKED
from numeric.arrays import F32, I32, I64, U8, U16
from numeric.jit import kernel
from solver.games.tree import CALL_ACTION, FOLD_ACTION

MILLE = 1000
NEVER = -1
MAX_BIAS = 1000
BIASES = ("fold", "call", "raise")


class StyleNumbers(NamedTuple):
    """A style in the form kernels take."""

    fold: int
    call: int
    raises: int
    threshold: int
    """In thousandths; 0 for none."""
    purify: int
    """In thousandths; NEVER for no purification."""


@dataclass(frozen=True, slots=True)
class PlayStyle:
    """How to modify a strategy. The default changes nothing."""

    bias: str = ""
    """One of BIASES, or empty for none."""
    factor: int = 1
    threshold: float = 0.0
    purify: float | None = None
    """The probability of folding above which to always fold; None for no purification."""

    def __post_init__(self) -> None:
        if self.bias not in ("", *BIASES):
            raise ValueError(f"bias {self.bias!r} is unknown: write one of {', '.join(BIASES)}")
        if not 1 <= self.factor <= MAX_BIAS:
            raise ValueError(f"bias factor {self.factor}: write a whole number from 1 to {MAX_BIAS}")
        for name in ("threshold", "purify"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{name}={value:g}: write a probability from 0 to 1")

    def numbers(self) -> StyleNumbers:
        """The style in the form kernels take."""
        fold, call, raises = [self.factor if self.bias == name else 1 for name in BIASES]
        purify = NEVER if self.purify is None else round(MILLE * self.purify)
        return StyleNumbers(fold, call, raises, round(MILLE * self.threshold), purify)


@kernel
def style_weights(style: StyleNumbers, codes: I32, weights: I64) -> int:
    """Apply a style to the weights of one infoset, in place; returns their sum.

    codes    int32[A]  actions as the betting tree writes them: fold, call, raises
    weights  int64[A]  in, out: proportional to probabilities
    """
    num_actions = codes.shape[0]
    total = 0
    for a in range(num_actions):
        weights[a] *= _factor(style, codes[a])
        total += weights[a]
    if style.threshold > 0:
        total = _cut(style.threshold, weights, total)
    if style.purify != NEVER:
        chosen = _purified(style.purify, codes, weights, total)
        for a in range(num_actions):
            weights[a] = 1 if a == chosen else 0
        total = 1
    return total


@kernel
def style_rows(style: StyleNumbers, codes: I32, rows: U8, weights: I64) -> None:
    """Apply a style to every bucket of a node.

    rows     uint8[A, K]  in
    weights  int64[A, K]  out
    """
    column = np.empty(rows.shape[0], dtype=np.int64)
    for k in range(rows.shape[1]):
        for a in range(rows.shape[0]):
            column[a] = rows[a, k]
        style_weights(style, codes, column)
        for a in range(rows.shape[0]):
            weights[a, k] = column[a]


@kernel
def fill_probabilities(style: StyleNumbers, codes: I32, rows: U8, buckets: U16, out: F32) -> None:
    """Fill each hand's action probabilities from a node's bytes, with a style applied.

    codes    int32[A]          in: actions as the betting tree writes them
    rows     uint8[A, K]       in
    buckets  uint16[1326]      in
    out      float32[A, 1326]  out: blocked hands untouched
    """
    num_actions = rows.shape[0]
    column: I64 = np.empty(num_actions, dtype=np.int64)
    for h in range(buckets.shape[0]):
        bucket = np.int64(buckets[h])
        if bucket == BLOCKED:
            continue
        for a in range(num_actions):
            column[a] = rows[a, bucket]
        total = np.float32(style_weights(style, codes, column))
        for a in range(num_actions):
            out[a, h] = np.float32(column[a]) / total


@kernel
def _factor(style: StyleNumbers, code: int) -> int:
    if code == FOLD_ACTION:
        return style.fold
    return style.call if code == CALL_ACTION else style.raises


@kernel
def _cut(threshold: int, weights: I64, total: int) -> int:
    likeliest = np.argmax(weights)
    left = 0
    for a in range(weights.shape[0]):
        if a != likeliest and weights[a] * MILLE < threshold * total:
            weights[a] = 0
        left += weights[a]
    return left


@kernel
def _purified(fold_above: int, codes: I32, weights: I64, total: int) -> int:
    fold, call, best_raise, raises = -1, -1, -1, 0
    for a in range(codes.shape[0]):
        if codes[a] == FOLD_ACTION:
            fold = a
        elif codes[a] == CALL_ACTION:
            call = a
        else:
            raises += weights[a]
            if best_raise < 0 or weights[a] > weights[best_raise]:
                best_raise = a
    if fold >= 0 and weights[fold] * MILLE > fold_above * total:
        return fold
    chosen, most = call, weights[call]
    if fold >= 0 and weights[fold] >= most:
        chosen, most = fold, weights[fold]
    return best_raise if raises > most else chosen
