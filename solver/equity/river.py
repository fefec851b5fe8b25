"""Two beliefs on the river: results at a showdown, or over the rest of a profile's betting.

Hands are sorted by strength, so a showdown is one sweep: a hand's result is the weight of the weaker hands
that share no card with it. Beliefs, masses and signs are as in `solver.equity.beliefs`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from abstraction.equity import SortedRiver, new_sorted_river, sort_river
from abstraction.tables import BucketTables, locate_board, table_bucket
from game.cards import NUM_CARDS
from game.evaluator import NUM_LIVE_HANDS
from game.hands import HAND_CARDS
from numeric.arrays import F64, I64, U8
from numeric.jit import kernel
from solver.blueprint.layout import Betting

_LOW: I64 = HAND_CARDS[:, 0].astype(np.int64)
_HIGH: I64 = HAND_CARDS[:, 1].astype(np.int64)


class River(NamedTuple):
    """The hands that a board of five cards does not block, by rising strength: int64[1081] each."""

    hands: I64
    low: I64
    high: I64
    """Cards of the hands."""
    ends: I64
    """End of each group of equal hands."""
    buckets: I64
    groups: I64
    """int64[1]: number of groups."""
    room: SortedRiver


class Profile(NamedTuple):
    """The strategies of both players, over buckets."""

    betting: Betting
    strategy: U8
    """uint8[node][action][bucket]: probabilities in 255ths."""
    num_buckets: int
    """Number of buckets on the river."""


class RiverWalk(NamedTuple):
    """Working memory of `walk_river`, by level of the tree."""

    weights: F64
    """float64[levels, 2, 1081]"""
    nodes: I64
    """int64[levels, 2]: node, and its next action."""


@kernel
def new_river() -> River:
    """An empty river."""
    live = NUM_LIVE_HANDS
    return River(
        np.zeros(live, dtype=np.int64),
        np.zeros(live, dtype=np.int64),
        np.zeros(live, dtype=np.int64),
        np.zeros(live, dtype=np.int64),
        np.zeros(live, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        new_sorted_river(),
    )


@kernel
def fill_river_order(board: U8, river: River) -> None:
    """Sort the hands that five cards do not block; buckets are not changed."""
    groups = sort_river(board, river.room)
    river.groups[0] = groups
    for group in range(groups):
        river.ends[group] = river.room.group_ends[group]
    for i in range(NUM_LIVE_HANDS):
        h = np.int64(river.room.hands[river.room.order[i]])
        river.hands[i], river.low[i], river.high[i] = h, _LOW[h], _HIGH[h]


@kernel
def fill_river_buckets(tables: BucketTables, board: U8, river: River) -> None:
    """Fill in the buckets of a river's hands."""
    location = locate_board(board, tables.river_locations)
    for i in range(NUM_LIVE_HANDS):
        river.buckets[i] = table_bucket(tables.river, location, river.hands[i])


@kernel
def river_wins(river: River, first: F64, second: F64) -> float:
    """Sum of w0 × w1 × (1 if player 0 wins, -1 if player 1 does).

    first, second  float64[1081]: weights in the river's order
    """
    cards_0, cards_1 = np.zeros(NUM_CARDS), np.zeros(NUM_CARDS)
    total_0 = total_1 = result = 0.0
    start = 0
    for group in range(river.groups[0]):
        end = river.ends[group]
        for i in range(start, end):
            low, high = river.low[i], river.high[i]
            result += first[i] * (total_1 - cards_1[low] - cards_1[high])
            result -= second[i] * (total_0 - cards_0[low] - cards_0[high])
        for i in range(start, end):
            low, high = river.low[i], river.high[i]
            total_0 += first[i]
            total_1 += second[i]
            cards_0[low] += first[i]
            cards_0[high] += first[i]
            cards_1[low] += second[i]
            cards_1[high] += second[i]
        start = end
    return result


@kernel
def board_wins(board: U8, first: F64, second: F64) -> float:
    """The sum of w0 × w1 × (1 or -1), averaged over all run-outs of a board of three to five cards."""
    num_cards = board.shape[0]
    river, one, other = new_river(), np.empty(NUM_LIVE_HANDS), np.empty(NUM_LIVE_HANDS)
    completed, dead = np.zeros(5, dtype=np.uint8), np.zeros(NUM_CARDS, dtype=np.uint8)
    for i in range(num_cards):
        completed[i] = board[i]
        dead[board[i]] = 1
    if num_cards == 5:
        return _completed_wins(completed, first, second, river, one, other)
    total = 0.0
    for high in range(NUM_CARDS):
        if dead[high]:
            continue
        completed[4] = high
        if num_cards == 4:
            total += _completed_wins(completed, first, second, river, one, other)
            continue
        for low in range(high):
            if not dead[low]:
                completed[3] = low
                total += _completed_wins(completed, first, second, river, one, other)
    # A pair of hands has 44 rivers of a turn, and 45 × 44 / 2 run-outs of a flop.
    return total / (44.0 if num_cards == 4 else 990.0)


