from __future__ import annotations

from math import inf
from types import SimpleNamespace

import pytest

from solver.decisions.limits import UNLIMITED, Countdown, Limits, solve_in_slices

FAR = 1e9


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which only solves let pass."""
    now = [1000.0]
    monkeypatch.setattr("solver.decisions.limits.time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


class SlowSolve:
    """A solve whose iterations take some time; one that is cut off by its deadline is lost."""

    def __init__(self, clock: list[float], seconds: float = 1e-6) -> None:
        self.clock, self.seconds, self.done, self.lost = clock, seconds, 0, 0
        self.calls: list[tuple[int, float]] = []

    def advance(self, target: int, deadline: float) -> int:
        self.calls.append((target, deadline))
        while self.done < target:
            if self.clock[0] + self.seconds > deadline:
                self.clock[0] = max(deadline, self.clock[0])
                self.lost += 1
                return self.done
            self.clock[0] += self.seconds
            self.done += 1
        return self.done


def test_without_stop_or_report_a_solve_is_one_call(clock: list[float]) -> None:
    solve = SlowSolve(clock)
    solve_in_slices(solve.advance, 1, 500, FAR, Limits())
    assert solve.calls == [(500, FAR)]


def test_a_stop_ends_a_solve_between_slices(clock: list[float]) -> None:
    solve = SlowSolve(clock)
    solve_in_slices(solve.advance, 0, 10**9, FAR, Limits(stop=lambda: len(solve.calls) >= 3))
    assert len(solve.calls) == 3


def test_finished_solve_is_not_continued(clock: list[float]) -> None:
    solve = SlowSolve(clock)
    solve_in_slices(solve.advance, 0, 50, FAR, Limits(stop=lambda: False))
    assert solve.done == 50
    assert [target for target, _ in solve.calls] == sorted({target for target, _ in solve.calls})


def test_iterations_longer_than_a_slice_are_not_lost(clock: list[float]) -> None:
    solve = SlowSolve(clock, seconds=0.03)
    solve_in_slices(solve.advance, 0, 10**9, clock[0] + 0.25, Limits(stop=lambda: False))
    assert solve.done == 8
    assert solve.lost == 1
    assert len({deadline for _, deadline in solve.calls}) == 1  # only the deadline cuts one off


def test_progress_is_reported_at_every_slice(clock: list[float]) -> None:
    solve, told = SlowSolve(clock), list[tuple[int, int]]()
    solve_in_slices(solve.advance, 3, 50, FAR, Limits(report=lambda done, most: told.append((done, most))))
    assert told[0] == (3, 50), "before the first slice"
    assert told[1:] == [(target, 50) for target, _ in solve.calls]
    assert told[-1] == (50, 50)
    assert len(told) > 2


def test_cut_off_solve_reports_its_iterations(clock: list[float]) -> None:
    solve, told = SlowSolve(clock, seconds=0.03), list[int]()
    limits = Limits(report=lambda done, _most: told.append(done))
    solve_in_slices(solve.advance, 0, 10**9, clock[0] + 0.25, limits)
    assert told[-1] == solve.done == 8


def test_a_countdown_runs_from_its_start() -> None:
    countdown = Countdown(Limits(seconds=2.0), started=FAR)
    assert countdown.deadline == FAR + 2
    assert countdown.left is not None
    assert countdown.left > 1e5
    assert countdown.shortened(0.5) == Countdown(Limits(seconds=1.0), started=FAR)


def test_a_countdown_without_a_time_limit_never_ends() -> None:
    countdown = Countdown(UNLIMITED)
    assert countdown.deadline == inf
    assert countdown.left is None
    assert countdown.shortened(0.5) is countdown
