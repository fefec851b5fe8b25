"""Stratified sampling with known probabilities: where to sample next, the mean and its interval.

1. A stratum's standard deviation is a mixture of its own and of a model, σ = c · scale, with one c for all,
   so that a few samples that happen to agree do not starve a stratum. The interval uses the same mixtures.
2. The next sample goes where it reduces the variance of the total most per second:
   p²σ² / (n(n + 1)) / seconds (Neyman allocation with costs, one sample at a time).
3. The allocation depends on the samples, which biases the mean slightly; the mixture keeps the bias small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from arena.runs.statistics import Z_95
from numeric.arrays import F64

PILOT = 2
"""Number of samples that every stratum gets first."""

_MODEL_WEIGHT = 8.0
"""Weight of the model in the mixture, in degrees of freedom."""
_COST_WEIGHT = 2.0


@dataclass(slots=True, eq=False)
class Stratum:
    """One stratum and its samples."""

    probability: float
    scale: float
    """The model's standard deviation, up to a common factor."""
    values: list[float] = field(default_factory=list)
    seconds: float = 0.0
    """Seconds of all samples together."""
    started: int = 0
    """Samples started, finished ones included."""

    def add(self, value: float, seconds: float) -> None:
        """Add a finished sample."""
        self.values.append(value)
        self.seconds += seconds
        self.started = max(self.started, len(self.values))

    @property
    def count(self) -> int:
        """Number of finished samples."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean of the samples; 0 without samples."""
        return sum(self.values) / self.count if self.values else 0.0

    @property
    def squares(self) -> float:
        """The sum of squared deviations from the mean."""
        return float(np.var(self.values)) * self.count if self.values else 0.0


class Strata:
    """All strata of a measurement."""

    def __init__(self, strata: Sequence[Stratum]) -> None:
        self.strata = tuple(strata)

    @property
    def in_pilot(self) -> bool:
        """Whether some stratum has fewer than `PILOT` samples started."""
        return any(s.started < PILOT for s in self.strata)

    @property
    def mean(self) -> float:
        """The mean over all strata."""
        return sum(s.probability * s.mean for s in self.strata)

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval; infinite while a stratum has fewer than `PILOT` samples."""
        if any(s.count < PILOT for s in self.strata):
            return math.inf
        return Z_95 * math.sqrt(float((self.errors() ** 2).sum()))

    def errors(self) -> F64:
        """float64[S]: standard errors of the strata's contributions to the mean."""
        counts = np.array([max(s.count, 1) for s in self.strata])
        probabilities = np.array([s.probability for s in self.strata])
        errors: F64 = probabilities * self.deviations() / np.sqrt(counts)
        return errors

    def deviations(self) -> F64:
        """float64[S]: standard deviations of a sample, mixing own samples and model."""
        freedom = np.array([max(s.count - 1, 0) for s in self.strata], dtype=np.float64)
        squares = np.array([s.squares for s in self.strata])
        scales = np.array([s.scale for s in self.strata])
        known = freedom.sum() > 0 and squares.sum() > 0
        ratio = float((squares / scales**2).sum() / freedom.sum()) if known else 1.0
        mixed: F64 = (squares + _MODEL_WEIGHT * ratio * scales**2) / (freedom + _MODEL_WEIGHT)
        return np.sqrt(mixed)

    def next(self) -> int:
        """The index of the stratum to sample next; counts the sample as started."""
        started = np.array([s.started for s in self.strata])
        if self.in_pilot:
            chosen = int(started.argmin())
        else:
            probabilities = np.array([s.probability for s in self.strata])
            variance = (probabilities * self.deviations()) ** 2
            chosen = int((variance / (started * (started + 1)) / self._costs()).argmax())
        self.strata[chosen].started += 1
        return chosen

    def _costs(self) -> F64:
        """float64[S]: seconds per sample, shrunk towards the overall mean where there are few samples."""
        counts = np.array([s.count for s in self.strata])
        seconds = np.array([s.seconds for s in self.strata])
        mean = max(float(seconds.sum() / max(counts.sum(), 1)), 1e-6)
        costs: F64 = (seconds + _COST_WEIGHT * mean) / (counts + _COST_WEIGHT)
        return costs
