"""From rules to flat arrays: every history is visited once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from lab.flat.game import FlatGame, PublicTree, Side
from lab.games.interface import CHANCE, TERMINAL, Rules, State
from numeric.arrays import I32


@dataclass(slots=True)
class _Growing:
    """The information sets of one player found so far."""

    number: dict[Hashable, int] = field(default_factory=dict)
    parent: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    menus: list[tuple[int, ...]] = field(default_factory=list)
    public: list[int] = field(default_factory=list)
    sequences: int = 1

    def visit(self, key: Hashable, parent: int, menu: tuple[int, ...], public: int) -> int:
        """The first sequence of an information set, which is new or agrees with what is known of it."""
        found = self.number.setdefault(key, len(self.parent))
        if found == len(self.parent):
            self.parent.append(parent)
            self.first.append(self.sequences)
            self.menus.append(menu)
            self.public.append(public)
            self.sequences += len(menu)
        elif (self.parent[found], self.menus[found], self.public[found]) != (parent, menu, public):
            raise ValueError(f"{key!r}: an information set needs one past, one public state and one menu")
        return self.first[found]

    def side(self) -> Side:
        """As arrays."""
        count = [len(menu) for menu in self.menus]
        action = [-1, *[action for menu in self.menus for action in menu]]
        return Side(
            _i32(self.parent),
            _i32(self.first),
            _i32(count),
            _i32(self.public),
            _i32(action),
            tuple(self.number),
        )


def compile_game(rules: Rules[State]) -> FlatGame:
    """The game in sequence form.

    Raises ValueError if a player forgets something, or if public states are not closed under what the players
    know.
    """
    sides = (_Growing(), _Growing())
    numbers: dict[Hashable, int] = {}
    parents: list[int] = []
    actors: list[int] = []
    levels: list[int] = []
    terminals: dict[tuple[int, int, int], list[float]] = {}
    waiting: list[tuple[State, int, int, int, int, float]] = [(rules.start(), 0, 0, -1, 0, 1.0)]
    while waiting:
        state, row, column, public, level, chance = waiting.pop()
        actor = rules.actor(state)
        if actor == TERMINAL:
            total = terminals.setdefault((row, column, public), [0.0, 0.0])
            total[0] += chance
            total[1] += chance * rules.utility(state)
            continue
        actions = rules.actions(state)
        after = [rules.next(state, action) for action in actions]
        # In reverse, so that what is found first is what comes first in the rules.
        if actor == CHANCE:
            for child, share in zip(after[::-1], rules.chance(state)[::-1], strict=True):
                waiting.append((child, row, column, public, level + 1, chance * share))
            continue
        here = numbers.setdefault(rules.public(state), len(parents))
        if here == len(parents):
            parents.append(public)
            actors.append(actor)
            levels.append(level)
        elif (parents[here], actors[here], levels[here]) != (public, actor, level):
            raise ValueError(
                f"{rules.public(state)!r}: a public state needs one past, one actor and one depth"
            )
        first = sides[actor].visit(rules.private(state, actor), (row, column)[actor], tuple(actions), here)
        for place, child in reversed(list(enumerate(after))):
            moved = (first + place, column) if actor == 0 else (row, first + place)
            waiting.append((child, *moved, here, level + 1, chance))
    row_of, column_of, at = np.array(list(terminals), dtype=np.int32).reshape(-1, 3).T.copy()
    chance_of, payoff = np.array(list(terminals.values())).reshape(-1, 2).T.copy()
    tree = PublicTree(_i32(parents), _i32(actors), _i32(levels), tuple(numbers))
    both = sides[0].side(), sides[1].side()
    return FlatGame(rules.name, both, tree, row_of, column_of, at, chance_of, payoff)


def _i32(numbers: list[int]) -> I32:
    return np.array(numbers, dtype=np.int32)
