"""Turn and river learned at the end of the flop, by recursion and in float64: the kernels' slow twin."""

from __future__ import annotations

import numpy as np

from abstraction.buckets import BLOCKED
from game.cards import Cards
from game.hands import HAND_CARDS
from game.showdown import showdown_rank
from solver.blueprint.file import FULL, Blueprint
from solver.games.tree import DECISION, FOLD, SHOWDOWN
from solver.leaves.match import SHOWDOWN_ONLY, Leaf


class SlowLearner:
    """Strategies below the leaves of one game, by leaf and node of the blueprint: float64[A, buckets]."""

    def __init__(
        self,
        blueprint: Blueprint,
        leaves: list[Leaf],
        labels: np.ndarray,
        ranges: np.ndarray,
        prior: dict[int, float],
    ) -> None:
        """prior: regret per probability and chip at stake, by round."""
        self.blueprint, self.leaves, self.labels, self.ranges = blueprint, leaves, labels, ranges
        self.strategy: dict[tuple[int, int], np.ndarray] = {}
        self.regret: dict[tuple[int, int], np.ndarray] = {}
        for number, leaf in enumerate(leaves):
            if leaf.blueprint_node != SHOWDOWN_ONLY:
                self._begin(number, leaf.blueprint_node, {r: p * leaf.stake for r, p in prior.items()})

    def _begin(self, leaf: int, node: int, prior: dict[int, float]) -> None:
        tree = self.blueprint.tree
        if tree.kind[node] == DECISION:
            rows, becomes = self.blueprint.rows(node) / FULL, self.blueprint.thinning.becomes[node]
            self.strategy[leaf, node] = np.zeros((len(self._children(node)), rows.shape[1]))
            for row, to in zip(rows, becomes, strict=False):
                self.strategy[leaf, node][to] += row
            self.regret[leaf, node] = prior[int(tree.round[node])] * self.strategy[leaf, node]
        for child in self._children(node):
            self._begin(leaf, child, prior)

    def _children(self, node: int) -> list[int]:
        return [
            child
            for child in self.blueprint.tree.children_of(node).tolist()
            if self.blueprint.thinning.kept[child]
        ]

    def learn(
        self, traverser: int, river: Cards, reach: np.ndarray, weight: float, kept: tuple[float, float]
    ) -> np.ndarray:
        """[L, H]: the traverser's values at the leaves; his strategies learn.

        reach   [L, H] of his opponent
        weight  of a run-out
        kept    of regrets above and below 0
        """
        tree, cards = self.blueprint.tree, [set(HAND_CARDS[hand].tolist()) for hand in self.labels]
        live = np.array([not hand & set(river) for hand in cards])
        apart = np.array([[not one & other for other in cards] for one in cards]) & live & live[:, None]
        ranks = np.array(
            [showdown_rank((*hand, *river)) if ok else 0 for hand, ok in zip(cards, live, strict=True)]
        )
        wins = np.sign(ranks[:, None] - ranks[None, :]) * apart

        def value(number: int, leaf: Leaf, node: int, reaching: np.ndarray) -> np.ndarray:
            if tree.kind[node] == DECISION:
                player, children = int(tree.player[node]), self._children(node)
                board = river[: int(tree.round[node]) + 2]
                buckets = self.blueprint.cards.buckets(board)[self.labels]
                buckets = np.where(buckets == BLOCKED, 0, buckets)
                shares = self.strategy[number, node][:, buckets]
                if player != traverser:
                    parts = [
                        value(number, leaf, c, reaching * s) for c, s in zip(children, shares, strict=True)
                    ]
                    return np.sum(parts, axis=0)
                values = np.array([value(number, leaf, child, reaching) for child in children])
                self._update(number, node, buckets, values * self.ranges[traverser], kept)
                return (shares * values).sum(axis=0)
            if tree.kind[node] == FOLD:
                stake = min(float(tree.amount[node]) * leaf.scale, leaf.stack)
                gain = -stake if tree.player[node] == traverser else stake
                return gain * weight * (apart @ reaching)
            if tree.kind[node] == SHOWDOWN:
                return min(float(tree.amount[node]) * leaf.scale, leaf.stack) * weight * (wins @ reaching)
            return value(number, leaf, int(tree.children_of(node)[0]), reaching)

        return np.array(
            [
                leaf.stake * weight * (wins @ reach[number])
                if leaf.blueprint_node == SHOWDOWN_ONLY
                else value(number, leaf, leaf.blueprint_node, reach[number])
                for number, leaf in enumerate(self.leaves)
            ]
        )

    def _update(
        self, leaf: int, node: int, buckets: np.ndarray, values: np.ndarray, kept: tuple[float, float]
    ) -> None:
        regret, strategy = self.regret[leaf, node], self.strategy[leaf, node]
        for bucket in np.unique(buckets):
            old, gained = regret[:, bucket], values[:, buckets == bucket].sum(axis=1)
            new = old * np.where(old > 0, *kept) + gained - _matched(old) @ gained
            regret[:, bucket] = new
            # In 255ths, as kernels keep them.
            whole = np.floor(np.cumsum(_matched(new)) * FULL + 0.5)
            strategy[:, bucket] = np.diff(whole, prepend=0) / FULL


def _matched(regret: np.ndarray) -> np.ndarray:
    better = np.maximum(regret, 0)
    return better / better.sum() if better.sum() > 0 else np.full(len(regret), 1 / len(regret))
