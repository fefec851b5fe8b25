"""Counterfactual regret minimisation as the papers tell it: dictionaries of hands, one pair at a time.

Works on the data of a `Game` (tree, hands, boards, ranges) and shares no arithmetic with the kernels:
terminals compare every pair of hands, infosets are dictionary keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from solver.games.game import Game
from solver.games.tree import CHANCE, DECISION, FOLD

Vector = dict[int, float]
Strategy = Callable[[int, int, int], list[float]]  # (node, board, hand) -> probability of each action
Strength = Callable[[tuple[int, ...], int], int]  # (board cards, hand) -> larger is stronger


class ReferenceGame:
    """Values of strategies by recursion over the tree."""

    def __init__(self, game: Game, strength: Strength) -> None:
        self.game, self.tree, self.strength = game, game.tree, strength
        self.hands = range(game.num_hands)

    def blocked(self, hand: int, board: int) -> bool:
        return bool(set(self.game.hands[hand].tolist()) & set(self.game.board_cards[board]))

    def disjoint(self, a: int, b: int) -> bool:
        return not set(self.game.hands[a].tolist()) & set(self.game.hands[b].tolist())

    def terminal(self, node: int, board: int, player: int, reach: Vector) -> Vector:
        amount = float(self.tree.amount[node])
        values = {}
        for mine in self.hands:
            values[mine] = 0.0
            for theirs in self.hands:
                if (
                    self.blocked(mine, board)
                    or self.blocked(theirs, board)
                    or not self.disjoint(mine, theirs)
                ):
                    continue
                if self.tree.kind[node] == FOLD:
                    sign = -1 if self.tree.player[node] == player else 1
                else:
                    cards = self.game.board_cards[board]
                    ours, other = self.strength(cards, mine), self.strength(cards, theirs)
                    sign = (ours > other) - (ours < other)
                values[mine] += reach[theirs] * sign * amount
        return values

    def chance(self, node: int, board: int, walk: Callable[[int, int], Vector]) -> Vector:
        child = int(self.tree.children_of(node)[0])
        first, last = self.game.boards.first_child[board], self.game.boards.first_child[board + 1]
        round_index = self.tree.round[node]
        probability = self.game.chance[round_index + 1] / self.game.chance[round_index]
        total = dict.fromkeys(self.hands, 0.0)
        for following in range(first, last):
            for hand, value in walk(child, following).items():
                total[hand] += probability * value
        return total

    def response(self, player: int, strategy: Strategy, best: bool) -> Vector:
        """Root values of a player: his best response to `strategy`, or `strategy` itself."""

        def walk(node: int, board: int, reach: Vector) -> Vector:
            kind, children = self.tree.kind[node], self.tree.children_of(node)
            if kind == CHANCE:
                return self.chance(node, board, lambda child, b: walk(child, b, reach))
            if kind != DECISION:
                return self.terminal(node, board, player, reach)
            if self.tree.player[node] == player:
                values = [walk(int(child), board, reach) for child in children]
                if best:
                    return {h: max(v[h] for v in values) for h in self.hands}
                return {
                    h: sum(p * v[h] for p, v in zip(strategy(node, board, h), values, strict=True))
                    for h in self.hands
                }
            total = dict.fromkeys(self.hands, 0.0)
            for a, child in enumerate(children):
                below = walk(
                    int(child), board, {h: reach[h] * strategy(node, board, h)[a] for h in self.hands}
                )
                for h in self.hands:
                    total[h] += below[h]
            return total

        return walk(0, 0, {h: float(w) for h, w in enumerate(self.game.ranges[1 - player])})


class ReferenceSolver(ReferenceGame):
    """Alternating updates; factors as in `solver.exact.schedules`, given per iteration."""

    def __init__(self, game: Game, strength: Strength) -> None:
        super().__init__(game, strength)
        self.regret: dict[tuple[int, int, int], list[float]] = {}
        self.basis: dict[tuple[int, int, int], list[float]] = {}
        self.average: dict[tuple[int, int, int], list[float]] = defaultdict(list)

    def current(self, node: int, board: int, hand: int) -> list[float]:
        count = len(self.tree.children_of(node))
        positive = [max(r, 0.0) for r in self.regret.get((node, board, hand), [0.0] * count)]
        total = sum(positive)
        return [p / total for p in positive] if total > 0 else [1.0 / count] * count

    def averaged(self, node: int, board: int, hand: int) -> list[float]:
        count = len(self.tree.children_of(node))
        sums = self.average.get((node, board, hand), [0.0] * count)
        return [s / sum(sums) for s in sums] if sum(sums) > 0 else [1.0 / count] * count

    def iterate(
        self,
        keep_positive: float,
        keep_negative: float,
        keep_average: float,
        keep_next: float,
        floor: float,
        predictive: bool,
    ) -> None:
        self.keep_positive, self.keep_negative, self.keep_average = keep_positive, keep_negative, keep_average
        self.keep_next, self.floor, self.predictive = keep_next, floor, predictive
        for player in range(2):
            reach = {h: float(w) for h, w in enumerate(self.game.ranges[1 - player])}
            self._pass(player, 0, 0, reach)

    def _pass(self, player: int, node: int, board: int, reach: Vector) -> Vector:
        kind, children = self.tree.kind[node], self.tree.children_of(node)
        if kind == CHANCE:
            return self.chance(node, board, lambda child, b: self._pass(player, child, b, reach))
        if kind != DECISION:
            return self.terminal(node, board, player, reach)
        strategy = {h: self.current(node, board, h) for h in self.hands}
        if self.tree.player[node] != player:
            total = dict.fromkeys(self.hands, 0.0)
            for a, child in enumerate(children):
                below = {h: reach[h] * strategy[h][a] for h in self.hands}
                for h, value in self._pass(player, int(child), board, below).items():
                    total[h] += value
            for h in self.hands:
                old = self.average.get((node, board, h), [0.0] * len(children))
                self.average[node, board, h] = [
                    self.keep_average * s + reach[h] * p for s, p in zip(old, strategy[h], strict=True)
                ]
            return total
        values = [self._pass(player, int(child), board, reach) for child in children]
        result = {}
        for h in self.hands:
            result[h] = sum(p * v[h] for p, v in zip(strategy[h], values, strict=True))
            self._learn((node, board, h), [v[h] - result[h] for v in values])
        return result

    def _learn(self, infoset: tuple[int, int, int], gains: list[float]) -> None:
        regrets = self.basis if self.predictive else self.regret
        old = regrets.get(infoset, [0.0] * len(gains))
        new = [
            max(self.floor, r * (self.keep_positive if r > 0 else self.keep_negative) + gain)
            for r, gain in zip(old, gains, strict=True)
        ]
        regrets[infoset] = new
        if self.predictive:  # play as if the last gain came once more
            self.regret[infoset] = [
                max(0.0, r * self.keep_next + gain) for r, gain in zip(new, gains, strict=True)
            ]
