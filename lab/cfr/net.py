"""A small neural net in plain numpy: two hidden layers, trained by Adam on the mean square error."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from numeric.arrays import F64


@dataclass(frozen=True, slots=True)
class Fitting:
    """How to train."""

    hidden: int = 128
    epochs: int = 60
    batch: int = 256
    step: float = 3e-3
    """Initial step size of Adam; it falls to 0 along half a cosine."""


@dataclass(frozen=True, slots=True, eq=False)
class Net:
    """Weights: matrices float64[inputs, outputs] and biases float64[outputs] of three layers in turn."""

    weights: tuple[F64, ...]

    def values(self, inputs: F64) -> F64:
        """float64[N, outputs] of float64[N, inputs]."""
        first, first_bias, second, second_bias, last, last_bias = self.weights
        hidden = np.maximum(inputs @ first + first_bias, 0.0)
        deeper = np.maximum(hidden @ second + second_bias, 0.0)
        found: F64 = deeper @ last + last_bias
        return found


def fit(inputs: F64, values: F64, fitting: Fitting, rng: np.random.Generator) -> Net:
    """Train a net (Kingma and Ba, 2014). Deterministic given the generator."""
    sizes = inputs.shape[1], fitting.hidden, fitting.hidden, values.shape[1]
    weights: list[F64] = []
    for rows, columns in pairwise(sizes):  # He's initialisation
        weights += [rng.standard_normal((rows, columns)) * np.sqrt(2 / rows), np.zeros(columns)]
    first_moment, second_moment = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    per_epoch = -(-len(inputs) // fitting.batch)
    steps = fitting.epochs * per_epoch
    for number in range(steps):
        if number % per_epoch == 0:
            order = rng.permutation(len(inputs))
        at = number % per_epoch * fitting.batch
        chosen = order[at : at + fitting.batch]
        step = fitting.step * 0.5 * (1 + np.cos(np.pi * number / steps))
        step *= np.sqrt(1 - 0.999 ** (number + 1)) / (1 - 0.9 ** (number + 1))
        for i, gradient in enumerate(_gradients(weights, inputs[chosen], values[chosen])):
            first_moment[i] += 0.1 * (gradient - first_moment[i])
            second_moment[i] += 0.001 * (gradient * gradient - second_moment[i])
            weights[i] -= step * first_moment[i] / (np.sqrt(second_moment[i]) + 1e-8)
    return Net(tuple(weights))


def _gradients(weights: list[F64], inputs: F64, values: F64) -> list[F64]:
    """Gradients of half the mean square error by weights."""
    first, first_bias, second, second_bias, last, last_bias = weights
    hidden = np.maximum(inputs @ first + first_bias, 0.0)
    deeper = np.maximum(hidden @ second + second_bias, 0.0)
    slope = (deeper @ last + last_bias - values) / values.size
    back = (slope @ last.T) * (deeper > 0)
    further = (back @ second.T) * (hidden > 0)
    return [
        inputs.T @ further, further.sum(axis=0),
        hidden.T @ back, back.sum(axis=0),
        deeper.T @ slope, slope.sum(axis=0),
    ]  # fmt: skip
