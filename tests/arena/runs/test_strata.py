from __future__ import annotations

import math

import numpy as np

from arena.runs.strata import PILOT, Strata, Stratum


def test_samples_follow_neyman_allocation() -> None:
    """Neyman allocation with costs: n ∝ pσ/√c."""
    probabilities, deviations, costs = (0.5, 0.3, 0.2), (1.0, 4.0, 4.0), (1.0, 1.0, 9.0)
    strata = Strata([Stratum(p, 1.0) for p in probabilities])
    rng = np.random.default_rng(1)
    for _ in range(3000):
        at = strata.next()
        strata.strata[at].add(rng.normal(0, deviations[at]), costs[at])
    ideal = np.array(probabilities) * deviations / np.sqrt(costs)
    counts = np.array([s.count for s in strata.strata])
    np.testing.assert_allclose(counts / counts.sum(), ideal / ideal.sum(), rtol=0.1)


def test_intervals_cover_the_true_mean() -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        strata = Strata([Stratum(0.6, 1.0), Stratum(0.3, 3.0), Stratum(0.01, 9.0)])
        for _ in range(60):
            at = strata.next()
            strata.strata[at].add(rng.normal(at, (1.0, 5.0, 6.0)[at]), 1.0)
        covered += abs(strata.mean - (0.3 + 0.02)) < strata.margin
    assert 180 <= covered <= 200


def test_equal_samples_do_not_starve_a_stratum() -> None:
    strata = Strata([Stratum(0.5, 1.0), Stratum(0.5, 1.0)])
    assert strata.in_pilot
    assert strata.margin == math.inf
    for value in (5.0, 5.0):
        strata.strata[0].add(value, 1.0)
    for value in (-9.0, 9.0):
        strata.strata[1].add(value, 1.0)
    assert not strata.in_pilot
    same, other = strata.deviations()
    assert 0 < same < other
    assert strata.mean == 2.5


def test_a_pilot_comes_first() -> None:
    strata = Strata([Stratum(0.9, 1.0), Stratum(0.001, 1.0)])
    chosen = [strata.next() for _ in range(2 * PILOT)]
    assert sorted(chosen) == [0] * PILOT + [1] * PILOT
    assert strata.next() == 0
