"""Kuhn and Leduc as public games for AIVAT, and the enumeration of all their hands with probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from abstraction.menu import MenuBook
from arena.aivat.aivat import Beliefs, Choice, Deal, PlayedHand, mean_dealt
from game.definition import GameDefinition
from numeric.arrays import F64
from solver.games.betting_tree import build_hand_tree
from solver.games.tree import CHANCE, DECISION, FOLD, Tree

State = tuple[int, tuple[int, ...]]  # node, public cards
Guess = Callable[[State, Beliefs], float]
Strategies = dict[State, F64]  # float64[A, H] at every decision


@dataclass(frozen=True)
class OneCardGame:
    """Any game of one hole card and at most one public card. Ranks are card // suits."""

    definition: GameDefinition
    guess: Guess

    @cached_property
    def tree(self) -> Tree:
        return build_hand_tree(self.definition, MenuBook())

    @property
    def num_hands(self) -> int:
        return self.definition.num_ranks * self.definition.num_suits

    def live(self, state: State) -> F64:
        return np.array([float(card not in state[1]) for card in range(self.num_hands)])

    def mass(self, state: State, beliefs: Beliefs) -> float:
        live = self.live(state)
        first, second = beliefs[0] * live, beliefs[1] * live
        return float(first.sum() * second.sum() - first @ second)

    def guess_dealt(self, state: State, beliefs: Beliefs) -> float:
        return mean_dealt(self, self.deals(state), beliefs)

    def payoff(self, state: State, beliefs: Beliefs) -> float:
        return self.mean(state, beliefs, lambda first, second: self.pay(state, first, second))

    def pay(self, state: State, first: int, second: int) -> float:
        node, board = state
        amount = float(self.tree.amount[node])
        if self.tree.kind[node] == FOLD:
            return -amount if self.tree.player[node] == 0 else amount
        suits, ranks = self.definition.num_suits, self.definition.num_ranks
        paired = [card // suits for card in board]
        strengths = [card // suits + ranks * (card // suits in paired) for card in (first, second)]
        return amount * float(np.sign(strengths[0] - strengths[1]))

    def deals(self, state: State) -> list[State]:
        child = int(self.tree.children_of(state[0])[0])
        return [(child, (*state[1], card)) for card in range(self.num_hands) if card not in state[1]]

    def mean(self, state: State, beliefs: Beliefs, of: Callable[[int, int], float]) -> float:
        """The mean over all compatible pairs of hands."""
        total = 0.0
        for first in np.flatnonzero(beliefs[0]):
            for second in np.flatnonzero(beliefs[1]):
                if first != second and not {first, second} & set(state[1]):
                    total += float(beliefs[0][first] * beliefs[1][second]) * of(int(first), int(second))
        return total / self.mass(state, beliefs)

    def states(self) -> list[State]:
        """Every public state."""
        found: list[State] = [(0, ())]
        for state in found:
            if self.tree.kind[state[0]] == CHANCE:
                found += self.deals(state)
            else:
                found += [(int(child), state[1]) for child in self.tree.children_of(state[0])]
        return found

    def random_strategies(self, rng: np.random.Generator) -> Strategies:
        """Random strategies for both players; some hands never take some actions."""
        found = {}
        for node, board in self.states():
            if self.tree.kind[node] == DECISION:
                weights = rng.dirichlet([0.5] * len(self.tree.children_of(node)), size=self.num_hands).T
                weights[weights < 0.05] = 0.0
                found[node, board] = weights / weights.sum(axis=0)
        return found

    def true_value(self, strategies: Strategies) -> float:
        """Player 0's mean payoff, by recursion over deals."""
        pairs = [(i, j) for i in range(self.num_hands) for j in range(self.num_hands) if i != j]
        return sum(self.value((0, ()), pair, strategies) for pair in pairs) / len(pairs)

    def value(self, state: State, pair: tuple[int, int], strategies: Strategies) -> float:
        """Player 0's mean payoff from a state on, given both hands."""
        node, board = state
        kind = self.tree.kind[node]
        if kind == CHANCE:
            following = [s for s in self.deals(state) if not set(s[1]) & set(pair)]
            return sum(self.value(s, pair, strategies) for s in following) / len(following)
        if kind != DECISION:
            return self.pay(state, *pair)
        shares = strategies[state][:, pair[self.tree.player[node]]]
        children = self.tree.children_of(node)
        return sum(
            share * self.value((int(child), board), pair, strategies)
            for share, child in zip(shares, children, strict=True)
            if share > 0
        )

    def all_hands(
        self, strategies: Strategies, known: tuple[bool, bool]
    ) -> Iterator[tuple[float, PlayedHand[State]]]:
        """Every hand that can be played, with its probability."""
        pairs = [(i, j) for i in range(self.num_hands) for j in range(self.num_hands) if i != j]
        for pair in pairs:
            held = (None if known[0] else pair[0], None if known[1] else pair[1])
            for probability, steps, end in self._plays((0, ()), pair, strategies, known):
                yield probability / len(pairs), PlayedHand((0, ()), steps, end, held)

    def _plays(
        self, state: State, pair: tuple[int, int], strategies: Strategies, known: tuple[bool, bool]
    ) -> Iterator[tuple[float, list[Choice[State] | Deal[State]], State]]:
        node, board = state
        kind, player = self.tree.kind[node], int(self.tree.player[node])
        if kind == CHANCE:
            following = [s for s in self.deals(state) if not set(s[1]) & set(pair)]
            for after in following:
                for probability, steps, end in self._plays(after, pair, strategies, known):
                    yield probability / len(following), [Deal(state, after), *steps], end
        elif kind == DECISION:
            children = [(int(child), board) for child in self.tree.children_of(node)]
            table = strategies[state]
            for a, after in enumerate(children):
                if table[a, pair[player]] > 0:
                    choice = Choice(player, children, a, table if known[player] else None)
                    for probability, steps, end in self._plays(after, pair, strategies, known):
                        yield probability * table[a, pair[player]], [choice, *steps], end
        else:
            yield 1.0, [], state
