"""What a solve may take: time, threads, and until somebody asks it to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_SLICE_SECONDS = 0.02
"""How often a solve that may be asked to stop looks up."""


def _nobody_asks() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one decision."""

    seconds: float | None = None
    """To think; None: until all iterations are done."""
    stop: Callable[[], bool] = _nobody_asks
    """Polled every few milliseconds; once true, what is known so far is the answer."""

    threads: int | None = None
    """To think with; None: as the agent's settings say."""

    @property
    def can_stop(self) -> bool:
        """Whether anybody might ask."""
        return self.stop is not _nobody_asks


UNLIMITED = Limits()


def solve_in_slices(advance: Callable[[float], bool], deadline: float, limits: Limits) -> None:
    """Advance a solve to its deadline (`time.monotonic`), looking up now and then if it may be stopped.

    advance  solves until a time given, and says whether there is more to do
    """
    if not limits.can_stop:
        advance(deadline)
        return
    while not limits.stop():
        until = min(deadline, time.monotonic() + _SLICE_SECONDS)
        if not advance(until) or until >= deadline:
            return
