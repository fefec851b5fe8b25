"""Variance-reduced results of a match: all-in adjusted, or corrected by AIVAT."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.duplicate.results import Estimate, MatchResult, estimate
from numeric.arrays import F64


@dataclass(frozen=True, slots=True)
class Adjusted:
    """A variance-reduced estimate of the win rate."""

    name: str
    estimate: Estimate
    """Over the same samples as the plain result."""
    deviation: float
    """Standard deviation per hand, in mbb."""
    reduction: float
    """Relative reduction of the standard deviation per hand."""
    sample_reduction: float
    """The same per sample: in duplicate matches, per pair of hands."""

    @property
    def variance_removed(self) -> float:
        """Relative reduction of the variance per sample: the share of hands saved for the same interval."""
        return 1.0 - (1.0 - self.sample_reduction) ** 2

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.estimate} (variance {-self.variance_removed:+.0%},"
            f" standard deviation of a hand {-self.reduction:+.0%})"
        )

    def to_json(self) -> dict[str, float | None]:
        """The estimate as JSON values."""
        return {
            **self.estimate.to_json(),
            "sd_hand_mbb": self.deviation,
            "sd_reduction": self.reduction,
            "sd_reduction_samples": self.sample_reduction,
            "variance_removed": self.variance_removed,
        }


def adjusted(result: MatchResult, name: str, chips: F64) -> Adjusted:
    """The estimate from adjusted chips of player A, float64[H]."""
    mbb = chips * (1000.0 / max(result.definition.big_blind, 1))
    samples: F64 = mbb.reshape(-1, result.hands_per_sample).mean(axis=1)
    return Adjusted(
        name,
        estimate(samples),
        float(np.std(mbb)),
        _reduction(result.mbb, mbb),
        _reduction(result.samples, samples),
    )


def _reduction(before: F64, after: F64) -> float:
    deviation = float(np.std(before))
    return 1.0 - float(np.std(after)) / deviation if deviation > 0 else 0.0
