"""A hand that was played, as logs and hand histories keep it."""

from __future__ import annotations

from dataclasses import dataclass

from game.state import HandState


@dataclass(frozen=True, slots=True)
class HandRecord:
    """One hand, its number in the match and who played it."""

    hand_id: int
    state: HandState
    players: tuple[str, str]
    """Names by position: big blind first."""
