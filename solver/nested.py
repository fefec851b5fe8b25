"""Where a nested solve starts, and what it must know of the hand so far.

1. A subgame is rooted just before the opponent's last action of the round, or at the start of the round if he
   has not acted in it (Brown, Sandholm and Amos, 2018). He is offered what the menu offers there, and what he
   did: so what he holds when he does it is solved, too.
2. In a safe one he may take what he was promised for that very place (`solver.alternatives`) instead of
   coming there.
3. A `Context` is what one decision leaves for the next: both ranges after our action, how the opponent
   replies to it with each hand, by which his range goes on, and what he is promised.
4. Ranges are never empty: every possible hand keeps a little weight, so that an action the solution never
   takes leaves something to go on with.
5. What the opponent hardly ever does in the solution is answered by it all the same: he does not do it
   because of that answer. (To take his action for saying nothing of his hand, and to solve again from there,
   was to call a bet of 33 pots with two thirds of our range.) His range then stays what it was. Only where no
  hand did it after the first iteration, and the blueprint did not know the decision either, is there no
  answer, since regrets that nothing reaches do not move: then it is solved from our decision on.
6. The first iteration does not count because it is not the same for both: the second player's uniform
   strategy enters his average, the first player has learned by then. So the one's reach is never quite zero.
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
"""Of the largest weight of a range, for every possible hand."""

_FIRST_ONLY = 1.5
"""Times what the first iteration is worth, at the most: what was done in no other. Hands that enter a safe
subgame less often later on leave up to a quarter more of it."""
_MOST_FIRST = 1e-3
"""Never more than that: of few iterations the first is worth much."""

NEVER = 1e-4
"""An action that a smaller share of a range takes is one that is never taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What is known after one of our actions."""

    text: str
    """The betting up to that action, as `BettingState.text` has it."""
    ranges: F32
    """float32[2, 1326]: both players' weights."""
    replies: dict[int, F32]
    """float32[1326] by action code: how often the opponent does it with each hand, if it is his turn."""
    alternatives: Alternatives | None = None
    """What he is promised; None: the next solve is unsafe."""

    def to_bytes(self) -> bytes:
        """As one message: it travels with a decision from process to process."""
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
        """Whether it tells both ranges at the start of the flop of a hand that has seen it."""
        states = betting_states(betting)
        texts = [state.text for state in states]
        if self.text not in texts:
            return False
        here = texts.index(self.text)
        if states[here].round_index > 0:
            return True
        return states[here + 1].round_index > 0 and CALL_ACTION in self.replies

    def promised(self, betting: BettingState, board: Cards) -> F32 | None:
        """float32[1326]: what the opponent is promised where the solve of a decision begins, or None.

        That is his decision after our action, or the start of the next round.

        Nothing is, either, if we have acted since then by other means (a fallback): pots differ.
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
    def codes(self) -> tuple[int, ...]:
        """The path as a tree writes it."""
        return tuple([action_code(action) for action in self.path])

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
    at_decision  start after the opponent's action, which then says nothing of his hand
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
    """An action as trees write it."""
    if action.kind is ActionKind.FOLD:
        return FOLD_ACTION
    return CALL_ACTION if action.kind is ActionKind.CALL else action.raise_to


def step_code(before: BettingState, after: BettingState) -> int:
    """What led from one state to the next, as trees write it; no fold."""
    return CALL_ACTION if after.max_spent == before.max_spent else after.max_spent


def narrowed(weights: F32, taken: F32) -> F32:
    """A range after an action that each hand takes so often; one that is never taken says nothing.

    weights, taken  float32[1326]
    """
    left: F32 = weights * taken
    return left if left.sum() >= NEVER * weights.sum() else weights


def was_done(weights: F32, reach: F32, first_share: float) -> bool:
    """Whether, after the first iteration, any hand did what leads from the root of a solve to a place in it.

    weights, reach  float32[H]: a player's range at the root, and how much of it comes there
    first_share     see `Schedule.first_share`
    """
    return bool((reach > min(_FIRST_ONLY * first_share, _MOST_FIRST) * weights).any())


def coded_action(code: int) -> Action:
    """What a tree writes as an action."""
    return FOLD if code == FOLD_ACTION else CALL if code == CALL_ACTION else raise_to(code)


def everything() -> F32:
    """float32[2, 1326]: both ranges before anybody has acted."""
    return np.ones((2, NUM_HANDS), dtype=np.float32)


def _ranges_at(root: BettingState, states: list[BettingState], context: Context, own: int) -> F32:
    """The context's ranges, and what the opponent has done since then and before the root."""
    ranges = context.ranges.copy()
    texts = [state.text for state in states]
    since, here = texts.index(context.text), texts.index(root.text)
    # One reply lies between (unless we have acted by other means since): then comes a card or our turn.
    if here > since and states[since].actor == 1 - own:
        code = step_code(states[since], states[since + 1])
        if code in context.replies:
            ranges[1 - own] = narrowed(ranges[1 - own], context.replies[code])
    return ranges


def keep_alive(weights: F32, live: np.ndarray) -> F32:
    """A range scaled to a largest weight of 1, with at least a little of every possible hand."""
    possible = np.where(live, weights, 0)
    largest = possible.max()
    if largest <= 0:
        return live.astype(np.float32)
    scaled: F32 = np.where(live, np.maximum(possible / largest, LEAST_SHARE), 0).astype(np.float32)
    return scaled


def _floats(data: bytes) -> F32:
    return np.frombuffer(data, dtype=np.float32)
