"""Estimates of iterations from time."""

from __future__ import annotations

from solver.agent.pace import Pace


def test_iterations_grow_with_time_and_threads_and_shrink_with_actions() -> None:
    pace = Pace()
    usual = pace.iterations(2, 100, 1.0, 1)
    assert pace.iterations(2, 100, 2.0, 1) == 2 * usual
    assert pace.iterations(2, 100, 1.0, 2) == 2 * usual
    assert pace.iterations(2, 200, 1.0, 1) == usual / 2


def test_pace_follows_measured_solves() -> None:
    pace = Pace()
    before = pace.iterations(2, 100, 1.0, 1)
    for _ in range(30):
        pace.learn(2, 100, 10, 1.0, 1)
    assert pace.iterations(2, 100, 1.0, 1) < before
    assert abs(pace.iterations(2, 100, 1.0, 1) - 10) < 1
    for nodes, iterations in ((100, 0), (100, 1), (3, 100)):  # too small: mostly set-up time
        pace.learn(2, nodes, iterations, 9.0, 1)
    assert abs(pace.iterations(2, 100, 1.0, 1) - 10) < 1
