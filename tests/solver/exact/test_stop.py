from __future__ import annotations

import time

import numpy as np
import pytest

from numeric.jit import kernel
from numeric.threads import DEADLINE, NO_DEADLINE, STOP, is_stopped, now
from solver.exact.solver import Solver
from solver.games.toys import leduc


@kernel
def read_clock() -> int:
    return now()  # can only be called from kernels


@pytest.mark.kernel
def test_a_stop_word_is_set_by_hand_or_by_the_clock() -> None:
    read_clock()
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    read = read_clock()
    assert before <= read <= time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    stop = np.array([0, NO_DEADLINE], dtype=np.int64)
    assert not is_stopped(stop)
    stop[DEADLINE] = read + 3600 * 10**9
    assert not is_stopped(stop)
    stop[DEADLINE] = read
    assert is_stopped(stop)
    assert stop[STOP] == 1
    stop[DEADLINE] = NO_DEADLINE
    assert is_stopped(stop)


@pytest.mark.parametrize("threads", [1, 2])
def test_past_deadline_leaves_a_valid_average_and_a_usable_solver(threads: int) -> None:
    solver = Solver(leduc(), threads=threads)
    assert solver.solve(deadline=time.monotonic() - 1).iterations == 0
    np.testing.assert_allclose(solver.solution().strategy(0).sum(axis=0), 1, rtol=1e-6)
    assert solver.solve(max_iterations=5).iterations == 5
    assert not np.isnan(solver.exploitability())


@pytest.mark.parametrize("seconds", [1e12, np.inf])
def test_infinite_deadlines_are_accepted(seconds: float) -> None:
    assert Solver(leduc()).solve(max_iterations=5, deadline=time.monotonic() + seconds).iterations == 5


def test_stop_before_the_solve_is_kept() -> None:
    solver = Solver(leduc())
    solver.stop()
    assert solver.solve(max_iterations=5).iterations == 0
    assert solver.solve(max_iterations=5).iterations == 5
