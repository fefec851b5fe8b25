"""Where a nested solve starts, and what it must know of the hand so far.

1. A subgame is rooted just before the opponent's last action of the round, or at the start of the round if he
   has not acted in it (Brown, Sandholm and Amos, 2018). He is offered what the menu offers there, and what he
   did.
2. A `Context` is what one decision leaves for the next: both ranges after our action, and how often the
   opponent calls it with each hand, by which his range goes on if the next thing that happens is a card.
3. Ranges are never empty: every possible hand keeps a little weight, so that an action the solution never
   takes leaves something to go on with.
4. What nobody ever does has no answer in a solution: regrets that nothing reaches do not move. If the
   opponent did it all the same, the subgame is solved from our decision on.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgpack
import numpy as np

from game.actions import Action, ActionKind
from game.betting import BettingState, start
from game.cards import Cards
from game.hands import NUM_HANDS, unblocked
from solver.layout import F32
from solver.tree import CALL_ACTION, FOLD_ACTION, BettingRoot

LEAST_SHARE = 1e-4
"""Of the largest weight of a range, for every possible hand."""


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What is known after one of our actions."""

    text: str
    """The betting up to that action, as `BettingState.text` has it."""
    ranges: F32
    """float32[2, 1326]: both players' weights."""
    call: F32
    """float32[1326]: how often the opponent calls or checks behind with each hand, if it is his turn."""

    def to_bytes(self) -> bytes:
        """As one message: it travels with a decision from process to process."""
        return bytes(
            msgpack.packb({"text": self.text, "ranges": self.ranges.tobytes(), "call": self.call.tobytes()})
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Context:
        """Read what `to_bytes` wrote."""
        fields = msgpack.unpackb(data)
        ranges = np.frombuffer(fields["ranges"], dtype=np.float32).reshape(2, NUM_HANDS)
        return cls(fields["text"], ranges, np.frombuffer(fields["call"], dtype=np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class SubgameRoot:
    """Where to solve from."""

    betting: BettingState
    """At the root."""
    root: BettingRoot
    path: tuple[Action, ...]
    """The opponent's action that leads from the root to the decision; empty if we act first."""
    ranges: F32
    """float32[2, 1326]: at the root, blocked hands 0."""
    board: Cards

    @property
    def extra(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        """What the tree must offer besides its menu."""
        raises = tuple([action.raise_to for action in self.path if action.kind is ActionKind.RAISE])
        return {(): raises} if raises else {}


def betting_states(betting: BettingState) -> list[BettingState]:
    """All states of a hand's betting, from the blinds to the one given."""
    states = [start(betting.definition)]
    for actions in betting.actions:
        for action in actions:
            states.append(states[-1].apply(action))
    return states


def find_root(
    betting: BettingState, board: Cards, context: Context, at_decision: bool = False
) -> SubgameRoot:
    """Root the subgame of a decision after the flop.

    context      of our last decision, or of the end of the round before the flop
    at_decision  start after the opponent's action, as if he took it with all his hands
    """
    states = betting_states(betting)
    own = betting.actor
    before = states[-2]
    opponent_acted = before.round_index == betting.round_index and before.actor == 1 - own
    with_action = opponent_acted and not at_decision
    root_state = before if with_action else states[-1]
    ranges = _ranges_at(root_state, states, context, own)
    live = unblocked(board)
    ranges = np.stack([_keep_alive(weights, live) for weights in ranges])
    round_start = next(state.max_spent for state in states if state.round_index == betting.round_index)
    root = BettingRoot(
        street=betting.round_index,
        spent=root_state.spent,
        stack=min(betting.definition.stacks),
        big_blind=betting.definition.big_blind,
        actor=root_state.actor,
        last_raise=root_state.min_raise_to - root_state.max_spent,
        opened=bool(root_state.actions[-1]),
        round_start=round_start,
        raises=root_state.raises,
    )
    path = (betting.actions[-1][-1],) if with_action else ()
    return SubgameRoot(root_state, root, path, ranges, board)


def action_code(action: Action) -> int:
    """An action as trees write it."""
    if action.kind is ActionKind.FOLD:
        return FOLD_ACTION
    return CALL_ACTION if action.kind is ActionKind.CALL else action.raise_to


def everything() -> F32:
    """float32[2, 1326]: both ranges before anybody has acted."""
    return np.ones((2, NUM_HANDS), dtype=np.float32)


def _ranges_at(root: BettingState, states: list[BettingState], context: Context, own: int) -> F32:
    """The context's ranges, the opponent's call taken into account if it closed the round since."""
    ranges = context.ranges.copy()
    since = states[[state.text for state in states].index(context.text)]
    if not since.is_finished and since.actor == 1 - own and since.round_index < root.round_index:
        ranges[1 - own] *= context.call
    return ranges


def _keep_alive(weights: F32, live: np.ndarray) -> F32:
    """A range scaled to a largest weight of 1, with at least a little of every possible hand."""
    possible = np.where(live, weights, 0)
    largest = possible.max()
    if largest <= 0:
        return live.astype(np.float32)
    scaled: F32 = np.where(live, np.maximum(possible / largest, LEAST_SHARE), 0).astype(np.float32)
    return scaled
