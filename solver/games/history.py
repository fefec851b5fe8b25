"""A hand's betting as a sequence of states, and its actions as codes of a tree."""

from __future__ import annotations

from game.actions import CALL, FOLD, Action, ActionKind, raise_to
from game.betting import BettingState, start
from solver.games.tree import CALL_ACTION, FOLD_ACTION


def betting_states(betting: BettingState) -> list[BettingState]:
    """All states of a hand's betting, from the blinds to the one given."""
    states = [start(betting.definition)]
    for actions in betting.actions:
        for action in actions:
            states.append(states[-1].apply(action))
    return states


def action_code(action: Action) -> int:
    """The code of an action in trees."""
    if action.kind is ActionKind.FOLD:
        return FOLD_ACTION
    return CALL_ACTION if action.kind is ActionKind.CALL else action.raise_to


def step_code(before: BettingState, after: BettingState) -> int:
    """The code in trees of the action between two states, which is not a fold."""
    return CALL_ACTION if after.max_spent == before.max_spent else after.max_spent


def coded_action(code: int) -> Action:
    """The action for a code in trees."""
    return FOLD if code == FOLD_ACTION else CALL if code == CALL_ACTION else raise_to(code)
