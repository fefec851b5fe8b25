"""A game the engine can solve: hands, public boards and a tree, as data.

Every two-player game with private hands of one or two cards fits. A hand of one card gets a second, dummy
card that no other hand holds, so the same sums over unblocked hands serve all games. Chance is uniform over
the public cards that neither player holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from game.cards import NUM_CARDS
from numeric.arrays import F32, I32, I64, U16, U32
from solver.games.layout import LANES, LINE, Boards
from solver.games.tree import Tree

Cards = tuple[int, ...]
Strengths = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Game:
    """Everything that a solve needs. `hand` is an index into `hands`."""

    tree: Tree
    hands: I64
    """int64[H, 2]: the cards of each hand."""
    labels: I64
    """int64[H]: the caller's number of each hand (0..1325 in hold'em)."""
    ranges: F32
    """float32[2, H]: weight of each hand at the root, not normalised."""
    board_cards: tuple[Cards, ...]
    """Public cards of each board, parents before children."""
    boards: Boards
    chance: tuple[float, ...]
    """Per round: probability of one run-out up to that round, given both hands."""
    num_cards: int
    stride: int
    table_size: int

    @property
    def num_hands(self) -> int:
        """Number of hands."""
        return len(self.hands)

    def boards_of_round(self, round_index: int) -> range:
        """Boards of a round, which have consecutive numbers."""
        first = last = 0
        for _ in range(round_index):
            first, last = int(self.boards.first_child[first]), int(self.boards.first_child[last + 1]) - 1
        return range(first, last + 1)

    def pairings(self) -> float:
        """Total weight of pairs of hands that share no card: root values are divided by it."""
        return float(self.ranges[0].astype(np.float64) @ self.unblocked_weight(1))

    def unblocked_weight(self, player: int) -> npt.NDArray[np.float64]:
        """float64[H]: for each hand, the weight of a player's hands that share no card with it."""
        return unblocked_weight(self.hands, self.ranges[player], self.num_cards)


def unblocked_weight(hands: I64, weights: F32, num_cards: int = NUM_CARDS) -> npt.NDArray[np.float64]:
    """float64[H]: for each hand, the weight of those that share no card with it.

    hands  int64[H, 2]
    """
    exact = weights.astype(np.float64)
    held = np.bincount(hands[:, 0], exact, num_cards) + np.bincount(hands[:, 1], exact, num_cards)
    return np.asarray(exact.sum() - held[hands[:, 0]] - held[hands[:, 1]] + exact)


@dataclass(frozen=True, slots=True)
class Deck:
    """The cards of a game, which are numbered from 0."""

    size: int = NUM_CARDS
    hand_size: int = 2
    """Cards of a hand: one or two."""

    @property
    def num_cards(self) -> int:
        """Number of cards, including the dummies of one-card hands."""
        return self.size * 2 // self.hand_size


FULL_DECK = Deck()


def make_game(
    tree: Tree,
    hands: I64,
    labels: I64,
    ranges: F32,
    board: Cards,
    strengths: Callable[[Cards], Strengths],
    deck: Deck = FULL_DECK,
) -> Game:
    """Lay out boards and hands for the kernels.

    board      public cards at the root
    strengths  board of the last round -> int64[H], larger is stronger; any value for blocked hands
    """
    stride = (len(hands) // LINE + 1) * LINE
    left = [card for card in range(deck.size) if card not in board]
    chance = [1.0]
    for r in range(1, tree.num_rounds):
        chance.append(chance[-1] / (len(left) - (r - 1) - 2 * deck.hand_size))
    cards_of_boards, round_of_board = [board], [0]
    first_child: list[int] = []
    b = 0
    while b < len(cards_of_boards):
        first_child.append(len(cards_of_boards))
        if round_of_board[b] + 1 < tree.num_rounds:
            following = [card for card in left if card not in cards_of_boards[b]]
            cards_of_boards += [(*cards_of_boards[b], card) for card in following]
            round_of_board += [round_of_board[b] + 1] * len(following)
        b += 1
    first_child.append(len(cards_of_boards))
    sizes = np.array(tree.round_rows, dtype=np.int64)[round_of_board] * stride
    table = np.concatenate([[0], np.cumsum(sizes)])
    last = round_of_board.index(tree.num_rounds - 1)
    position, pair, ends, live, groups = _order_hands(
        hands, cards_of_boards, last, stride, deck.num_cards, strengths
    )
    boards = Boards(
        table=table[:-1],
        first_child=np.array(first_child, dtype=np.int32),
        position=position,
        pair=pair,
        ends=ends,
        live=live,
        groups=groups,
        first_image=np.zeros(len(cards_of_boards) + 1, dtype=np.int32),
        image=np.zeros((0, stride), dtype=np.uint16),
    )
    return Game(
        tree,
        hands,
        labels,
        np.ascontiguousarray(ranges, dtype=np.float32),
        tuple(cards_of_boards),
        boards,
        tuple(chance),
        deck.num_cards,
        stride,
        int(table[-1]),
    )


def _order_hands(
    hands: I64,
    cards_of_boards: list[Cards],
    first_showdown: int,
    stride: int,
    num_cards: int,
    strengths: Callable[[Cards], Strengths],
) -> tuple[U16, U32, U16, I32, I32]:
    """`position`, `pair`, `ends`, `live` and `groups` of `Boards`.

    first_showdown  the first board of the last round, on which hands are ordered by strength
    """
    num_boards, num_hands = len(cards_of_boards), len(hands)
    position = np.full((num_boards, stride), stride, dtype=np.uint16)
    pair = np.zeros((num_boards, num_hands), dtype=np.uint32)
    ends = np.zeros((num_boards, num_hands), dtype=np.uint16)
    live, groups = np.zeros(num_boards, dtype=np.int32), np.zeros(num_boards, dtype=np.int32)
    packed = ((hands[:, 1] << 16 | hands[:, 0]) * LANES).astype(np.uint32)
    spread = _spread_order(hands, num_cards)
    dead = np.zeros(num_cards, dtype=np.bool_)
    for b, cards in enumerate(cards_of_boards):
        dead[:] = False
        dead[list(cards)] = True
        blocked = dead[hands[:, 0]] | dead[hands[:, 1]]
        if b >= first_showdown:
            strength = strengths(cards)
            order = showdown_order(hands, strength, num_cards)
            order = order[~blocked[order]]
            edges = np.flatnonzero(np.diff(strength[order])) + 1
            groups[b] = len(edges) + 1
            ends[b, : len(edges)] = edges
            ends[b, len(edges)] = len(order)
        else:
            order = spread[~blocked[spread]]
        live[b] = len(order)
        position[b, order] = np.arange(len(order))
        pair[b, : len(order)] = packed[order]
    return position, pair, ends, live, groups


def _spread_order(hands: I64, num_cards: int) -> I64:
    """Order hands by the difference of their cards, so that neighbours rarely share a card.

    Otherwise the running sums of the terminals would wait for each other.
    """
    return np.argsort((hands[:, 1] - hands[:, 0]) * num_cards + hands[:, 0])


def showdown_order(hands: I64, strength: Strengths, num_cards: int) -> I64:
    """Hands from weakest to strongest; the order of equal hands is arbitrary."""
    spread = _spread_order(hands, num_cards)
    return spread[strength[spread].argsort(kind="stable")]


def compact_hands(ranges: F32, playable: npt.NDArray[np.bool_]) -> I64:
    """Hands to keep: playable, and with weight in either range."""
    weights: I32 = (ranges > 0).sum(axis=0).astype(np.int32)
    return np.flatnonzero(playable & (weights > 0))