@kernel
def sampled_wins(board: U8, first: F64, second: F64) -> float:
    """Approximate mean result over pairs of hands and run-outs of a flop or turn, from 24 or 25 run-outs.

    On a turn every other card; on a flop pairs of cards, with each card in one pair.
    """
    river, one, other = new_river(), np.empty(NUM_LIVE_HANDS), np.empty(NUM_LIVE_HANDS)
    completed, live = np.zeros(5, dtype=np.uint8), np.zeros(NUM_CARDS, dtype=np.uint8)
    dead = np.zeros(NUM_CARDS, dtype=np.bool_)
    for i in range(board.shape[0]):
        completed[i] = board[i]
        dead[board[i]] = True
    count = 0
    for card in range(NUM_CARDS):
        if not dead[card]:
            live[count] = card
            count += 1
    wins = mass = 0.0
    for i in range((count + 1) // 2):
        if board.shape[0] == 3:
            completed[3], completed[4] = live[i], live[i + count // 2]
        else:
            # Cards are ordered by rank and suit: alternate, so that every suit and rank occurs.
            completed[4] = live[2 * i + i // 2 % 2]
        wins += _completed_wins(completed, first, second, river, one, other)
        mass += _river_mass(river, one, other)
    return wins / mass if mass > 0.0 else 0.0


@kernel
def walk_river(
    profile: Profile, root: int, river: River, first: F64, second: F64, walk: RiverWalk
) -> tuple[float, float]:
    """Mass, and the sum over pairs of w0 × w1 × payoff when both follow a profile from a river node on.

    walk  scratch
    """
    betting, strategy, num_buckets = profile.betting, profile.strategy, profile.num_buckets
    weights, nodes = walk.weights, walk.nodes
    _pick(river, first, weights[0, 0])
    _pick(river, second, weights[0, 1])
    mass = _river_mass(river, weights[0, 0], weights[0, 1])
    nodes[0, 0], nodes[0, 1] = root, 0
    total, level = 0.0, 0
    while level >= 0:
        n, a = nodes[level, 0], nodes[level, 1]
        if a == betting.num_actions[n]:
            level -= 1
            continue
        nodes[level, 1] += 1
        entry, player = betting.first_entry[n] + a, betting.player[n]
        row = betting.base[n] + a * num_buckets
        before, after = weights[level, player], weights[level + 1, player]
        same, copied = weights[level, 1 - player], weights[level + 1, 1 - player]
        left = 0.0
        for i in range(NUM_LIVE_HANDS):
            after[i] = before[i] * (strategy[row + river.buckets[i]] * (1.0 / 255.0))
            copied[i] = same[i]
            left += after[i]
        if left == 0.0:
            continue
        following = betting.child[entry]
        if following >= 0:
            level += 1
            nodes[level, 0], nodes[level, 1] = following, 0
        elif betting.stake[entry] > 0:
            total += betting.stake[entry] * river_wins(river, weights[level + 1, 0], weights[level + 1, 1])
        else:
            total += betting.fixed[entry] * _river_mass(river, weights[level + 1, 0], weights[level + 1, 1])
    return mass, total


@kernel
def mean_over_rivers(
    profile: Profile,
    root: int,
    tables: BucketTables,
    board: U8,
    first: F64,
    second: F64,
    walk: RiverWalk,
) -> float:
    """The mean payoff over the river card when both follow a profile from there on.

    board  uint8[4]
    """
    river, completed = new_river(), np.zeros(5, dtype=np.uint8)
    for i in range(4):
        completed[i] = board[i]
    mass = total = 0.0
    for card in range(NUM_CARDS):
        if card == board[0] or card == board[1] or card == board[2] or card == board[3]:
            continue
        completed[4] = card
        fill_river_order(completed, river)
        fill_river_buckets(tables, completed, river)
        weight, value = walk_river(profile, root, river, first, second, walk)
        mass += weight
        total += value
    return total / mass


@kernel
def _completed_wins(board: U8, first: F64, second: F64, river: River, one: F64, other: F64) -> float:
    fill_river_order(board, river)
    _pick(river, first, one)
    _pick(river, second, other)
    return river_wins(river, one, other)


@kernel
def _river_mass(river: River, first: F64, second: F64) -> float:
    cards, total = np.zeros(NUM_CARDS), 0.0
    for i in range(NUM_LIVE_HANDS):
        cards[river.low[i]] += second[i]
        cards[river.high[i]] += second[i]
        total += second[i]
    mass = 0.0
    for i in range(NUM_LIVE_HANDS):
        mass += first[i] * (total - cards[river.low[i]] - cards[river.high[i]] + second[i])
    return mass


@kernel
def _pick(river: River, weights: F64, out: F64) -> None:
    for i in range(NUM_LIVE_HANDS):
        out[i] = weights[river.hands[i]]
