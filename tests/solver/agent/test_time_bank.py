from __future__ import annotations

import pytest

from game.actions import CALL, raise_to
from game.betting import start
from game.definition import HUNL
from protocol.acpc import parse_betting
from solver.agent.time_bank import MatchClock


def test_hand_never_exceeds_its_time() -> None:
    clock = MatchClock(4.0)
    clock.start_hand()
    betting = start(HUNL)
    spent = 0.0
    while not betting.is_finished:
        seconds = clock.seconds_for(betting)
        assert seconds > 0
        clock.spend(seconds)
        spent += seconds
        betting = betting.apply(CALL)
    assert spent < 4.0


def test_big_pots_get_more_time() -> None:
    clock = MatchClock(4.0)
    clock.start_hand()
    small = start(HUNL).apply(CALL).apply(CALL)
    big = start(HUNL).apply(raise_to(2_000)).apply(CALL)
    assert clock.seconds_for(big) > 1.4 * clock.seconds_for(small)


def test_saved_time_is_used_later_and_the_average_holds() -> None:
    clock = MatchClock(1.0)
    for _ in range(50):
        clock.start_hand()
        clock.spend(0.1)
    assert clock.saved_seconds > 3
    clock.start_hand()
    first = clock.seconds_for(start(HUNL))
    assert first > 2 * MatchClock_first(1.0)
    total = 50 * 0.1
    for hands in range(51, 400):
        seconds = 10 * clock.seconds_for(start(HUNL))  # many decisions in every hand
        clock.spend(seconds)
        total += seconds
        assert total <= 1.0 * hands * 1.6 + 1
        clock.start_hand()
    assert total <= 400 * 1.05


def test_overspent_time_is_taken_from_later_hands() -> None:
    clock = MatchClock(1.0)
    clock.start_hand()
    clock.spend(3.0)
    clock.start_hand()
    assert clock.seconds_for(start(HUNL)) < MatchClock_first(1.0)
    assert clock.seconds_for(start(HUNL)) > 0


def test_zero_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 0"):
        MatchClock(0)


def MatchClock_first(seconds: float) -> float:  # noqa: N802
    clock = MatchClock(seconds)
    clock.start_hand()
    return clock.seconds_for(start(HUNL))


def test_savings_of_many_quick_hands_are_limited() -> None:
    clock = MatchClock(2.5)
    for _ in range(10_000):
        clock.start_hand()
    betting = parse_betting(HUNL, "r300r900r2700r8000c/cc/")
    assert clock.seconds_for(betting) == pytest.approx(3.0)
