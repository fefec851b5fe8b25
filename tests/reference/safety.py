"""Alternative payoffs and gifts from their definitions, one hand and one history at a time.

Values here are conditional: chips the hand expects once it is at a node, given the opponent's strategy and
the cards (CBV in Brown and Sandholm, 2017). Nothing is counterfactual but the last line of `alternative`.
"""

from __future__ import annotations

from solver.games.tree import CHANCE, DECISION
from tests.reference.cfr import ReferenceGame, Strategy


class ReferenceSafety:
    def __init__(self, reference: ReferenceGame, strategy: Strategy, player: int, best: bool) -> None:
        self.reference, self.strategy, self.player, self.best = reference, strategy, player, best
        self.game, self.tree = reference.game, reference.tree

    def opponent_weight(self, node: int, board: int, hand: int) -> float:
        """Weight of one of the other player's hands at a node."""
        if self.reference.blocked(hand, board):
            return 0.0
        weight = float(self.game.ranges[1 - self.player][hand])
        for parent, at, action in self.path(node, board):
            if self.tree.player[parent] != self.player:
                weight *= self.strategy(parent, at, hand)[action]
        return weight

    def path(self, node: int, board: int) -> list[tuple[int, int, int]]:
        """(decision, board there, action taken) from the root to a node."""
        steps: list[tuple[int, int, int]] = []
        while node > 0:
            parent = int(self.tree.parent[node])
            if self.tree.kind[parent] == CHANCE:
                before = self.game.board_cards[board][:-1]
                board = self.game.board_cards.index(before)
            else:
                steps.append((parent, board, list(self.tree.children_of(parent)).index(node)))
            node = parent
        return steps[::-1]

    def met(self, node: int, board: int, hand: int) -> float:
        """Weight of all the other player's hands that can meet `hand` at a node."""
        return sum(
            self.opponent_weight(node, board, other)
            for other in self.reference.hands
            if self.reference.disjoint(hand, other)
        )

    def value(self, node: int, board: int, hand: int) -> float:
        """What `hand` expects from a node on, per opponent's hand it meets there."""
        total = self.met(node, board, hand)
        if total <= 0 or self.reference.blocked(hand, board):
            return 0.0
        weights = {h: self.opponent_weight(node, board, h) for h in self.reference.hands}
        return self._walk(node, board, hand, weights) / total

    def _walk(self, node: int, board: int, hand: int, weights: dict[int, float]) -> float:
        kind, children = self.tree.kind[node], [int(c) for c in self.tree.children_of(node)]
        if kind == CHANCE:
            boards = range(self.game.boards.first_child[board], self.game.boards.first_child[board + 1])
            r = self.tree.round[node]
            chance = self.game.chance[r + 1] / self.game.chance[r]
            return chance * sum(self._walk(children[0], b, hand, weights) for b in boards)
        if kind != DECISION:
            return self.reference.terminal(node, board, self.player, weights)[hand]
        if self.tree.player[node] == self.player:
            values = [self._walk(child, board, hand, weights) for child in children]
            if self.best:
                return max(values)
            return sum(p * v for p, v in zip(self.strategy(node, board, hand), values, strict=True))
        return sum(
            self._walk(
                child, board, hand, {h: w * self.strategy(node, board, h)[a] for h, w in weights.items()}
            )
            for a, child in enumerate(children)
        )

    def action_value(self, node: int, board: int, action: int, hand: int) -> float:
        """Conditional value of one action of the player's own."""
        total = self.met(node, board, hand)
        child = int(self.tree.children_of(node)[action])
        weights = {h: self.opponent_weight(node, board, h) for h in self.reference.hands}
        return self._walk(child, board, hand, weights) / total if total > 0 else 0.0

    def alternative(self, node: int, board: int, hand: int, gifts: bool) -> float:
        """Counterfactual alternative payoff of a hand at the root of a subgame."""
        value = self.value(node, board, hand)
        if gifts:
            for n, b, a in self.path(node, board):
                if self.tree.player[n] == self.player:
                    value += max(0.0, self.value(n, b, hand) - self.action_value(n, b, a, hand))
        return 0.0 if self.reference.blocked(hand, board) else value * self.met(node, board, hand)
