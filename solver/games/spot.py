"""A hold'em spot: board, pot, stacks, menus and ranges; and an estimate of the memory to solve it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np

from abstraction.menu import parse_menu_book
from game.cards import NUM_CARDS, Cards, verify_distinct
from game.errors import CardError
from game.hands import unblocked
from numeric.arrays import F32
from solver.games.game import Game, compact_hands
from solver.games.holdem import holdem_game
from solver.games.layout import CHUNKS, LANES
from solver.games.tree import BettingRoot, Tree, build_tree, even_root

_BOARD_BYTES_PER_HAND = 8  # position, pair and ends of `layout.Boards`
_TABLES = 2  # regrets and strategy sums


@dataclass(frozen=True, slots=True)
class Spot:
    """Everything that defines a solve. Player 0 acts first after the flop (oop), player 1 last (ip)."""

    board: Cards
    root: BettingRoot
    menu: str
    """A menu book, see `abstraction.menu`."""
    ranges: F32
    """float32[2, 1326]: weights of both players' hands."""
    extra: Mapping[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)
    """Raise-to totals offered besides the menu, by history: see `build_tree`."""

    @property
    def pot(self) -> float:
        """Chips in the pot at the root."""
        return sum(self.root.spent) + self.root.dead

    @property
    def behind(self) -> int:
        """Chips left in the shorter stack at the root."""
        return self.root.stack - max(self.root.spent)

    def tree(self) -> Tree:
        """The betting tree. Takes about a second per 200,000 nodes."""
        return build_tree(self.root, parse_menu_book(self.menu), self.extra)

    def game(self, tree: Tree | None = None) -> Game:
        """The game to solve."""
        return holdem_game(self.board, self.tree() if tree is None else tree, self.ranges)


def street_spot(board: Cards, pot: int, behind: int, menu: str, ranges: F32, big_blind: int = 1) -> Spot:
    """A spot at the start of a street, with equal stacks."""
    if not 3 <= len(board) <= 5:
        raise CardError(f"a board has 3, 4 or 5 cards, not {len(board)}")
    verify_distinct(board)
    return Spot(board, even_root(len(board) - 2, pot, behind, big_blind), menu, ranges)


def boards_per_round(num_board_cards: int) -> tuple[int, ...]:
    """Number of boards of each round, from a root board of 3, 4 or 5 cards."""
    left = range(NUM_CARDS - num_board_cards, NUM_CARDS - 5, -1)
    return tuple([prod(left[:r]) for r in range(len(left) + 1)])


def estimate_memory(spot: Spot, tree: Tree, threads: int = 1) -> int:
    """Bytes that a solve will take, without building it: tables, boards and working memory.

    Within a few per cent of `Solver.memory_bytes` wherever the tables dominate.
    """
    num_hands = len(compact_hands(spot.ranges, unblocked(spot.board)))
    stride = num_hands + LANES
    counts = boards_per_round(len(spot.board))
    rows = sum(count * rows for count, rows in zip(counts, tree.round_rows, strict=True))
    tables = _TABLES * rows * stride * np.dtype(np.float32).itemsize
    boards = sum(counts) * stride * _BOARD_BYTES_PER_HAND
    # Rows of reach and values of the first round, once per thread and once shared; sums of the second round.
    scratch = (threads + 1 + CHUNKS / 4) * 2 * tree.round_rows[0] * stride * 4
    return int(tables + boards + scratch)
