"""Finished hands for tests of the store."""

from __future__ import annotations

from random import Random

from arena.players.policies import POLICIES
from game.definition import HUNL
from game.state import new_hand
from server.store.hand_records import Channel, StoredDecision, StoredHand


def played_hand(number: int, channel: Channel = Channel.HTTP, match: str = "m") -> StoredHand:
    """A finished hand between simple players, determined by its number."""
    rng = Random(number)
    cards = tuple(rng.sample(range(52), 9))
    state = new_hand(HUNL, (cards[:2], cards[2:4]), cards[4:])
    policy = POLICIES["random"]
    while not state.betting.is_finished:
        state = state.apply(policy(state, state.betting.actor, rng))
    position = number % 2
    return StoredHand(
        id=f"hand-{number}",
        channel=channel,
        match=match,
        number=number,
        opponent="somebody",
        position=position,
        betting=state.betting.text,
        hole=state.hole,
        board=state.board,
        started_at=1000.0 + number,
        finished_at=1001.0 + number,
        chips=state.values()[position],
    )


def a_decision(hand_id: str, number: int = 0) -> StoredDecision:
    return StoredDecision(
        hand_id, number, "r200", "c", (("f", 0.25), ("c", 0.75)), "exact", "solved", 120, 0.5, 1000.5
    )
