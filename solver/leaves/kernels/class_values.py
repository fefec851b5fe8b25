"""Hand classes on a flop: how they fare against each other, and leaf values by pair of classes.

A class is a set of hands treated alike. A pair of classes has one value; card removal is still exact, hand by
hand.
"""

from __future__ import annotations

import numpy as np

from numeric.arrays import F32, I32, I64, U16
from numeric.jit import kernel

STRONG = np.float32(0.8)
"""Share of all hands that a strong hand beats."""
GOOD = np.float32(0.7)

_ZERO = np.float32(0)
_HALF = np.float32(0.5)


@kernel
def rank_hands(strength: U16, order: I64, places: F32) -> None:
    """The share of all other possible hands that each hand beats on one board, ties half.

    strength  uint16[H]   in: 0 for blocked hands
    order     int64[H]    in: hands by strength, weakest first
    places    float32[H]  out: -1 for blocked hands
    """
    num_hands = order.shape[0]
    first = 0
    while first < num_hands and strength[order[first]] == 0:
        places[order[first]] = -1
        first += 1
    live = max(num_hands - first - 1, 1)
    begin = first
    while begin < num_hands:
        end = begin
        while end < num_hands and strength[order[end]] == strength[order[begin]]:
            end += 1
        place = np.float32((begin - first + (end - begin - 1) / 2) / live)
        for i in range(begin, end):
            places[order[i]] = place
        begin = end


@kernel
def count_wins(
    strength: U16, order: I64, places: F32, hand_class: I64, met: F32, wins: F32, strong: F32, good: F32
) -> None:
    """Add the results of pairs of classes on one board. All are float32[C, C], the winner's class first.

    met     pairs of hands
    wins    of which the first wins, ties half
    strong  and is strong
    good    the first wins against a good hand
    """
    num_hands, num_classes = order.shape[0], met.shape[0]
    below = np.zeros(num_classes, dtype=np.float32)
    good_below = np.zeros(num_classes, dtype=np.float32)
    tied = np.zeros(num_classes, dtype=np.float32)
    begin = 0
    while begin < num_hands and strength[order[begin]] == 0:
        begin += 1
    while begin < num_hands:
        end = begin
        tied[:] = _ZERO
        while end < num_hands and strength[order[end]] == strength[order[begin]]:
            tied[hand_class[order[end]]] += np.float32(1)
            end += 1
        place = places[order[begin]]
        for i in range(begin, end):
            c = hand_class[order[i]]
            for d in range(num_classes):
                wins[c, d] += below[d] + _HALF * tied[d]
            if place >= STRONG:
                for d in range(num_classes):
                    strong[c, d] += below[d]
            if place >= GOOD:
                for d in range(num_classes):
                    good[c, d] += good_below[d]
        for d in range(num_classes):
            below[d] += tied[d]
            if place >= GOOD:
                good_below[d] += tied[d]
        begin = end
    for c in range(num_classes):
        for d in range(num_classes):
            met[c, d] += below[c] * below[d]


@kernel
def value_by_class(
    values: F32, hands: I64, hand_class: I64, open_leaves: I32, for_chooser: bool, reach: F32, value: F32
) -> None:
    """Counterfactual values at leaves with a known value for every pair of classes.

    values       float32[M, 2, K, C, C]     in: chips that the traverser wins, by their class first: as the
                                            chooser, then as the chooser's opponent
    hands        int64[H, 2]                in: cards
    open_leaves  int32[M]                   in: their numbers among all leaves
    reach        float32[L, 1 + K, stride]  in, see `depth_limited.solver.LeafValues`
    value        float32[L, 1 + K, stride]  out
    """
    num_choices, num_classes, num_hands = values.shape[2], values.shape[3], hands.shape[0]
    # By class: the whole reach, and the part that holds each card.
    whole = np.zeros((num_choices, num_classes), dtype=np.float32)
    holding = np.zeros((num_choices, 52, num_classes), dtype=np.float32)
    rest = np.zeros(num_classes, dtype=np.float32)
    rows = 1 if for_chooser else num_choices
    side = 0 if for_chooser else 1
    for m in range(open_leaves.shape[0]):
        leaf = open_leaves[m]
        whole[:rows] = _ZERO
        holding[:rows] = _ZERO
        for k in range(rows):
            row = 0 if for_chooser else 1 + k
            for h in range(num_hands):
                weight, c = reach[leaf, row, h], hand_class[h]
                whole[k, c] += weight
                holding[k, hands[h, 0], c] += weight
                holding[k, hands[h, 1], c] += weight
        for h in range(num_hands):
            c, a, b = hand_class[h], hands[h, 0], hands[h, 1]
            total = _ZERO
            for k in range(num_choices):
                source = 0 if for_chooser else k
                if k < rows:
                    for d in range(num_classes):
                        rest[d] = whole[source, d] - holding[source, a, d] - holding[source, b, d]
                    # The same hand holds both cards and was subtracted twice.
                    rest[c] += reach[leaf, 0 if for_chooser else 1 + k, h]
                won = _ZERO
                known = values[m, side, k, c]
                for d in range(num_classes):
                    won += known[d] * rest[d]
                if for_chooser:
                    value[leaf, 1 + k, h] = won
                else:
                    total += won
            if not for_chooser:
                value[leaf, 0, h] = total
