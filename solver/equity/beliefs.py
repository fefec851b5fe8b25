"""Sums over pairs of hands from both players' beliefs: their mass, results and value estimates.

A belief is float64[1326], the weights of a player's hands, 0 where public cards block. Pairs that share a
card are excluded from all sums by subtracting the weight of each card and adding back what was subtracted
twice. Values are player 0's and not normalised: divide by the mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from abstraction.tables import BucketTables, locate_board, table_bucket
from game.cards import NUM_CARDS
from game.hands import HAND_CARDS, HAND_CLASS, NUM_HANDS
from numeric.arrays import F32, F64, I64, U8, U16
from numeric.jit import kernel

_LOW: I64 = HAND_CARDS[:, 0].astype(np.int64)
_HIGH: I64 = HAND_CARDS[:, 1].astype(np.int64)


class Belief(NamedTuple):
    """A player's hands with weight, and the weight of each card."""

    size: I64
    """int64[1]: number of entries in use below."""
    hands: I64
    weights: F64
    dense: F64
    """float64[1326]: the weights by hand."""
    cards: F64
    """float64[53]: weight of the hands with each card; the total weight last."""


class PlaceValues(NamedTuple):
    """Values of a place of `arena.aivat.node_values` by bucket."""

    values: F32
    """float32[2, table]: by bucket of either player, from `base` on."""
    base: int
    mean: float


@kernel
def new_belief() -> Belief:
    """An empty belief."""
    return Belief(
        np.zeros(1, dtype=np.int64),
        np.zeros(NUM_HANDS, dtype=np.int64),
        np.zeros(NUM_HANDS, dtype=np.float64),
        np.zeros(NUM_HANDS, dtype=np.float64),
        np.zeros(NUM_CARDS + 1, dtype=np.float64),
    )


@kernel
def fill_belief(weights: F64, dead: U8, belief: Belief) -> None:
    """List the hands that have weight and hold no dead card.

    weights  float64[1326]
    dead     uint8[52]: 1 for cards that no hand can hold
    """
    belief.cards[:] = 0.0
    belief.dense[:] = 0.0
    count = 0
    for h in range(NUM_HANDS):
        weight, low, high = weights[h], _LOW[h], _HIGH[h]
        if weight > 0.0 and dead[low] == 0 and dead[high] == 0:
            belief.hands[count] = h
            belief.weights[count] = weight
            belief.dense[h] = weight
            count += 1
            belief.cards[low] += weight
            belief.cards[high] += weight
            belief.cards[NUM_CARDS] += weight
    belief.size[0] = count


@kernel
def against(belief: Belief, h: int) -> float:
    """Weight of the hands that share no card with hand h."""
    cards = belief.cards
    weight: float = cards[NUM_CARDS] - cards[_LOW[h]] - cards[_HIGH[h]] + belief.dense[h]
    return weight


@kernel
def pair_mass(first: F64, second: F64) -> float:
    """Sum of w0 × w1 over pairs of hands."""
    cards, total = np.zeros(NUM_CARDS), 0.0
    for h in range(NUM_HANDS):
        weight = second[h]
        if weight > 0.0:
            cards[_LOW[h]] += weight
            cards[_HIGH[h]] += weight
            total += weight
    mass = 0.0
    for h in range(NUM_HANDS):
        if first[h] > 0.0:
            mass += first[h] * (total - cards[_LOW[h]] - cards[_HIGH[h]] + second[h])
    return max(mass, 0.0)


@kernel
def fill_board_buckets(tables: BucketTables, board: U8, buckets: U16) -> None:
    """uint16[1326]: the buckets on a board of three to five cards; BLOCKED for hands it blocks."""
    if board.shape[0] == 3:
        table, location = tables.flop, locate_board(board, tables.flop_locations)
    elif board.shape[0] == 4:
        table, location = tables.turn, locate_board(board, tables.turn_locations)
    else:
        table, location = tables.river, locate_board(board, tables.river_locations)
    for h in range(NUM_HANDS):
        buckets[h] = table_bucket(table, location, h)


@kernel
def added_values(first: Belief, second: Belief, buckets: U16, place: PlaceValues) -> tuple[float, float]:
    """Mass, and the sum over pairs of w0 × w1 × (value of 0's bucket + value of 1's bucket - mean)."""
    mass = total = 0.0
    for i in range(first.size[0]):
        h = first.hands[i]
        weight = first.weights[i] * against(second, h)
        mass += weight
        total += weight * place.values[0, place.base + buckets[h]]
    for i in range(second.size[0]):
        h = second.hands[i]
        total += second.weights[i] * against(first, h) * place.values[1, place.base + buckets[h]]
    return mass, total - place.mean * mass


@kernel
def guess_on_board(tables: BucketTables, board: U8, first: F64, second: F64, place: PlaceValues) -> float:
    """Mean estimate of `added_values` on a board of 0 or three to five cards."""
    dead, buckets = np.zeros(NUM_CARDS, dtype=np.uint8), np.empty(NUM_HANDS, dtype=np.uint16)
    one, other = new_belief(), new_belief()
    if board.shape[0] == 0:
        for h in range(NUM_HANDS):
            buckets[h] = HAND_CLASS[h]
    else:
        fill_board_buckets(tables, board, buckets)
    fill_belief(first, dead, one)
    fill_belief(second, dead, other)
    mass, total = added_values(one, other, buckets, place)
    return total / mass


@kernel
def mean_over_cards(tables: BucketTables, board: U8, first: F64, second: F64, place: PlaceValues) -> float:
    """Mean estimate over the next card of a flop or turn, by `added_values` on each new board."""
    num_cards = board.shape[0]
    dead, following = np.zeros(NUM_CARDS, dtype=np.uint8), np.empty(num_cards + 1, dtype=np.uint8)
    for i in range(num_cards):
        following[i] = board[i]
        dead[board[i]] = 1
    buckets, one, other = np.empty(NUM_HANDS, dtype=np.uint16), new_belief(), new_belief()
    mass = total = 0.0
    for card in range(NUM_CARDS):
        if dead[card]:
            continue
        following[num_cards] = card
        dead[card] = 1
        fill_board_buckets(tables, following, buckets)
        fill_belief(first, dead, one)
        fill_belief(second, dead, other)
        weight, value = added_values(one, other, buckets, place)
        mass += weight
        total += value
        dead[card] = 0
    return total / mass


@kernel
def mean_over_flops(
    tables: BucketTables, flops: U8, times: I64, first: F64, second: F64, place: PlaceValues
) -> float:
    """Mean estimate over flops.

    flops  uint8[F, 3], weighted by `times` int64[F]
    """
    dead = np.zeros(NUM_CARDS, dtype=np.uint8)
    buckets, one, other = np.empty(NUM_HANDS, dtype=np.uint16), new_belief(), new_belief()
    mass = total = 0.0
    for f in range(flops.shape[0]):
        for i in range(3):
            dead[flops[f, i]] = 1
        fill_board_buckets(tables, flops[f], buckets)
        fill_belief(first, dead, one)
        fill_belief(second, dead, other)
        weight, value = added_values(one, other, buckets, place)
        mass += times[f] * weight
        total += times[f] * value
        for i in range(3):
            dead[flops[f, i]] = 0
    return total / mass
