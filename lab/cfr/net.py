"""A small neural net in plain numpy: two hidden layers, trained by Adam on the mean square error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numeric.arrays import F64, I64
from numeric.two_layers import Descent, descend, first_weights, gradients


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
    """Train a net. Deterministic given the generator."""
    weights = first_weights((inputs.shape[1], fitting.hidden, fitting.hidden, values.shape[1]), rng)

    def slopes(chosen: I64) -> list[F64]:
        wanted = values[chosen]
        return gradients(weights, inputs[chosen], lambda found: (found - wanted) / wanted.size)

    descend(weights, len(inputs), slopes, Descent(fitting.epochs, fitting.batch, fitting.step), rng)
    return Net(tuple(weights))
