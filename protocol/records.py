"""A played hand, as stored in logs and hand histories."""

from __future__ import annotations

from dataclasses import dataclass

from game.state import HandState


@dataclass(frozen=True, slots=True)
class HandRecord:
    """One hand with its number in the match and its players."""

    hand_id: int
    state: HandState
    players: tuple[str, str]
    """Names by position: big blind first."""
