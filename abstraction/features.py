"""Features of many boards, computed on all cores: the points that are clustered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.progress import Progress

from abstraction.equity import (
    HISTOGRAM_COLUMNS,
    NUM_BINS,
    NUM_OPPONENT_CLASSES,
    fill_class_equities,
    fill_histograms,
    histograms_to_tails,
    new_sorted_river,
    sort_river,
)
from abstraction.isomorphism import board_multiplicities, canonical_boards
from abstraction.threads import run_chunks
from game.cards import NUM_CARDS
from game.hands import HAND_CARDS, NUM_HANDS
from numeric.arrays import I64, U8, U16
from numeric.jit import kernel

Features = npt.NDArray[np.integer[Any]]

ROUND_NAMES = {3: "flop", 4: "turn", 5: "river"}
BOARDS_PER_CHUNK = {3: 4, 4: 64, 5: 1024}
"""About a tenth of a second of work."""


@dataclass(frozen=True, slots=True)
class Points:
    """Hands on boards as points for clustering."""

    features: Features  # uint8[N, 32] tails before the river, int16[N, 8] equities on it
    weights: I64  # [N]: how many deals each stands for, up to a common factor


def sample_points(
    num_cards: int,
    num_boards: int,
    hands_per_board: int,
    class_of_hand: U8,
    seed: int,
    progress: Progress | None = None,
) -> Points:
    """Features of random hands on random boards of three, four or five cards.

    Boards are dealt at random and merged if they are equal up to suits. If at least as many are requested as
    there are canonical boards, all canonical boards are used, weighted by how often each is dealt.
    """
    rng = np.random.default_rng([seed, num_cards])
    multiplicities = board_multiplicities(num_cards)
    if num_boards < len(multiplicities):
        chances = multiplicities / multiplicities.sum()
        dealt = rng.multinomial(num_boards, chances)
    else:
        dealt = multiplicities
    rows = np.flatnonzero(dealt)
    boards = canonical_boards(num_cards)[rows]
    hands = _sample_hands(boards, hands_per_board, rng)
    features = features_of(boards, hands, class_of_hand, progress)
    return Points(features.reshape(-1, features.shape[2]), np.repeat(dealt[rows], hands.shape[1]))


def features_of(boards: U8, hands: U16, class_of_hand: U8, progress: Progress | None = None) -> Features:
    """Features [N, M, 32 or 8] of hands uint16[N, M], M on each of the boards uint8[N, 3 | 4 | 5]."""
    num_boards, num_cards = boards.shape
    shape = (num_boards, hands.shape[1])
    out: Features
    if num_cards == 5:
        out = np.empty((*shape, NUM_OPPONENT_CLASSES), dtype=np.int16)
    else:
        out = np.empty((*shape, NUM_BINS), dtype=np.uint8)

    def work(start: int, end: int) -> None:
        if num_cards == 5:
            _fill_equities(boards[start:end], hands[start:end], class_of_hand, out[start:end])
        else:
            _fill_tails(boards[start:end], hands[start:end], out[start:end])

    run_chunks(work, num_boards, BOARDS_PER_CHUNK[num_cards], progress, f"{ROUND_NAMES[num_cards]} features")
    return out


def _sample_hands(boards: U8, hands_per_board: int, rng: np.random.Generator) -> U16:
    """Different unblocked hands of each board, in random order: uint16[N, hands_per_board or all]."""
    num_boards, num_cards = boards.shape
    num_live = (NUM_CARDS - num_cards) * (NUM_CARDS - num_cards - 1) // 2
    count = min(hands_per_board, num_live)
    hands = np.empty((num_boards, count), dtype=np.uint16)
    for n, board in enumerate(boards):
        blocked = np.isin(HAND_CARDS, board).any(axis=1)
        live = np.flatnonzero(~blocked)
        hands[n] = live if count == num_live else rng.choice(live, size=count, replace=False)
    return hands


@kernel
def _fill_tails(boards: U8, hands: U16, tails: Features) -> None:
    """Tails uint8[N, M, 32] of hands uint16[N, M]."""
    histograms = np.empty((NUM_HANDS, HISTOGRAM_COLUMNS), dtype=np.uint32)
    all_tails = np.zeros((NUM_HANDS, NUM_BINS), dtype=np.uint8)
    for n in range(boards.shape[0]):
        fill_histograms(boards[n], histograms)
        histograms_to_tails(histograms, all_tails)
        for m in range(hands.shape[1]):
            for i in range(NUM_BINS):
                tails[n, m, i] = all_tails[hands[n, m], i]


@kernel
def _fill_equities(boards: U8, hands: U16, class_of_hand: U8, equities: Features) -> None:
    """Equities int16[N, M, 8] of hands uint16[N, M]."""
    all_equities = np.zeros((NUM_HANDS, NUM_OPPONENT_CLASSES), dtype=np.int16)
    river = new_sorted_river()
    for n in range(boards.shape[0]):
        fill_class_equities(river, sort_river(boards[n], river), class_of_hand, all_equities)
        for m in range(hands.shape[1]):
            for i in range(NUM_OPPONENT_CLASSES):
                equities[n, m, i] = all_equities[hands[n, m], i]
