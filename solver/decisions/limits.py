"""Limits of a solve: time, threads and a request to stop; and a callback for its progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

_SLICE_SECONDS = 0.02
"""Time of a slice, after which a solve checks for a stop and reports its progress."""


def _never_stop() -> bool:
    return False


def _no_report(_iterations: int, _most: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one decision."""

    seconds: float | None = None
    """Time for the decision; None: until all iterations are done."""
    stop: Callable[[], bool] = _never_stop
    """Polled between iterations. Once it is true, the solve returns what it has."""

    threads: int | None = None
    """Threads of the solve; None: as in the agent's settings."""

    report: Callable[[int, int], None] = _no_report
    """Called now and then with the finished and the maximum number of iterations. A decision may take more
    than one solve: then the numbers start again."""

    @property
    def needs_slices(self) -> bool:
        """Whether a solve must check for a stop or report its progress."""
        return self.stop is not _never_stop or self.report is not _no_report


UNLIMITED = Limits()
NO_TIME = Limits(seconds=0.0)


@dataclass(frozen=True, slots=True)
class Countdown:
    """The limits of a decision that has begun."""

    limits: Limits
    started: float = field(default_factory=time.monotonic)
    """By `time.monotonic`."""

    @property
    def left(self) -> float | None:
        """Seconds left; None: no time limit."""
        seconds = self.limits.seconds
        return None if seconds is None else self.started + seconds - time.monotonic()

    @property
    def deadline(self) -> float:
        """By `time.monotonic`; infinite without a time limit."""
        seconds = self.limits.seconds
        return inf if seconds is None else self.started + seconds

    def shortened(self, share: float) -> Countdown:
        """A countdown that ends after this share of the time."""
        seconds = self.limits.seconds
        if seconds is None:
            return self
        return Countdown(replace(self.limits, seconds=share * seconds), self.started)


def solve_in_slices(
    advance: Callable[[int, float], int], done: int, most: int, deadline: float, limits: Limits
) -> None:
    """Advance a solve to its last iteration or its deadline, in slices if the limits need them.

    A slice is a number of iterations, at least one. An unfinished iteration is lost, so only the deadline may
    cut one off.

    advance  solves to a total number of iterations, or until a time (`time.monotonic`); returns the number
             of iterations done
    done     iterations done so far
    most     iterations to do in total
    """
    if not limits.needs_slices:
        advance(most, deadline)
        return
    limits.report(done, most)
    step = 1
    while done < most and not limits.stop():
        target = min(done + step, most)
        started = time.monotonic()
        done = advance(target, deadline)
        limits.report(done, most)
        now = time.monotonic()
        if done < target or now >= deadline:
            return
        step = max(min(int(step * _SLICE_SECONDS / max(now - started, 1e-6)), 2 * step), 1)
