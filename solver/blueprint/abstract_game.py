"""The game as the blueprint trainer sees it: betting nodes × buckets, and a dealer.

An infoset is a decision node and the bucket of the player who acts. Tables are flat float32 arrays
[node][bucket][action], with nodes in the order of the betting tree. Payoffs are in big blinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from numeric.arrays import F32, F64, I32, U64
from solver.blueprint.kernels import draw_deals
from solver.blueprint.layout import Betting, Deals
from solver.games.tree import CHANCE, DECISION, FOLD, SHOWDOWN, Tree


class Dealer(Protocol):
    """Deals at random. May be called from several threads at once."""

    def fill(self, random: U64, deals: Deals) -> None:
        """Fill a batch, using and advancing the generator's state uint64[1]."""


@dataclass(frozen=True, eq=False)
class TrainingGame:
    """A betting tree in the trainer's layout. Make with `make_training_game`."""

    tree: Tree
    unit: float
    """Chips per unit of payoff."""
    num_buckets: tuple[int, ...]
    """Buckets of each round."""
    betting: Betting
    tree_node: I32
    """int32[N]: the tree's number of each decision node."""
    table_size: int

    @property
    def num_rounds(self) -> int:
        """Number of betting rounds."""
        return len(self.num_buckets)

    @property
    def width(self) -> int:
        """Largest number of actions at a node."""
        return int(self.betting.num_actions.max())

    @cached_property
    def node_round(self) -> I32:
        """int32[N]: the round of each decision node."""
        return self.betting.column % self.num_rounds

    @cached_property
    def node_buckets(self) -> I32:
        """int32[N]: number of buckets of each decision node's round."""
        return np.array(self.num_buckets, dtype=np.int32)[self.node_round]

    @property
    def num_infosets(self) -> int:
        """Number of infosets: nodes × buckets."""
        return int(self.node_buckets.sum())

    def rows(self, table: F32, node: int) -> F32:
        """float32[K, A]: a decision node's part of a table. A view."""
        start, num_actions = int(self.betting.base[node]), int(self.betting.num_actions[node])
        return table[start : start + int(self.node_buckets[node]) * num_actions].reshape(-1, num_actions)

    def prunable(self, node: int) -> npt.NDArray[np.bool_]:
        """bool[A]: actions of a decision node that pruning may skip."""
        first = int(self.betting.first_entry[node])
        return self.betting.prunable[first : first + int(self.betting.num_actions[node])] > 0

    def most_visits(self) -> int:
        """Largest number of nodes of a traversal: all actions of the traverser, the opponent's worst case."""
        return max(int(self._visits(player, worst=True)[0]) for player in range(2))

    def expected_visits(self) -> float:
        """Mean number of nodes of a traversal, including terminals, when both players play uniformly."""
        return float(np.mean([self._visits(player, worst=False)[0] for player in range(2)]))

    def _visits(self, traverser: int, worst: bool) -> F64:
        betting = self.betting
        visits = np.ones(len(betting.base))
        for n in range(len(visits) - 1, -1, -1):
            first = betting.first_entry[n]
            child = betting.child[first : first + betting.num_actions[n]]
            below = np.where(child >= 0, visits[child], 0.0 if worst else 1.0)
            if betting.player[n] == traverser:
                visits[n] += below.sum()
            else:
                visits[n] += below.max() if worst else below.mean()
        return visits


@dataclass(frozen=True, slots=True)
class ListDealer:
    """Draws from a list of equally likely deals, for small games with few enough deals."""

    deals: Deals

    def fill(self, random: U64, deals: Deals) -> None:
        """Fill a batch."""
        draw_deals(self.deals, random, deals)


def make_training_game(tree: Tree, num_buckets: tuple[int, ...], unit: float) -> TrainingGame:
    """Convert a betting tree to the trainer's layout."""
    if len(num_buckets) != tree.num_rounds:
        raise ValueError(f"expected buckets for {tree.num_rounds} rounds, got {len(num_buckets)}")
    decisions = np.flatnonzero(tree.kind == DECISION).astype(np.int32)
    index = np.full(tree.num_nodes, -1, dtype=np.int32)
    index[decisions] = np.arange(len(decisions))
    num_actions = np.diff(tree.first_child)[decisions].astype(np.int32)
    first_entry = np.concatenate([[0], np.cumsum(num_actions)]).astype(np.int32)
    sizes = np.array(num_buckets, dtype=np.int64)[tree.round[decisions]] * num_actions
    base = np.concatenate([[0], np.cumsum(sizes)])
    ends = _entry_ends(tree, decisions)
    kind, sign = tree.kind[ends], np.where(tree.player[ends] == 0, -1.0, 1.0)
    amounts = tree.amount[ends] / unit
    # Never prune in the last round: subtrees are small there, and a mistake would never be noticed.
    rounds = np.repeat(tree.round[decisions], num_actions)
    betting = Betting(
        column=(tree.player[decisions] * tree.num_rounds + tree.round[decisions]).astype(np.int32),
        player=tree.player[decisions].astype(np.int32),
        num_actions=num_actions,
        first_entry=first_entry[:-1],
        base=base[:-1],
        child=index[ends],
        fixed=np.where(kind == FOLD, sign * amounts, 0.0).astype(np.float32),
        stake=np.where(kind == SHOWDOWN, amounts, 0.0).astype(np.float32),
        prunable=((index[ends] >= 0) & (rounds < tree.num_rounds - 1)).astype(np.uint8),
    )
    return TrainingGame(tree, unit, num_buckets, betting, decisions, int(base[-1]))


def _entry_ends(tree: Tree, decisions: I32) -> npt.NDArray[np.int64]:
    """The node that each action of each decision node leads to, past chance nodes."""
    ends = np.concatenate([tree.children_of(int(n)) for n in decisions]).astype(np.int64)
    while (at_chance := tree.kind[ends] == CHANCE).any():
        ends[at_chance] = tree.children[tree.first_child[ends[at_chance]]]
    return ends


def new_deals(count: int, num_rounds: int) -> Deals:
    """Empty arrays for a batch of deals."""
    return Deals(
        np.zeros((count, 2 * num_rounds), dtype=np.int32), np.zeros((count, num_rounds), dtype=np.float32)
    )
