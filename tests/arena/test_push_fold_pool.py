"""Push/fold pools with known mistakes lose what the mistakes cost."""

from __future__ import annotations

import numpy as np
import pytest

from arena.push_fold_pool import PoolDecision, pool_report
from game.hands import HAND_CLASS, NUM_HANDS, class_text
from solver.equity.push_fold import gains, small_blind_value, solve_push_fold

HANDS = range(NUM_HANDS)


def everybody(position: int, all_in: bool) -> list[PoolDecision]:
    return [PoolDecision(position, hand, all_in) for hand in HANDS]


def test_an_empty_pool_plays_the_equilibrium() -> None:
    report = pool_report(10.0, [])
    solved = solve_push_fold(10.0)
    assert report.decisions == 0
    assert report.bot_value == pytest.approx(0.0, abs=1e-6)
    assert report.seats[1].bot_value == pytest.approx(solved.value, abs=1e-6)
    assert report.seats[0].bot_value == pytest.approx(-solved.value, abs=1e-6)
    assert all(seat.all_in is None and not seat.misplayed for seat in report.seats)


def test_a_pool_that_always_folds_loses_its_blinds() -> None:
    report = pool_report(10.0, everybody(0, False) + everybody(1, False))
    assert report.seats[0].bot_value == pytest.approx(0.5), "the small blind always folds"
    solved = solve_push_fold(10.0)
    assert report.seats[1].bot_value == pytest.approx(small_blind_value(10.0, solved.push, np.zeros(169)))
    assert report.seats[1].bot_inefficient_hands > 400, "any two cards should push into a pool that folds"
    costly = [found.hand for found in report.seats[1].misplayed[:3]]
    assert {"AA", "KK"} & {found.hand for found in report.seats[0].misplayed[:8]}
    assert costly


def test_one_mistake_costs_its_gain() -> None:
    """One player pushes 72o half of the time."""
    hand = next(hand for hand in HANDS if class_text(int(HAND_CLASS[hand])) == "72o")
    report = pool_report(10.0, [PoolDecision(1, hand, True), PoolDecision(1, hand, False)])
    solved = solve_push_fold(10.0)
    gain = float(gains(10.0, solved.push, solved.call).push[HAND_CLASS[hand]])
    [found] = report.seats[1].misplayed
    assert (found.hand, found.seen, found.all_in) == ("72o", 2, 0.5)
    assert found.cost == pytest.approx(-gain / 2)
    assert report.seats[0].bot_value > -solved.value, "the bot in the big blind wins more"
    assert report.seats[1].bot_value == pytest.approx(solved.value, abs=1e-6), "the other seat is not touched"
    assert report.decisions == 2


def test_the_record_is_json() -> None:
    record = pool_report(10.0, everybody(0, True)).record()
    assert record["positions"]["big blind"]["decisions"] == NUM_HANDS
    assert record["positions"]["small blind"]["all_in"] is None
    misplayed = record["positions"]["big blind"]["misplayed"]
    assert misplayed[0].keys() == {"hand", "seen", "all_in", "equilibrium", "cost"}
