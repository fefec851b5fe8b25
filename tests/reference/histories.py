"""Slow references for games as flat arrays: recursions over histories, with strategies in dictionaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

Strategy = dict[Hashable, list[float]]


def expected(rules: Any, strategies: tuple[Strategy, Strategy], state: Any = None) -> float:
    state = rules.start() if state is None else state
    actor = rules.actor(state)
    if actor == -2:
        return float(rules.utility(state))
    odds = rules.chance(state) if actor == -1 else strategies[actor][rules.private(state, actor)]
    after = [rules.next(state, action) for action in rules.actions(state)]
    return sum(share * expected(rules, strategies, child) for share, child in zip(odds, after, strict=True))


def average_after(rules: Any, iterations: int) -> tuple[Strategy, Strategy]:
    """Average strategies of plain CFR with simultaneous updates (Zinkevich et al., 2007)."""
    regrets: tuple[Any, Any] = (defaultdict(list), defaultdict(list))
    sums: tuple[Any, Any] = (defaultdict(list), defaultdict(list))

    def strategy(player: int, key: Hashable, number: int) -> list[float]:
        known = regrets[player].setdefault(key, [0.0] * number)
        total = sum(max(r, 0.0) for r in known)
        return [max(r, 0.0) / total for r in known] if total > 0 else [1 / number] * number

    def walk(state: Any, reach: tuple[float, float], chance: float, current: Any, steps: Any) -> float:
        actor = rules.actor(state)
        if actor == -2:
            return float(rules.utility(state))
        after = [rules.next(state, action) for action in rules.actions(state)]
        if actor == -1:
            odds = rules.chance(state)
            return sum(
                share * walk(child, reach, chance * share, current, steps)
                for share, child in zip(odds, after, strict=True)
            )
        key = rules.private(state, actor)
        if key not in current[actor]:
            current[actor][key] = strategy(actor, key, len(after))
        shares = current[actor][key]
        values = []
        for share, child in zip(shares, after, strict=True):
            down = (reach[0] * share, reach[1]) if actor == 0 else (reach[0], reach[1] * share)
            values.append(walk(child, down, chance, current, steps))
        here = sum(share * value for share, value in zip(shares, values, strict=True))
        sign = 1 if actor == 0 else -1
        gain = steps[actor].setdefault(key, [0.0] * len(after))
        for a, value in enumerate(values):
            gain[a] += sign * reach[1 - actor] * chance * (value - here)
        # The own reach is the same for all histories of an information set.
        steps[actor, "reach"][key] = reach[actor]
        return here

    for _ in range(iterations):
        current: tuple[Strategy, Strategy] = ({}, {})
        steps: Any = {0: {}, 1: {}, (0, "reach"): {}, (1, "reach"): {}}
        walk(rules.start(), (1.0, 1.0), 1.0, current, steps)
        for player in range(2):
            for key, shares in current[player].items():
                total = sums[player].setdefault(key, [0.0] * len(shares))
                for a, share in enumerate(shares):
                    total[a] += steps[player, "reach"][key] * share
                    regrets[player][key][a] += steps[player][key][a]
    return _normalised(sums[0]), _normalised(sums[1])


def _normalised(sums: Any) -> Strategy:
    found = {}
    for key, totals in sums.items():
        whole = sum(totals)
        found[key] = [t / whole for t in totals] if whole > 0 else [1 / len(totals)] * len(totals)
    return found
