"""Time limits of a match, counted as the reference ACPC dealer counts them.

Each seat has three budgets: for one response, for all its responses in a hand, and for the whole match (a
number per hand times the number of hands; unspent time carries over). A response's time runs from the match
state being sent to the reply line being complete. A line that is no answer is charged from the same start,
and the answer after it once more.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from game.definition import NUM_PLAYERS

_UINT64 = 2**64


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """In milliseconds. A negative limit wraps to the largest number there is, so it means none."""

    response_ms: int = 600_000
    hand_ms: int = 600_000
    per_hand_ms: int = 7_000

    def response_us(self) -> int:
        """For one response, in microseconds."""
        return self.response_ms * 1000 % _UINT64

    def hand_us(self) -> int:
        """For one hand."""
        return self.hand_ms * 1000 % _UINT64

    def match_us(self, hands: int) -> int:
        """For a match of so many hands."""
        return self.per_hand_ms * 1000 * hands % _UINT64


class MatchClock:
    """What each seat has used of its budgets."""

    def __init__(self, limits: TimeLimits, hands: int) -> None:
        self._response_us = limits.response_us()
        self._hand_us = limits.hand_us()
        self._match_us = limits.match_us(hands)
        self._used_hand_us = [0] * NUM_PLAYERS
        self.used_match_us = [0] * NUM_PLAYERS

    def start_hand(self) -> None:
        """A new hand begins, with a fresh budget."""
        self._used_hand_us = [0] * NUM_PLAYERS

    def charge(self, seat: int, asked_us: int, answered_us: int) -> bool:
        """Count one response; False when the seat has run out of time."""
        used = answered_us - asked_us
        if used < 0:  # stamps in a transaction file may come from a clock that was set back
            return True
        self._used_hand_us[seat] += used
        self.used_match_us[seat] += used
        return (
            used <= self._response_us
            and self._used_hand_us[seat] <= self._hand_us
            and self.used_match_us[seat] <= self._match_us
        )


_EPOCH_NS = time.time_ns() - time.monotonic_ns()


def now_us() -> int:
    """Microseconds since the epoch that never go back, whatever happens to the system's clock meanwhile."""
    return (_EPOCH_NS + time.monotonic_ns()) // 1000
