"""Nested subgame solving: where a solve is rooted, and what it needs to know about the hand so far.

1. A subgame is rooted just before the opponent's last action of the round, or at the start of the round if
   the opponent has not acted in it (Brown, Sandholm and Amos, 2018). There the tree offers the menu and the
   action that was taken, so the range that takes this action is solved, too.
2. In a safe subgame the opponent may take the value promised for that node (`solver.alternatives`) instead of
   entering.
3. A `Context` carries over from one decision to the next: both ranges after our action, the opponent's
   strategy for every reply, by which the opponent's range is updated, and the values promised to the
   opponent.
4. Ranges are never empty. Every possible hand keeps a small weight, so that play can go on after an action
   that the solution never takes.
5. An action that the opponent takes very rarely in the solution is still answered by that solution, since the
   opponent avoids it because of the answer. (The alternative, treating the action as uninformative and
   solving again from after it, called a bet of 33 pots with two thirds of our range.) The range then
   stays as it was. There is no answer only if the solve began from nothing and no hand took the action after
   the first iteration, since regrets of nodes with no reach do not change. Then the subgame is rooted at our
   decision.
6. The first iteration is excluded from this test because the players are not alike in it: player 1's uniform
   strategy enters the average, while player 0 has already been updated. So player 1's reach is never exactly
   zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgpack
import numpy as np

from game.actions import CALL, FOLD, Action, ActionKind, raise_to
from game.betting import BettingState, start
from game.cards import Cards
from game.hands import NUM_HANDS, unblocked
from solver.alternatives import Alternatives
from solver.layout import F32
from solver.tree import CALL_ACTION, FOLD_ACTION, BettingRoot

LEAST_SHARE = 1e-4
"""Smallest weight of a possible hand, as a share of the range's largest weight."""

_FIRST_FACTOR = 1.5
"""Reach of up to this many times the first iteration's share of the average counts as taken in the first
iteration only. The factor leaves room for hands that enter a safe subgame less often later on: they can raise
that share by a quarter."""
_FIRST_LIMIT = 1e-3
"""Upper bound of that threshold: with few iterations the first one has a large share."""

NEVER = 1e-4
"""An action taken by a smaller share of the range counts as never taken."""


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


@dataclass(frozen=True, slots=True, eq=False)
class SubgameRoot:
    """Root of a subgame."""

    betting: BettingState
    """Betting at the root."""
    root: BettingRoot
    path: tuple[Action, ...]
    """The opponent's action that leads from the root to the decision; empty if we act first."""
    ranges: F32
    """float32[2, 1326]: ranges at the root, 0 for blocked hands."""
    board: Cards

    @property
    def codes(self) -> tuple[int, ...]:
        """The path as action codes of a tree."""
        return tuple([action_code(action) for action in self.path])

    @property
    def extra(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        """Off-tree raises to add to the menu, by the history before them."""
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
    """Find the subgame root of a decision after the first round.

    context      from our last decision, or from the end of the first round
    at_decision  root after the opponent's action, which then does not narrow the range
    """
    states = betting_states(betting)
    own = betting.actor
    before = states[-2]
    opponent_acted = before.round_index == betting.round_index and before.actor == 1 - own
    with_action = opponent_acted and not at_decision
    root_state = before if with_action else states[-1]
    ranges = _ranges_at(before if opponent_acted else states[-1], states, context, own)
    live = unblocked(board)
    ranges = np.stack([keep_alive(weights, live) for weights in ranges])
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
    """The code of an action in trees."""
    if action.kind is ActionKind.FOLD:
        return FOLD_ACTION
    return CALL_ACTION if action.kind is ActionKind.CALL else action.raise_to


def step_code(before: BettingState, after: BettingState) -> int:
    """The code in trees of the action between two states, which is not a fold."""
    return CALL_ACTION if after.max_spent == before.max_spent else after.max_spent


def narrowed(weights: F32, taken: F32) -> F32:
    """A range after an action, given its probability for each hand. Unchanged if the action is never taken.

    weights, taken  float32[1326]
    """
    left: F32 = weights * taken
    return left if left.sum() >= NEVER * weights.sum() else weights


def was_done(weights: F32, reach: F32, first_share: float) -> bool:
    """Whether any hand takes the path from the root of a solve to a node in a later iteration than the first.

    weights, reach  float32[H]: a player's range at the root, and the reach at the node
    first_share     see `Schedule.first_share`
    """
    return bool((reach > min(_FIRST_FACTOR * first_share, _FIRST_LIMIT) * weights).any())


def coded_action(code: int) -> Action:
    """The action for a code in trees."""
    return FOLD if code == FOLD_ACTION else CALL if code == CALL_ACTION else raise_to(code)


def everything() -> F32:
    """float32[2, 1326]: both ranges before anybody has acted."""
    return np.ones((2, NUM_HANDS), dtype=np.float32)


def _ranges_at(root: BettingState, states: list[BettingState], context: Context, own: int) -> F32:
    """The context's ranges, updated by the opponent's reply between the context and the root."""
    ranges = context.ranges.copy()
    texts = [state.text for state in states]
    since, here = texts.index(context.text), texts.index(root.text)
    # At most one reply lies between (unless we acted without a solve): then comes a card or our turn.
    if here > since and states[since].actor == 1 - own:
        code = step_code(states[since], states[since + 1])
        if code in context.replies:
            ranges[1 - own] = narrowed(ranges[1 - own], context.replies[code])
    return ranges


def keep_alive(weights: F32, live: np.ndarray) -> F32:
    """Scale a range to a largest weight of 1, and give every possible hand a small weight."""
    possible = np.where(live, weights, 0)
    largest = possible.max()
    if largest <= 0:
        return live.astype(np.float32)
    scaled: F32 = np.where(live, np.maximum(possible / largest, LEAST_SHARE), 0).astype(np.float32)
    return scaled


def _floats(data: bytes) -> F32:
    return np.frombuffer(data, dtype=np.float32)
