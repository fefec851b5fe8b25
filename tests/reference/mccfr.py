"""External-sampling MCCFR as the papers tell it: dictionaries of infosets, one node at a time, float64.

Takes its deals as (buckets of both players by round, outcome by round) and its random numbers from any
iterator, in the order the kernel promises: one per traversal when pruning is on, then one per node of the
opponent, level by level. So strategies are read on the way down, level by level, and values and updates come
afterwards. A drawn action of the opponent that ends the hand brings all his others that do along.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from solver.games.tree import CHANCE, DECISION, FOLD, Tree

Infoset = tuple[int, int]  # tree node, bucket

MASK = (1 << 64) - 1


def xorshift(state: int) -> Iterator[float]:
    """The kernel's generator in Python's integers."""
    while True:
        state ^= (state << 13) & MASK
        state ^= state >> 7
        state ^= (state << 17) & MASK
        yield (state >> 40) / (1 << 24)


@dataclass
class Visit:
    node: int
    chances: list[float] = field(default_factory=list)
    children: dict[int, Visit] = field(default_factory=dict)  # by action


@dataclass
class ReferenceTrainer:
    tree: Tree
    unit: float
    floor: float = -math.inf
    prune_below: float = -math.inf
    explore: float = 0.0
    averaging: bool = True
    regret: dict[Infoset, list[float]] = field(default_factory=dict)
    sums: dict[Infoset, list[float]] = field(default_factory=dict)

    def strategy(self, infoset: Infoset, count: int) -> list[float]:
        positive = [max(r, 0.0) for r in self.regret.get(infoset, [0.0] * count)]
        total = sum(positive)
        return [p / total for p in positive] if total > 0 else [1 / count] * count

    def iterate(
        self, buckets: tuple[list[int], list[int]], outcome: list[float], random: Iterator[float]
    ) -> None:
        for traverser in range(2):
            pruning = self.prune_below > -math.inf and not next(random) < self.explore
            root = Visit(0)
            level = [root]
            while level:
                level = [
                    below
                    for visit in level
                    for below in self.open(visit, buckets, traverser, pruning, random)
                ]
            self.update(root, buckets, outcome, traverser)

    def infoset(self, node: int, buckets: tuple[list[int], list[int]]) -> Infoset:
        return node, buckets[self.tree.player[node]][self.tree.round[node]]

    def open(
        self,
        visit: Visit,
        buckets: tuple[list[int], list[int]],
        traverser: int,
        pruning: bool,
        random: Iterator[float],
    ) -> list[Visit]:
        if self.tree.kind[visit.node] != DECISION:
            return []
        children = [self.follow(int(child)) for child in self.tree.children_of(visit.node)]
        infoset = self.infoset(visit.node, buckets)
        visit.chances = self.strategy(infoset, len(children))
        if self.tree.player[visit.node] == traverser:
            regrets = self.regret.get(infoset, [0.0] * len(children))
            for a, child in enumerate(children):
                hopeless = max(regrets) > 0 and regrets[a] < self.prune_below
                last_round = self.tree.round[visit.node] == self.tree.num_rounds - 1
                if not (pruning and hopeless and not last_round and self.tree.kind[child] == DECISION):
                    visit.children[a] = Visit(child)
            return list(visit.children.values())
        if self.averaging:
            old = self.sums.get(infoset, [0.0] * len(children))
            self.sums[infoset] = [s + p for s, p in zip(old, visit.chances, strict=True)]
        drawn, reached = next(random), 0.0
        for a, child in enumerate(children):
            reached += visit.chances[a]
            if drawn < reached or a == len(children) - 1:
                if self.tree.kind[child] == DECISION:
                    visit.children[a] = Visit(child)
                else:
                    ends = enumerate(children)
                    visit.children = {b: Visit(end) for b, end in ends if self.tree.kind[end] != DECISION}
                break
        return list(visit.children.values())

    def follow(self, node: int) -> int:
        while self.tree.kind[node] == CHANCE:
            node = int(self.tree.children_of(node)[0])
        return node

    def update(
        self,
        visit: Visit,
        buckets: tuple[list[int], list[int]],
        outcome: list[float],
        traverser: int,
        last_bet: int = 0,
    ) -> float:
        kind, amount = self.tree.kind[visit.node], self.tree.amount[visit.node] / self.unit
        sign = 1 if traverser == 0 else -1
        if kind == FOLD:
            return float(-amount if self.tree.player[visit.node] == traverser else amount)
        if kind != DECISION:
            return float(sign * outcome[last_bet] * amount)
        r = int(self.tree.round[visit.node])
        values = {
            a: self.update(below, buckets, outcome, traverser, r) for a, below in visit.children.items()
        }
        if self.tree.player[visit.node] != traverser:
            weight = sum(visit.chances[a] for a in values)
            return sum(visit.chances[a] * value for a, value in values.items()) / weight
        mean = sum(visit.chances[a] * value for a, value in values.items())
        infoset = self.infoset(visit.node, buckets)
        regrets = self.regret.setdefault(infoset, [0.0] * len(visit.chances))
        for a, value in values.items():
            regrets[a] = max(self.floor, regrets[a] + value - mean)
        return mean
