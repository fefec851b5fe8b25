"""Neural nets with two hidden layers: first weights, gradients, and training by Adam, in plain numpy.

Weights are three matrices [inputs, outputs] and their biases in turn. All results have the weights' type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from numeric.arrays import F32, F64, I64

Array = TypeVar("Array", F32, F64)


@dataclass(frozen=True, slots=True)
class Descent:
    """How to train."""

    epochs: int
    batch: int
    step: float
    """Initial step size of Adam; it falls to 0 along half a cosine."""


def first_weights(sizes: Sequence[int], rng: np.random.Generator) -> list[F64]:
    """Random weights for layers of these sizes (He et al., 2015)."""
    weights: list[F64] = []
    for rows, columns in pairwise(sizes):
        weights += [rng.standard_normal((rows, columns)) * np.sqrt(2 / rows), np.zeros(columns)]
    return weights


def gradients(weights: Sequence[Array], inputs: Array, slope: Callable[[Array], Array]) -> list[Array]:
    """Gradients by weights, from the slope of the loss by the outputs."""
    first, first_bias, second, second_bias, last, last_bias = weights
    hidden = np.maximum(inputs @ first + first_bias, 0)
    deeper = np.maximum(hidden @ second + second_bias, 0)
    above = slope(deeper @ last + last_bias)
    back = (above @ last.T) * (deeper > 0)
    further = (back @ second.T) * (hidden > 0)
    return [
        inputs.T @ further, further.sum(axis=0),
        hidden.T @ back, back.sum(axis=0),
        deeper.T @ above, above.sum(axis=0),
    ]  # fmt: skip


def descend(
    weights: list[Array],
    num_examples: int,
    slopes: Callable[[I64], list[Array]],
    descent: Descent,
    rng: np.random.Generator,
    tell: Callable[[float], None] = lambda _: None,
) -> None:
    """Train weights in place (Adam; Kingma and Ba, 2014). Deterministic given the generator.

    slopes  the gradients of the mean loss over some examples, by their numbers
    tell    called with the finished share before every epoch
    """
    first_moment, second_moment = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    per_epoch = -(-num_examples // descent.batch)
    steps = descent.epochs * per_epoch
    for number in range(steps):
        if number % per_epoch == 0:
            order = rng.permutation(num_examples)
            tell(number / steps)
        at = number % per_epoch * descent.batch
        found = slopes(order[at : at + descent.batch])
        step = descent.step * 0.5 * (1 + np.cos(np.pi * number / steps))
        step *= np.sqrt(1 - 0.999 ** (number + 1)) / (1 - 0.9 ** (number + 1))
        for i, gradient in enumerate(found):
            first_moment[i] += 0.1 * (gradient - first_moment[i])
            second_moment[i] += 0.001 * (gradient * gradient - second_moment[i])
            # A plain number, so that float32 stays float32.
            weights[i] -= float(step) * first_moment[i] / (np.sqrt(second_moment[i]) + 1e-8)
