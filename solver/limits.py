"""What a solve may take: time, threads, and until somebody asks it to stop; and who hears how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_SLICE_SECONDS = 0.02
"""How often a solve that may be asked to stop, or tells how far it is, looks up."""


def _nobody_asks() -> bool:
    return False


def _nobody_listens(_iterations: int, _most: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one decision."""

    seconds: float | None = None
    """To think; None: until all iterations are done."""
    stop: Callable[[], bool] = _nobody_asks
    """Polled between iterations; once true, what is known so far is the answer."""

    threads: int | None = None
    """To think with; None: as the agent's settings say."""

    report: Callable[[int, int], None] = _nobody_listens
    """Told now and then how many iterations are done, and how many there are at most. A decision may take
    more than one solve: the numbers then begin anew."""

    @property
    def needs_slices(self) -> bool:
        """Whether anybody might ask, or listens."""
        return self.stop is not _nobody_asks or self.report is not _nobody_listens


UNLIMITED = Limits()
NO_TIME = Limits(seconds=0.0)


def solve_in_slices(
    advance: Callable[[int, float], int], done: int, most: int, deadline: float, limits: Limits
) -> None:
    """Advance a solve to its last iteration or its deadline, looking up now and then if the limits want it.

    A slice is a number of iterations, at least one: an iteration that is cut off is lost, so nothing but the
    deadline may do that.

    advance  solves to so many iterations in all, or until a time (`time.monotonic`); returns how many are
             done
    done     so far
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
