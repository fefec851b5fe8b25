"""Save the hands and decisions of dealer matches in the hand store."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from protocol.acpc import MatchState
from server.decisions import DecisionAnswer, DecisionRequest
from server.store.hand_records import Channel, StoredHand, stored_decision
from server.store.hand_store import HandStore


@dataclass(slots=True)
class _Now:
    """A match's current hand."""

    hand: StoredHand
    decisions: int = 0


class MatchRecorder:
    """A `MatchObserver` that saves everything. `store` is called when there is something to save."""

    def __init__(self, store: Callable[[], HandStore]) -> None:
        self._store = store
        # Matches are numbered from 1 in every run of the daemon: a random prefix keeps ids unique.
        self._run = secrets.token_hex(4)
        self._now: dict[str, _Now] = {}

    async def on_decision(
        self, match: str, opponent: str, state: MatchState, request: DecisionRequest, answer: DecisionAnswer
    ) -> None:
        """Save a decision, and the hand as it was before the decision."""
        now = self._hand(match, opponent, state)
        decision = stored_decision(now.hand.id, now.decisions, request, answer, time.time())
        now.decisions += 1
        await self._store().save(now.hand, decision)

    async def on_hand(self, match: str, opponent: str, state: MatchState) -> None:
        """Save a finished hand."""
        hand = self._hand(match, opponent, state).hand
        del self._now[match]
        chips = state.state.values()[state.position]
        await self._store().save(replace(hand, finished_at=time.time(), chips=chips))

    def _hand(self, match: str, opponent: str, state: MatchState) -> _Now:
        name = f"{self._run}-{match}"
        hand_id = f"{name}-{state.hand_id}"
        now = self._now.get(match)
        seen = state.state
        if now is None or now.hand.id != hand_id:
            hand = StoredHand(
                id=hand_id,
                channel=Channel.ACPC,
                match=name,
                number=state.hand_id,
                opponent=opponent,
                position=state.position,
                betting=seen.betting.text,
                hole=seen.hole,
                board=seen.board,
                started_at=time.time(),
            )
            now = self._now[match] = _Now(hand)
        else:
            now.hand = replace(now.hand, betting=seen.betting.text, hole=seen.hole, board=seen.board)
        return now
