"""The paper's rollouts with everything sampled: both hands, turn and river, every action.

Shares only the blueprint, its buckets and the evaluator with the kernels that roll out whole ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from abstraction.buckets import BLOCKED
from game.cards import NUM_CARDS, Cards
from game.evaluator import river_strengths
from game.hands import HAND_CARDS, NUM_HANDS
from numeric.arrays import F32, F64, I32, I64, U8, U16
from numeric.draws import seed_at, unit_at
from numeric.jit import kernel
from solver.blueprint.file import Blueprint
from solver.games.tree import CALL_ACTION, CHANCE, DECISION, FOLD, FOLD_ACTION
from solver.leaves.match import Leaf

NUM_KINDS = 3
"""Folds, calls (checks included) and raises."""

_HAND_CARDS: I64 = HAND_CARDS.astype(np.int64)


class _Rules(NamedTuple):
    """The blueprint's betting tree and strategies."""

    kind: I32
    player: I32
    round: I32
    action: I32
    amount: F64
    first_child: I32
    children: I32
    strategy: U8
    base: I64
    num_buckets: I64


class _Deck(NamedTuple):
    """All run-outs of a flop."""

    cards: I64
    """int64[49]"""
    buckets: U16
    """uint16[2, 52, 52, 1326]: on the turn (the second card is 0) and on the river."""
    strength: U16
    """uint16[52, 52, 1326]"""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Statistics of many rollouts."""

    mean: float
    """Mean chips of player 0 per rollout."""
    error: float
    """Standard error of the mean."""
    offered: I64
    """int64[3]: decisions of the chooser at which fold, call, raise were possible."""
    taken: I64
    """int64[3]: decisions of the chooser at which it folded, called, raised."""


class PlayOuts:
    """Rollouts on one flop."""

    def __init__(self, blueprint: Blueprint, flop: Cards) -> None:
        tree = blueprint.tree
        self._rules = _Rules(
            np.asarray(tree.kind), np.asarray(tree.player), np.asarray(tree.round), np.asarray(tree.action),
            np.asarray(tree.amount), np.asarray(tree.first_child), np.asarray(tree.children),
            np.asarray(blueprint.bytes), np.asarray(blueprint.base),
            np.array(blueprint.num_buckets, dtype=np.int64),
        )  # fmt: skip
        cards = np.array([card for card in range(NUM_CARDS) if card not in flop], dtype=np.int64)
        buckets = np.full((2, NUM_CARDS, NUM_CARDS, NUM_HANDS), BLOCKED, dtype=np.uint16)
        strength = np.zeros((NUM_CARDS, NUM_CARDS, NUM_HANDS), dtype=np.uint16)
        for turn in cards.tolist():
            buckets[0, turn, 0] = blueprint.cards.buckets((*flop, turn))
            for river in cards.tolist():
                if river != turn:
                    buckets[1, turn, river] = blueprint.cards.buckets((*flop, turn, river))
                    strength[turn, river] = river_strengths((*flop, turn, river))
        self._deck = _Deck(cards, buckets, strength)

    def sample(self, leaf: Leaf, ranges: F32, chooser: int, bias: F32, count: int, seed: int) -> Sampled:
        """Roll out a leaf `count` times.

        ranges  float32[2, 1326]: weights of both hands; those the flop blocks must be 0
        bias    float32[3]: factors of the chooser's folds, calls and raises
        """
        factors = np.ones((2, NUM_KINDS))
        factors[chooser] = bias
        cumulated = np.cumsum(ranges.astype(np.float64), axis=1)
        sums = np.zeros(2)
        offered, taken = np.zeros(NUM_KINDS, dtype=np.int64), np.zeros(NUM_KINDS, dtype=np.int64)
        _play(
            self._rules, self._deck, leaf.blueprint_node, leaf.scale, leaf.stack, cumulated, chooser,
            factors, count, np.uint64(seed), sums, offered, taken,
        )  # fmt: skip
        mean = sums[0] / count
        variance = max(sums[1] / count - mean * mean, 0.0)
        return Sampled(float(mean), float(np.sqrt(variance / (count - 1))), offered, taken)


@kernel
def _play(
    rules: _Rules,
    deck: _Deck,
    leaf: int,
    scale: float,
    stack: float,
    cumulated: F64,
    chooser: int,
    factors: F64,
    count: int,
    seed: np.uint64,
    sums: F64,
    offered: I64,
    taken: I64,
) -> None:
    """Adds up winnings of player 0 and their squares; modifies the last three arguments in place."""
    hands = np.zeros(2, dtype=np.int64)
    weights = np.zeros(16)
    for n in range(count):
        own_seed = seed_at(seed, n)
        draws = 0
        while True:  # draw both hands until they share no card
            for p in range(2):
                u = unit_at(own_seed, draws) * cumulated[p, -1]
                hands[p] = min(np.searchsorted(cumulated[p], u, side="right"), cumulated.shape[1] - 1)
                draws += 1
            a, b = _HAND_CARDS[hands[0]], _HAND_CARDS[hands[1]]
            if a[0] != b[0] and a[0] != b[1] and a[1] != b[0] and a[1] != b[1]:
                break
        turn, river = -1, -1
        while turn < 0 or river < 0:
            card = deck.cards[int(unit_at(own_seed, draws) * deck.cards.shape[0])]
            draws += 1
            if card == a[0] or card == a[1] or card == b[0] or card == b[1] or card == turn:
                continue
            if turn < 0:
                turn = card
            else:
                river = card
        node = leaf
        while rules.kind[node] == DECISION or rules.kind[node] == CHANCE:
            first, last = rules.first_child[node], rules.first_child[node + 1]
            if rules.kind[node] == CHANCE:
                node = rules.children[first]
                continue
            player, street = rules.player[node], rules.round[node] - 2
            bucket = int(deck.buckets[street, turn, river if street else 0, hands[player]])
            num_buckets = rules.num_buckets[rules.round[node]]
            total = 0.0
            for i in range(last - first):
                kind = _kind_of(rules.action[rules.children[first + i]])
                probability = rules.strategy[rules.base[node] + i * num_buckets + bucket]
                weights[i] = factors[player, kind] * probability
                total += weights[i]
            u = unit_at(own_seed, draws) * total
            draws += 1
            chosen = 0
            while chosen < last - first - 1 and u >= weights[chosen]:
                u -= weights[chosen]
                chosen += 1
            if player == chooser:
                before = -1
                for i in range(first, last):
                    kind = _kind_of(rules.action[rules.children[i]])
                    if kind != before:
                        offered[kind] += 1
                    before = kind
                taken[_kind_of(rules.action[rules.children[first + chosen]])] += 1
            node = rules.children[first + chosen]
        stake = min(rules.amount[node] * scale, stack)
        if rules.kind[node] == FOLD:
            won = -stake if rules.player[node] == 0 else stake
        else:
            mine, his = deck.strength[turn, river, hands[0]], deck.strength[turn, river, hands[1]]
            won = stake if mine > his else -stake if mine < his else 0.0
        sums[0] += won
        sums[1] += won * won


@kernel
def _kind_of(action: int) -> int:
    if action == FOLD_ACTION:
        return 0
    return 1 if action == CALL_ACTION else 2
