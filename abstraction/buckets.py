"""The bucket of every hand on a board: `CardAbstraction`.

1. Buckets of a round are numbered by rising mean equity of their centroids, except pre-flop, where they are
   the 169 classes of `game.hands`.
2. A board is made canonical first, so relabelled boards give relabelled results. Since features are integers
   (`abstraction.equity`), hands that a symmetry of the board exchanges share a bucket on any machine.
3. Imperfect recall: a bucket depends only on the board and the hand, not on earlier rounds.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from abstraction.equity import (
    EQUITY_UNITS,
    HISTOGRAM_COLUMNS,
    NUM_BINS,
    NUM_OPPONENT_CLASSES,
    SortedRiver,
    fill_class_equities,
    fill_histograms,
    histograms_to_tails,
    new_sorted_river,
    sort_river,
)
from abstraction.errors import AbstractionError
from abstraction.features import Features
from abstraction.isomorphism import HAND_UNDER, canonical_board
from abstraction.nearest import NUM_SLOTS, Centroids, find_equal, lay_out, nearest_equities, nearest_tail
from game.cards import NUM_CARDS, Cards, cards_text
from game.errors import CardError
from game.evaluator import NUM_LIVE_HANDS
from game.hands import HAND_CARDS, HAND_CLASS, NUM_CLASSES, NUM_HANDS
from numeric.arrays import I16, U8, U16
from numeric.jit import kernel

BLOCKED = 0xFFFF
"""Value instead of a bucket for a hand that shares a card with the board."""

MAX_BUCKETS = 0xFFFE
CACHED_BOARDS = 4096

_PREFLOP: U16 = HAND_CLASS.astype(np.uint16)
_PREFLOP.setflags(write=False)


@dataclass(frozen=True, slots=True, eq=False)
class CardAbstraction:
    """Centroids and the buckets they define. Safe to share between threads."""

    opponent_classes: U8  # [169]: classes of opponents for the river, 0..7
    flop: U8  # [K, 32] tails by rising sum
    turn: U8  # [K, 32] tails by rising sum
    river: I16  # [K, 8] equities by rising sum
    _class_of_hand: U8 = field(init=False, repr=False)
    _searches: dict[int, Centroids] = field(init=False, repr=False)
    _cache: _BoardCache = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._verify()
        for array in (self.opponent_classes, self.flop, self.turn, self.river):
            array.setflags(write=False)
        object.__setattr__(self, "_class_of_hand", self.opponent_classes[HAND_CLASS])
        searches = {3: lay_out(self.flop), 4: lay_out(self.turn), 5: lay_out(self.river)}
        object.__setattr__(self, "_searches", searches)
        object.__setattr__(self, "_cache", _BoardCache())

    @property
    def num_buckets(self) -> tuple[int, int, int, int]:
        """The number of buckets pre-flop, on flop, turn and river."""
        return NUM_CLASSES, len(self.flop), len(self.turn), len(self.river)

    @property
    def digest(self) -> str:
        """Sixteen hex digits that identify the abstraction."""
        digest = hashlib.sha256(b"card abstraction 1")
        for name, array in self.to_arrays().items():
            digest.update(f"{name}{array.shape}{array.dtype.str}".encode() + array.tobytes())
        return digest.hexdigest()[:16]

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The four small arrays, by name, from which `from_arrays` restores the abstraction."""
        names = ("opponent_classes", "flop", "turn", "river")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> CardAbstraction:
        """Restore an abstraction from the arrays of `to_arrays`, which are copied."""
        try:
            return cls(
                opponent_classes=np.array(arrays["opponent_classes"], dtype=np.uint8),
                flop=np.array(arrays["flop"], dtype=np.uint8),
                turn=np.array(arrays["turn"], dtype=np.uint8),
                river=np.array(arrays["river"], dtype=np.int16),
            )
        except KeyError as missing:
            raise AbstractionError(f"a card abstraction needs the array {missing}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        # The cache and its lock are not sent when an abstraction is pickled for another process.
        return CardAbstraction.from_arrays, (self.to_arrays(),)

    def buckets(self, board: Cards) -> U16:
        """uint16[1326]: the bucket of every hand on a board of 0, 3, 4 or 5 cards; BLOCKED for blocked hands.

        Read-only. Computed on demand and cached for the last few thousand canonical boards.
        """
        if not board:
            return _PREFLOP
        canonical, relabelling = canonical_board(board)
        found = self._cache.get(canonical)
        if found is None:
            found = np.full(NUM_HANDS, BLOCKED, dtype=np.uint16)
            cards, search = np.array(canonical, dtype=np.uint8), self._searches[len(canonical)]
            if len(canonical) == 5:
                fill_river_buckets(cards, self._class_of_hand, search, found)
            else:
                fill_tail_buckets(cards, search, found)
            self._cache.put(canonical, found)
        relabelled: U16 = found[HAND_UNDER[relabelling]]
        relabelled.setflags(write=False)
        return relabelled

    def bucket(self, board: Cards, hand: int) -> int:
        """The bucket of one hand; raises `CardError` if the board blocks it."""
        found = int(self.buckets(board)[hand])
        if found == BLOCKED:
            raise CardError(f"hand {hand} shares a card with the board {cards_text(board)!r}")
        return found

    def search_inputs(self, num_cards: int) -> tuple[U8, Centroids]:
        """Arguments of the kernels below for boards of `num_cards` cards: opponent classes, centroids."""
        return self._class_of_hand, self._searches[num_cards]

    def _verify(self) -> None:
        shapes = {"flop": NUM_BINS, "turn": NUM_BINS, "river": NUM_OPPONENT_CLASSES}
        for name, width in shapes.items():
            centroids: Features = getattr(self, name)
            if centroids.ndim != 2 or centroids.shape[1] != width:
                raise AbstractionError(f"{name} centroids must be rows of {width}, not {centroids.shape}")
            if not 1 <= len(centroids) <= MAX_BUCKETS:
                raise AbstractionError(f"{len(centroids):,} {name} buckets: give 1 to {MAX_BUCKETS:,}")
            if (np.diff(centroids.sum(axis=1, dtype=np.int64)) < 0).any():
                raise AbstractionError(f"{name} centroids must be sorted by the sum of their coordinates")
        if self.river.min() < 0 or self.river.max() > EQUITY_UNITS:
            raise AbstractionError(f"river centroids are equities in 0..{EQUITY_UNITS}")
        classes = self.opponent_classes
        if classes.shape != (NUM_CLASSES,) or classes.max() >= NUM_OPPONENT_CLASSES:
            raise AbstractionError(f"opponent classes are {NUM_CLASSES} numbers below {NUM_OPPONENT_CLASSES}")


class _BoardCache:
    """A cache of the buckets of the canonical boards used last."""

    def __init__(self) -> None:
        self._boards: OrderedDict[Cards, U16] = OrderedDict()
        self._lock = Lock()

    def get(self, board: Cards) -> U16 | None:
        with self._lock:
            found = self._boards.get(board)
            if found is not None:
                self._boards.move_to_end(board)
            return found

    def put(self, board: Cards, buckets: U16) -> None:
        with self._lock:
            self._boards[board] = buckets
            if len(self._boards) > CACHED_BOARDS:
                self._boards.popitem(last=False)


@kernel
def fill_tail_buckets(board: U8, centroids: Centroids, buckets: U16) -> None:
    """Buckets of the hands on a flop or turn.

    board    uint8[3 | 4]  in: different cards
    buckets  uint16[1326]  out: blocked hands untouched
    """
    histograms = np.empty((NUM_HANDS, HISTOGRAM_COLUMNS), dtype=np.uint32)
    tails = np.zeros((NUM_HANDS, NUM_BINS), dtype=np.uint8)
    fill_histograms(board, histograms)
    histograms_to_tails(histograms, tails)
    dead = np.zeros(NUM_CARDS, dtype=np.bool_)
    for i in range(board.shape[0]):
        dead[board[i]] = True
    slots = np.full(NUM_SLOTS, -1, dtype=np.int16)
    point, lanes = np.empty(NUM_BINS, dtype=np.float32), np.empty(8, dtype=np.float32)
    for h in range(NUM_HANDS):
        hand = np.int64(h)
        if dead[HAND_CARDS[hand, 0]] or dead[HAND_CARDS[hand, 1]]:
            continue
        equal = find_equal(tails, hand, slots)
        if equal == hand:
            for i in range(NUM_BINS):
                point[i] = tails[hand, i]
            buckets[hand], _ = nearest_tail(point, centroids, lanes)
        else:
            buckets[hand] = buckets[equal]


@kernel
def fill_river_buckets(board: U8, class_of_hand: U8, centroids: Centroids, buckets: U16) -> None:
    """Buckets of the hands on a river.

    board          uint8[5]      in: different cards
    class_of_hand  uint8[1326]   in: 0..7
    buckets        uint16[1326]  out: blocked hands untouched
    """
    river: SortedRiver = new_sorted_river()
    equities = np.empty((NUM_HANDS, NUM_OPPONENT_CLASSES), dtype=np.int16)
    fill_class_equities(river, sort_river(board, river), class_of_hand, equities)
    slots = np.full(NUM_SLOTS, -1, dtype=np.int16)
    point, lanes = np.empty(NUM_OPPONENT_CLASSES, dtype=np.float32), np.empty(8, dtype=np.float32)
    for h in range(NUM_LIVE_HANDS):
        hand = np.int64(river.hands[h])
        equal = find_equal(equities, hand, slots)
        if equal == hand:
            for i in range(NUM_OPPONENT_CLASSES):
                point[i] = equities[hand, i]
            buckets[hand], _ = nearest_equities(point, centroids, lanes)
        else:
            buckets[hand] = buckets[equal]
