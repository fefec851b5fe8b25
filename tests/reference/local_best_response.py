"""Local best response in Leduc, history by history: recursions over the rules, strategies in dictionaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

from tests.reference.histories import Strategy

FOLD, CALL = 0, 1


def respond(rules: Any, model: Strategy, narrow: bool) -> Strategy:
    """What player 0 plays against player 1."""
    infosets: Any = defaultdict(list)
    meetings: Any = defaultdict(list)
    _collect(rules, model, rules.start(), 1.0, infosets, meetings)
    average = {}
    for public, met in meetings.items():
        total = sum(weight for weight, _ in met)
        average[public] = sum(weight * odds for weight, odds in met) / total
    found: Strategy = {}
    for key, histories in infosets.items():
        actions = list(rules.actions(histories[0][1]))
        worth = []
        for action in actions:
            value = 0.0
            for weight, state in histories:
                after = rules.next(state, action)
                value += weight * _folds_once(rules, model, None if narrow else average, after)
            worth.append(value)
        best = worth.index(max(worth))
        found[key] = [float(a == best) for a in range(len(actions))]
    return found


def _collect(rules: Any, model: Strategy, state: Any, weight: float, infosets: Any, meetings: Any) -> None:
    """Histories by what player 0 knows, with the odds of chance and the model; folds by public state."""
    actor = rules.actor(state)
    if actor == -2:
        return
    actions = list(rules.actions(state))
    odds = [1.0] * len(actions)
    if actor == -1:
        odds = list(rules.chance(state))
    elif actor == 0:
        infosets[rules.private(state, 0)].append((weight, state))
    else:
        odds = model[rules.private(state, 1)]
        if FOLD in actions:
            meetings[rules.public(state)].append((weight, odds[actions.index(FOLD)]))
    for share, action in zip(odds, actions, strict=True):
        _collect(rules, model, rules.next(state, action), weight * share, infosets, meetings)


def _folds_once(rules: Any, model: Strategy, average: dict[Hashable, float] | None, state: Any) -> float:
    """The utility after our action: player 1 folds or calls if it is its turn, then all call."""
    if rules.actor(state) != 1 or FOLD not in rules.actions(state):
        return _called(rules, state)
    fold = model[rules.private(state, 1)][0] if average is None else average[rules.public(state)]
    stays = _called(rules, rules.next(state, CALL))
    return float(fold * rules.utility(rules.next(state, FOLD)) + (1 - fold) * stays)


def _called(rules: Any, state: Any) -> float:
    """The expected utility if both only check and call."""
    actor = rules.actor(state)
    if actor == -2:
        return float(rules.utility(state))
    if actor != -1:
        return _called(rules, rules.next(state, CALL))
    shares = zip(rules.chance(state), rules.actions(state), strict=True)
    return sum(share * _called(rules, rules.next(state, card)) for share, card in shares)
