"""The betting of a hand in words."""

from __future__ import annotations

from game.actions import ActionKind
from game.betting import BettingState, start


def describe_betting(betting: BettingState, names: tuple[str, str]) -> str:
    """Describe betting, e.g. "B raises to 300, A calls · A checks, B bets 400, A folds".

    Bet sizes are totals of the street.

    names  by position
    """
    definition = betting.definition
    state, street_start = start(definition), 0
    streets = []
    for actions in betting.actions:
        words = []
        for action in actions:
            actor, faced = state.actor, state.max_spent
            name, to_call = names[actor], state.to_call
            following = state.apply(action)
            if action.kind is ActionKind.FOLD:
                words.append(f"{name} folds")
            elif action.kind is ActionKind.CALL:
                words.append(f"{name} {'calls' if to_call else 'checks'}")
            else:
                total = following.max_spent
                amount = f"{total - street_start:,}"
                verb = "bets" if faced == street_start else "raises to"
                all_in = " (all-in)" if total >= definition.stacks[actor] else ""
                words.append(f"{name} {verb} {amount}{all_in}")
            state = following
        street_start = state.max_spent
        if words:
            streets.append(", ".join(words))
    return " · ".join(streets)
