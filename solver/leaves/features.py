"""Value net features of a state at the end of the flop: 34 numbers on betting, both hands and the pair.

1. Hands are grouped into classes of similar prospects, few enough for a table of all pairs of classes. A
   class is described by the means over its hands.
2. Prospects are measured on some run-outs, the same for every use of a flop: the share of all hands that a
   hand beats on each, and how two classes fare against each other.
3. Betting features are those of the leaf's match in the blueprint; chips are the real ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from game.cards import Cards
from game.evaluator import evaluate, river_strengths
from game.hands import HAND_CARDS, NUM_HANDS, unblocked
from numeric.arrays import F32, I64, U16
from solver.games.tree import CALL_ACTION, Tree
from solver.leaves.kernels.class_values import count_wins, rank_hands
from solver.leaves.match import Leaf
from solver.leaves.rollouts import run_outs

NUM_BETTING, NUM_HAND, NUM_PAIR = 14, 7, 6
NUM_FEATURES = NUM_BETTING + 2 * NUM_HAND + NUM_PAIR
"""34, in this order: betting and flop, our hand, the chooser's hand, the pair."""

MAX_CLASSES = 128

_RUN_OUTS = 64
_RUN_OUT_SEED = 0
_SPLIT_WEIGHTS = np.array([3, 2, 1, 1, 1, 1, 1], dtype=np.float32)
"""Weights of the hand features in telling hands apart."""


@dataclass(frozen=True, slots=True, eq=False)
class FlopClasses:
    """The hands of a flop in classes."""

    hand_class: I64
    """int64[H]"""
    hand: F32
    """float32[C, 7]"""
    pair: F32
    """float32[C, C, 6]: the first index is our class."""

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.hand)


def flop_classes(flop: Cards, labels: I64, max_classes: int = MAX_CLASSES) -> FlopClasses:
    """Group hands into classes and compute their features.

    labels  int64[H]: the hands (0..1325), none blocked by the flop
    """
    everybody = np.flatnonzero(unblocked(flop))
    places, strengths = [], []
    for strength in (_flop_strengths(flop, everybody), *_river_strengths(flop)):
        row = np.empty(len(everybody), dtype=np.float32)
        rank_hands(strength[everybody], np.argsort(strength[everybody], kind="stable"), row)
        places.append(row[np.searchsorted(everybody, labels)])
        strengths.append(strength[labels])
    prospects = _prospects(places[0], np.stack(places[1:]))
    hand_class = _split(prospects, max_classes)
    num_classes = int(hand_class.max()) + 1
    hand = np.zeros((num_classes, NUM_HAND), dtype=np.float32)
    np.add.at(hand, hand_class, prospects)
    hand /= np.bincount(hand_class)[:, None].astype(np.float32)
    return FlopClasses(hand_class, hand, _pairs(strengths, places, hand_class, num_classes))


def betting_features(leaf: Leaf, tree: Tree, big_blind: int, flop: Cards, chooser: int) -> F32:
    """float32[14]: betting features of a leaf with further betting.

    tree  the blueprint's
    """
    raises, last, totals = [0, 0], [0.0, 0.0], [float(big_blind)] * 2
    node = leaf.blueprint_node
    while node > 0:
        parent = int(tree.parent[node])
        if tree.action[node] > CALL_ACTION:
            street = int(tree.round[parent])
            if not raises[street]:  # the last raise comes first on the way back
                last[street] = 1.0 if tree.player[parent] == chooser else -1.0
                totals[street] = float(tree.action[node])
            raises[street] += 1
        node = parent
    growth = totals[1] / totals[0] if raises[1] else 1.0
    ratio = (leaf.stack - leaf.stake) / (2 * leaf.stake)
    ranks = sorted(card // 4 for card in flop)
    suits = np.bincount([card % 4 for card in flop])
    return np.array(
        [
            np.log(leaf.stack / leaf.stake),
            np.log1p(ratio),
            min(ratio, 4.0),
            min(ratio, 1.0),
            chooser,
            raises[0],
            last[0],
            raises[1],
            last[1],
            np.log(growth),
            3 - len(set(ranks)),
            suits.max() - 1,
            ranks[-1],
            ranks[-1] - ranks[0],
        ],
        dtype=np.float32,
    )


def _prospects(now: F32, later: F32) -> F32:
    """float32[H, 7]: features of each hand over the run-outs that do not block it.

    now    float32[H]: share of hands beaten on the flop
    later  float32[R, H]: on the river, -1 if blocked
    """
    open_ = later >= 0
    count = np.maximum(open_.sum(axis=0), 1)

    def mean(what: np.ndarray) -> np.ndarray:
        return np.asarray((what * open_).sum(axis=0) / count)

    average = mean(later)
    columns = [
        average,
        np.sqrt(np.maximum(mean((later - average) ** 2), 0)),
        mean(later >= 0.9),
        mean(later >= 0.7),
        mean(later <= 0.3),
        now,
        mean(later >= now + 0.15),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _split(prospects: F32, max_classes: int) -> I64:
    """int64[H]: classes made by repeatedly halving the class with the largest spread."""
    scaled = prospects * _SPLIT_WEIGHTS
    parts = [np.arange(len(scaled))]
    spreads = [_spread(scaled)]
    while len(parts) < max_classes and max(spreads) > 0:
        chosen = int(np.argmax(spreads))
        members = parts[chosen]
        column = scaled[members, int(scaled[members].var(axis=0).argmax())]
        order = np.argsort(column, kind="stable")
        middle = len(members) // 2
        parts[chosen], later = members[order[:middle]], members[order[middle:]]
        spreads[chosen] = _spread(scaled[parts[chosen]])
        parts.append(later)
        spreads.append(_spread(scaled[later]))
    hand_class = np.zeros(len(scaled), dtype=np.int64)
    for number, members in enumerate(parts):
        hand_class[members] = number
    return hand_class


def _spread(rows: F32) -> float:
    """Sum of squared distances from the mean; 0 for a single hand."""
    return float(rows.var(axis=0).sum()) * len(rows) if len(rows) > 1 else 0.0


def _pairs(strengths: list[U16], places: list[F32], hand_class: I64, num_classes: int) -> F32:
    """float32[C, C, 6]: equity and lead of one class against another, on the flop and on the river."""
    tables = np.zeros((2, 4, num_classes, num_classes), dtype=np.float32)
    for number, (strength, row) in enumerate(zip(strengths, places, strict=True)):
        order = np.argsort(strength, kind="stable")
        count_wins(strength, order, row, hand_class, *tables[min(number, 1)])
    now = tables[0, 1] / np.maximum(tables[0, 0], 1)
    met, wins, strong, good = tables[1]
    met = np.maximum(met, 1)
    equity, strong, good = wins / met, strong / met, good / met
    return np.stack([equity, now, strong, strong.T, good, good.T], axis=-1)


def _flop_strengths(flop: Cards, hands: I64) -> U16:
    """uint16[1326]: strengths on the flop; 0 for all other hands."""
    board = np.tile(np.array(flop, dtype=np.uint8), (len(hands), 1))
    strengths = np.zeros(NUM_HANDS, dtype=np.uint16)
    strengths[hands] = evaluate(np.concatenate([HAND_CARDS[hands], board], axis=1))
    return strengths


def _river_strengths(flop: Cards) -> list[U16]:
    later = islice(run_outs(flop, _RUN_OUT_SEED), _RUN_OUTS)
    return [river_strengths((*flop, *cards)) for cards in later]
