"""The push/fold equilibrium against published thresholds and a brute-force best response."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from game.hands import class_text
from solver.equity.class_pairs import class_pairs, class_wins
from solver.equity.push_fold import class_shares, gains, small_blind_value, solve_push_fold

CLASSES = {class_text(c): c for c in range(169)}


@cache
def call_gain(stack: float, hand: str) -> float:
    solved = solve_push_fold(stack)
    return float(gains(stack, solved.push, solved.call).call[CLASSES[hand]])


@cache
def push_gain(stack: float, hand: str) -> float:
    solved = solve_push_fold(stack)
    return float(gains(stack, solved.push, solved.call).push[CLASSES[hand]])


@pytest.mark.parametrize(("hand", "most"), [("J9o", 9.5), ("K5o", 10.2)])
def test_the_big_blind_calls_up_to_the_published_stacks(hand: str, most: float) -> None:
    """Thresholds of the chart that Chin and Lopez (2023, section 3.4) compare with; it has one digit."""
    assert call_gain(most - 0.1, hand) > 0 > call_gain(most + 0.1, hand)


@pytest.mark.parametrize(("hand", "most"), [("K2o", 11.6), ("Q2s", 12.7), ("J3s", 10.6)])
def test_the_small_blind_pushes_up_to_the_published_stacks(hand: str, most: float) -> None:
    """Thresholds of the widely printed chart of the heads-up equilibrium."""
    assert push_gain(most - 0.1, hand) > 0 > push_gain(most + 0.1, hand)


def test_the_chart_at_ten_big_blinds() -> None:
    push = solve_push_fold(10.0).push
    for hand in ("22", "AA", "A2o", "A2s", "K2o", "K2s", "Q2s", "98o", "54s", "J4s"):
        assert push[CLASSES[hand]] > 0.99, hand
    for hand in ("72o", "32o", "32s", "Q2o", "T2o", "94o", "42s", "J2o"):
        assert push[CLASSES[hand]] < 0.01, hand
    assert float(class_shares() @ push) == pytest.approx(0.583, abs=0.002)


@pytest.mark.parametrize("stack", [2.0, 10.0, 20.0])
def test_no_best_response_gains(stack: float) -> None:
    """Best responses by class, written out with loops over a few classes."""
    solved = solve_push_fold(stack)
    assert solved.exploitability <= 1e-7
    pairs, wins = class_pairs().astype(float), class_wins().astype(float)
    for hand in ("AA", "J9o", "72o", "55", "43s"):
        c = CLASSES[hand]
        pushing = calling = met = pushed = 0.0
        for other in range(169):
            times, won = pairs[c, other], wins[c, other] * stack
            met += times
            pushing += times * (solved.call[other] * won + (1 - solved.call[other]) * 1.0)
            pushed += times * solved.push[other]
            calling += times * solved.push[other] * won
        found = gains(stack, solved.push, solved.call)
        assert found.push[c] == pytest.approx(pushing / met + 0.5, abs=1e-9)
        assert found.call[c] == pytest.approx(calling / pushed + 1.0, abs=1e-9)
        for gain, share in ((found.push[c], solved.push[c]), (found.call[c], solved.call[c])):
            if abs(gain) > 1e-2:
                assert share == pytest.approx(float(gain > 0), abs=1e-3), hand


def test_value_matches_both_strategies() -> None:
    solved = solve_push_fold(10.0)
    assert small_blind_value(10.0, solved.push, solved.call) == pytest.approx(solved.value, abs=1e-12)
    never = np.zeros(169)
    assert small_blind_value(10.0, never, solved.call) == -0.5
    assert small_blind_value(10.0, np.ones(169), never) == 1.0
    assert small_blind_value(10.0, np.ones(169), np.ones(169)) == pytest.approx(0.0, abs=1e-6)


def test_a_tiny_stack_pushes_and_calls_everything() -> None:
    solved = solve_push_fold(1.0)
    assert solved.push.min() > 0.99
    assert solved.call.min() > 0.99


@pytest.mark.parametrize("stack", [0.0, -1.0, 1000.0, float("nan")])
def test_stacks_out_of_range_are_refused(stack: float) -> None:
    with pytest.raises(ValueError, match="stack: must be from"):
        solve_push_fold(stack)
