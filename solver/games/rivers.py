"""Lays out rivers for showdowns: the hands of a game in order of strength, for many boards at once."""

from __future__ import annotations

import numpy as np

from game.evaluator import fill_river
from game.hands import NUM_HANDS
from numeric.arrays import I64, U8
from numeric.jit import kernel
from solver.games.layout import LANES, Boards

_TIE = np.int64(16)


@kernel
def lay_out_rivers(cards: U8, hands: I64, labels: I64, spread: I64, boards: Boards, first: int) -> None:
    """Sort hands by strength on rivers: `position`, `pair`, `ends`, `live`, `groups` from board `first` on.

    cards   uint8[S, 5]
    spread  int64[H]  order of hands of equal strength
    """
    strength = np.empty(NUM_HANDS, dtype=np.uint16)
    num_hands, stride = hands.shape[0], boards.position.shape[1]
    keys, mask = np.empty(num_hands, dtype=np.int64), np.int64(0xFFFF)
    dead = np.zeros(256, dtype=np.bool_)
    for s in range(cards.shape[0]):
        b = first + s
        fill_river(cards[s], strength)
        for i in range(5):
            dead[cards[s, i]] = True
        for h in range(stride):
            boards.position[b, h] = stride
        live = 0
        for rank in range(num_hands):
            h = spread[rank]
            if not (dead[hands[h, 0]] or dead[hands[h, 1]]):
                keys[live] = np.int64(strength[labels[h]]) << _TIE | rank
                live += 1
        for i in range(5):
            dead[cards[s, i]] = False
        keys[:live].sort()
        groups = 0
        for i in range(live):
            h = spread[keys[i] & mask]
            boards.position[b, h] = i
            boards.pair[b, i] = (hands[h, 1] << _TIE | hands[h, 0]) * LANES
            if i > 0 and keys[i] >> _TIE != keys[i - 1] >> _TIE:
                boards.ends[b, groups] = i
                groups += 1
        boards.ends[b, groups] = live
        boards.live[b] = live
        boards.groups[b] = groups + 1


def new_rivers(count: int, num_hands: int, stride: int) -> Boards:
    """Empty arrays for some rivers."""
    nothing = np.zeros(0, dtype=np.int32)
    return Boards(
        table=np.zeros(0, dtype=np.int64),
        first_child=nothing,
        position=np.full((count, stride), stride, dtype=np.uint16),
        pair=np.zeros((count, num_hands), dtype=np.uint32),
        ends=np.zeros((count, num_hands), dtype=np.uint16),
        live=np.zeros(count, dtype=np.int32),
        groups=np.zeros(count, dtype=np.int32),
        first_image=nothing,
        image=np.zeros((0, stride), dtype=np.uint16),
    )
