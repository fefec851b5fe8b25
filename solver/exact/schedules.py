"""Schedules: how old regrets and strategies are discounted. Members of the CFR family with one update rule.

Before iteration t (from 1) is added, positive regrets are multiplied by `keep_positive`, negative ones by
`keep_negative`, strategy sums by `keep_average`. Regrets are then cut off below at `floor`. Weights that grow
with t become factors below 1 on the past: averaging with weight t^γ means keeping ((t−1)/t)^γ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numeric.arrays import F64

NO_FLOOR = -np.inf

Factors = Callable[[F64], tuple[F64, F64, F64]]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A named member of the family; `factors` maps t (float64 array) to the three factors."""

    name: str
    factors: Factors
    floor: float = 0.0
    predictive: bool = False
    """Whether the strategy is computed from regrets plus the last gain once more (needs a third table)."""

    def table(self, start: int, count: int) -> F64:
        """float64[count, 4] for the iterations after the first `start`: the factors, and keep_next."""
        t = np.arange(start + 1, start + count + 2, dtype=np.float64)
        factors = np.stack([np.broadcast_to(f, t.shape) for f in self.factors(t)], axis=1)
        return np.column_stack([factors[:-1], factors[1:, 0]])

    def sum_of_weights(self, iterations: int) -> float:
        """Total weight of this many iterations in the average strategies; the last one has weight 1."""
        return float(self._weights(iterations).sum())

    def share_of(self, iteration: int, iterations: int) -> float:
        """Share of one iteration, counted from 1, in the average strategies."""
        weights = self._weights(iterations)
        return float(weights[iterations - iteration] / weights.sum())

    def first_share(self, iterations: int) -> float:
        """Share of the first iteration in the average strategies."""
        return self.share_of(1, iterations)

    def _weights(self, iterations: int) -> F64:
        """float64[iterations]: weights, the last iteration's first, which is 1."""
        kept = self.table(1, iterations - 1)[:, 2]
        return np.cumprod(np.append(1.0, kept[::-1]))


def _fade(t: F64, power: float | F64, offset: float = 1.0) -> F64:
    old = (t - 1.0) ** power
    return old / (old + offset)


def _average(t: F64, gamma: float | F64) -> F64:
    return ((t - 1.0) / t) ** gamma


def cfr_plus(gamma: float = 1.0) -> Schedule:
    """CFR+ (Tammelin, 2014): regrets cut at 0, averaging with weight t^gamma."""
    one = np.float64(1.0)
    return Schedule("cfr+", lambda t: (t * 0 + one, t * 0, _average(t, gamma)))


def improved_cfr_plus(horizon: int) -> Schedule:
    """Depth-limited solving's CFR+ (Brown, Sandholm and Amos, 2018): for a known number of iterations.

    Regrets fade by √t/(√t+1) in the first 30 iterations; the average is of the second half only. The paper
    does not say how iterations of that half are weighted: here all alike.
    """

    def factors(t: F64) -> tuple[F64, F64, F64]:
        fade = np.where(t - 1 <= 30, _fade(t, 0.5), 1.0)
        average = np.where(t <= horizon // 2 + 1, 0.0, 1.0)
        return fade, t * 0, average

    return Schedule("improved-cfr+", factors)


def dcfr(alpha: float = 1.5, gamma: float = 4.0, keep_negative: float = 0.5) -> Schedule:
    """Discounted CFR (Brown and Sandholm, 2019); 0.5 is its β = 0: negative regrets halve."""
    name = "dcfr" if keep_negative == 0.5 else f"dcfr({alpha:g}, {keep_negative:g}, {gamma:g})"
    return Schedule(name, lambda t: (_fade(t, alpha), t * 0 + keep_negative, _average(t, gamma)), NO_FLOOR)


def sampled_dcfr(alpha: float = 1.5, gamma: float = 2.0) -> Schedule:
    """Discounted CFR for sampled values: negative regrets fade as slowly as positive ones.

    If they were forgotten within a few iterations, one or two lucky run-outs would bring back a bad action.
    """
    return Schedule(
        f"dcfr({alpha:g}, {alpha:g}, {gamma:g})",
        lambda t: (_fade(t, alpha), _fade(t, alpha), _average(t, gamma)),
        NO_FLOOR,
    )


def dcfr_plus(alpha: float = 1.5, gamma: float = 4.0) -> Schedule:
    """DCFR+ (Xu et al., 2022): discounted, and cut at 0.

    The discount is t^α/(t^α + 1.5), not + 1 as elsewhere, as in the authors' program (rpSebastian/PDCFRPlus).
    """
    return Schedule("dcfr+", lambda t: (_fade(t, alpha, 1.5), t * 0, _average(t, gamma)))


def hs_dcfr(horizon: int = 1000, gamma: float = 30.0) -> Schedule:
    """DCFR by a hyperparameter schedule (Zhang, McAleer and Sandholm, 2024); HS-DCFR(30) by default.

    α = 1 + 3t/n, β = −1 − 2t/n and γ = 30 − 5t/n over n = `horizon` iterations, constant from there on.
    """

    def factors(t: F64) -> tuple[F64, F64, F64]:
        progress = np.minimum((t - 1.0) / horizon, 1.0)
        # x^β/(x^β + 1) with β < 0, written so that x = 0 is safe.
        keep_negative = 1.0 / (1.0 + (t - 1.0) ** (1.0 + 2.0 * progress))
        return _fade(t, 1.0 + 3.0 * progress), keep_negative, _average(t, gamma - 5.0 * progress)

    return Schedule("hs-dcfr", factors, NO_FLOOR)


def pcfr_plus(gamma: float = 2.0) -> Schedule:
    """Predictive CFR+ (Farina, Kroer and Sandholm, 2021): quadratic averaging."""
    return Schedule("pcfr+", lambda t: (t * 0 + 1.0, t * 0, _average(t, gamma)), predictive=True)


def pdcfr_plus(alpha: float = 2.3, gamma: float = 5.0) -> Schedule:
    """Predictive and discounted (Xu et al., 2024)."""
    return Schedule("pdcfr+", lambda t: (_fade(t, alpha), t * 0, _average(t, gamma)), predictive=True)


# Between cutting negative regrets off and halving them: as fast as DCFR+, without its large rises of
# exploitability when a strategy changes (docs/solver.md).
DEFAULT_SCHEDULE = dcfr(alpha=1.5, gamma=4.0, keep_negative=0.2)

VARIANTS: dict[str, Callable[[int], Schedule]] = {
    "default": lambda _: DEFAULT_SCHEDULE,
    "cfr+": lambda _: cfr_plus(),
    "improved-cfr+": improved_cfr_plus,
    "dcfr": lambda _: dcfr(),
    "dcfr+": lambda _: dcfr_plus(),
    "hs-dcfr": lambda horizon: hs_dcfr(horizon or 1000),
}
"""Schedules by name; each maps the planned number of iterations to a schedule (most ignore it).

Predictive variants are not included: an archive has no place for their third table."""


def named_schedule(name: str, horizon: int = 0) -> Schedule:
    """The schedule of a name in `VARIANTS`."""
    if name not in VARIANTS:
        raise ValueError(f"{name!r} is not a variant: choose one of {', '.join(VARIANTS)}")
    return VARIANTS[name](horizon)
