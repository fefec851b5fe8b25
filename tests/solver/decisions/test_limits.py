from __future__ import annotations

import time
from math import inf

from solver.decisions.limits import UNLIMITED, Countdown, Limits, solve_in_slices

FAR = time.monotonic() + 1e6


class SlowSolve:
    """A solve whose iterations take some time; one that is cut off by its deadline is lost."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds, self.done, self.lost = seconds, 0, 0
        self.calls: list[tuple[int, float]] = []

    def advance(self, target: int, deadline: float) -> int:
        self.calls.append((target, deadline))
        while self.done < target:
            if time.monotonic() + self.seconds > deadline:
                time.sleep(max(deadline - time.monotonic(), 0.0))
                self.lost += 1
                return self.done
            time.sleep(self.seconds)
            self.done += 1
        return self.done


def test_without_stop_or_report_a_solve_is_one_call() -> None:
    solve = SlowSolve()
    solve_in_slices(solve.advance, 1, 500, FAR, Limits())
    assert solve.calls == [(500, FAR)]


def test_a_stop_ends_a_solve_between_slices() -> None:
    solve = SlowSolve()
    solve_in_slices(solve.advance, 0, 10**9, FAR, Limits(stop=lambda: len(solve.calls) >= 3))
    assert len(solve.calls) == 3


def test_finished_solve_is_not_continued() -> None:
    solve = SlowSolve()
    solve_in_slices(solve.advance, 0, 50, FAR, Limits(stop=lambda: False))
    assert solve.done == 50
    assert [target for target, _ in solve.calls] == sorted({target for target, _ in solve.calls})


def test_iterations_longer_than_a_slice_are_not_lost() -> None:
    solve = SlowSolve(seconds=0.03)
    solve_in_slices(solve.advance, 0, 10**9, time.monotonic() + 0.25, Limits(stop=lambda: False))
    assert solve.done >= 2
    assert solve.lost <= 1
    assert len({deadline for _, deadline in solve.calls}) == 1  # only the deadline cuts one off


def test_progress_is_reported_at_every_slice() -> None:
    solve, told = SlowSolve(), list[tuple[int, int]]()
    solve_in_slices(solve.advance, 3, 50, FAR, Limits(report=lambda done, most: told.append((done, most))))
    assert told[0] == (3, 50), "before the first slice"
    assert told[1:] == [(target, 50) for target, _ in solve.calls]
    assert told[-1] == (50, 50)
    assert len(told) > 2


def test_cut_off_solve_reports_its_iterations() -> None:
    solve, told = SlowSolve(seconds=0.03), list[int]()
    limits = Limits(report=lambda done, _most: told.append(done))
    solve_in_slices(solve.advance, 0, 10**9, time.monotonic() + 0.25, limits)
    assert told[-1] == solve.done


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
