from __future__ import annotations

import time

from solver.limits import Limits, solve_in_slices


def test_without_anybody_to_stop_it_a_solve_gets_its_whole_time_at_once() -> None:
    seen: list[float] = []
    deadline = time.monotonic() + 10
    solve_in_slices(lambda until: bool(seen.append(until)), deadline, Limits())
    assert seen == [deadline]


def test_a_stop_ends_a_solve_between_slices() -> None:
    calls = 0

    def advance(_: float) -> bool:
        nonlocal calls
        calls += 1
        return True

    solve_in_slices(advance, time.monotonic() + 1e6, Limits(stop=lambda: calls >= 3))
    assert calls == 3


def test_a_finished_solve_is_not_asked_again() -> None:
    calls: list[float] = []
    solve_in_slices(
        lambda until: bool(calls.append(until)), time.monotonic() + 1e6, Limits(stop=lambda: False)
    )
    assert len(calls) == 1


def test_slices_end_at_the_deadline() -> None:
    deadline = time.monotonic() + 0.05
    seen: list[float] = []

    def advance(until: float) -> bool:
        seen.append(until)
        time.sleep(max(until - time.monotonic(), 0))
        return True

    solve_in_slices(advance, deadline, Limits(stop=lambda: False))
    assert seen[-1] == deadline
    assert len(seen) > 1
