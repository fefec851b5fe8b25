"""Nested subgame solving: where a solve is rooted.

1. A subgame is rooted just before the opponent's last action of the round, or at the start of the round if
   the opponent has not acted in it (Brown, Sandholm and Amos, 2018). There the tree offers the menu and the
   action that was taken, so the range that takes this action is solved, too.
2. In a safe subgame the opponent may take the value promised for that node (`solver.resolving.alternatives`)
   instead of entering.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from game.actions import Action, ActionKind
from game.betting import BettingState
from game.cards import Cards
from game.hands import unblocked
from numeric.arrays import F32
from solver.games.history import action_code, betting_states, step_code
from solver.games.tree import BettingRoot
from solver.resolving.context import Context
from solver.resolving.ranges import living_range, narrowed_range


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
    ranges = np.stack([living_range(weights, live) for weights in ranges])
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


def _ranges_at(root: BettingState, states: list[BettingState], context: Context, own: int) -> F32:
    """The context's ranges, updated by the opponent's reply between the context and the root."""
    ranges = context.ranges.copy()
    texts = [state.text for state in states]
    since, here = texts.index(context.text), texts.index(root.text)
    # At most one reply lies between (unless we acted without a solve): then comes a card or our turn.
    if here > since and states[since].actor == 1 - own:
        code = step_code(states[since], states[since + 1])
        if code in context.replies:
            ranges[1 - own] = narrowed_range(ranges[1 - own], context.replies[code])
    return ranges
