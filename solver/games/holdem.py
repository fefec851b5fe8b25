"""Hold'em subgames from the flop, turn or river to the end of the hand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from game.cards import NUM_CARDS, Cards, cards_text, verify_distinct
from game.errors import CardError, RangeError
from game.evaluator import river_strengths
from game.hands import HAND_CARDS, NUM_HANDS, unblocked
from numeric.arrays import F32
from solver.games.game import Game, compact_hands, make_game, showdown_order
from solver.games.tree import RIVER, Tree

LEAST_WEIGHT = 1e-18
"""Smallest allowed maximum weight of a range: totals of strategies and regrets up to 1e-30 count as zero."""


def holdem_game(board: Cards, tree: Tree, ranges: F32) -> Game:
    """The game on a board of 3, 4 or 5 cards.

    ranges  float32[2, 1326]: weights of both players' hands; hands that hold a board card are ignored
    """
    verify_distinct(board)
    if not 3 <= len(board) <= 5 or tree.num_rounds != RIVER - (len(board) - 2) + 1:
        raise CardError(f"the board {cards_text(board)!r} does not fit a tree of {tree.num_rounds} rounds")
    weights = np.asarray(ranges, dtype=np.float32)
    if weights.shape != (2, NUM_HANDS) or not np.isfinite(weights).all() or (weights < 0).any():
        raise RangeError("ranges must be two rows of 1326 finite weights, none negative")
    labels = compact_hands(weights, unblocked(board))
    if tree.num_rounds == 1:  # threads split a single river by ranges of this order: `exact.river_parts`
        strength = river_strengths(board)[labels].astype(np.int64)
        labels = labels[showdown_order(HAND_CARDS[labels].astype(np.int64), strength, NUM_CARDS)]
    hands = HAND_CARDS[labels].astype(np.int64)

    def strengths(cards: tuple[int, ...]) -> npt.NDArray[np.int64]:
        return river_strengths(cards)[labels].astype(np.int64)

    game = make_game(tree, hands, labels, weights[:, labels], board, strengths)
    if len(labels) == 0 or game.pairings() <= 0:
        raise RangeError(f"no pair of hands is possible on {cards_text(board)!r}: both ranges need weight")
    if game.ranges.max(axis=1).min() < LEAST_WEIGHT:
        raise RangeError(f"a range of weights below {LEAST_WEIGHT:g} is lost in rounding: scale it up")
    return game
