"""Time limits of a match, counted as the reference ACPC dealer counts them.

Each seat has three budgets: per response, per hand, and for the whole match (a time per hand multiplied by
the number of hands; unused time carries over). A response's time runs from sending the match state to
receiving the complete reply line. A line that is not an answer is charged from the same start, and the answer
after it is charged from that start again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from game.definition import NUM_PLAYERS

_UINT64 = 2**64


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Limits in milliseconds. A negative limit wraps around to a huge unsigned number: no limit."""

    response_ms: int = 600_000
    hand_ms: int = 600_000
    per_hand_ms: int = 7_000

    def response_us(self) -> int:
        """The limit for one response, in microseconds."""
        return self.response_ms * 1000 % _UINT64

    def hand_us(self) -> int:
        """The limit for one hand, in microseconds."""
        return self.hand_ms * 1000 % _UINT64

    def match_us(self, hands: int) -> int:
        """The limit for a match of `hands` hands, in microseconds."""
        return self.per_hand_ms * 1000 * hands % _UINT64


class MatchClock:
    """The time each seat has used."""

    def __init__(self, limits: TimeLimits, hands: int) -> None:
        self._response_us = limits.response_us()
        self._hand_us = limits.hand_us()
        self._match_us = limits.match_us(hands)
        self._used_hand_us = [0] * NUM_PLAYERS
        self.used_match_us = [0] * NUM_PLAYERS

    def start_hand(self) -> None:
        """Reset the time used in the hand."""
        self._used_hand_us = [0] * NUM_PLAYERS

    def charge(self, seat: int, asked_us: int, answered_us: int) -> bool:
        """Charge one response; returns False if the seat has run out of time."""
        used = answered_us - asked_us
        if used < 0:  # the clock may have been set back between timestamps of a transaction file
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
    """Microseconds since the epoch; never goes back, even if the system clock is changed."""
    return (_EPOCH_NS + time.monotonic_ns()) // 1000
