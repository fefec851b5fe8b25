"""Context of a decision: what the next decision of the hand needs to know.

A `Context` carries over from one decision to the next: both ranges after our action, the opponent's strategy
for every reply, by which the opponent's range is updated, and the values promised to the opponent.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgpack
import numpy as np

from game.betting import BettingState
from game.cards import Cards
from game.hands import NUM_HANDS
from numeric.arrays import F32
from solver.games.history import betting_states
from solver.games.tree import CALL_ACTION
from solver.resolving.alternatives import Alternatives


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What is known after one of our actions."""

    text: str
    """The betting up to and including that action, as `BettingState.text`."""
    ranges: F32
    """float32[2, 1326]: both players' weights."""
    replies: dict[int, F32]
    """float32[1326] by action code: probability of the opponent's reply with each hand, if it is their
    turn."""
    alternatives: Alternatives | None = None
    """Values promised to the opponent; None: the next solve is unsafe."""

    def to_bytes(self) -> bytes:
        """Serialise, to send a decision from process to process."""
        fields: dict[str, object] = {
            "text": self.text,
            "ranges": self.ranges.tobytes(),
            "replies": {code: row.tobytes() for code, row in self.replies.items()},
        }
        if self.alternatives is not None:
            here, by_card = self.alternatives.here, self.alternatives.by_card
            fields["here"] = None if here is None else here.tobytes()
            fields["by_card"] = {card: row.tobytes() for card, row in by_card.items()}
        return bytes(msgpack.packb(fields))

    @classmethod
    def from_bytes(cls, data: bytes) -> Context:
        """Read what `to_bytes` wrote."""
        fields = msgpack.unpackb(data, strict_map_key=False)
        alternatives = None
        if "by_card" in fields:
            here = None if fields["here"] is None else _floats(fields["here"])
            alternatives = Alternatives(here, {card: _floats(row) for card, row in fields["by_card"].items()})
        return cls(
            fields["text"],
            _floats(fields["ranges"]).reshape(2, NUM_HANDS),
            {code: _floats(row) for code, row in fields["replies"].items()},
            alternatives,
        )

    def knows_flop(self, betting: BettingState) -> bool:
        """Whether this gives both ranges at the start of the flop, for a hand that has reached it."""
        states = betting_states(betting)
        texts = [state.text for state in states]
        if self.text not in texts:
            return False
        here = texts.index(self.text)
        if states[here].round_index > 0:
            return True
        return states[here + 1].round_index > 0 and CALL_ACTION in self.replies

    def promised(self, betting: BettingState, board: Cards) -> F32 | None:
        """float32[1326]: values promised to the opponent at the root of this decision's subgame, or None.

        That root is the opponent's decision after our action, or the start of the next round.

        None, too, if we have acted since then without a solve (a fallback), because the pots then differ.
        """
        if self.alternatives is None:
            return None
        states = betting_states(betting)
        since = [state.text for state in states].index(self.text)
        if any(state.actor == betting.actor for state in states[since:-1]):
            return None
        if self.alternatives.here is not None and self.text.count("/") == betting.round_index:
            return self.alternatives.here
        return self.alternatives.by_card.get(board[-1])


def _floats(data: bytes) -> F32:
    return np.frombuffer(data, dtype=np.float32)
