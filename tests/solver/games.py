"""Small games for tests."""

from __future__ import annotations

from functools import cache

import numpy as np

from abstraction.menu import parse_menu_book
from game.cards import parse_cards
from game.evaluator import river_strengths
from game.hands import NUM_HANDS, parse_hand
from solver.game import Game
from solver.holdem import holdem_game
from solver.tree import build_tree, even_root


def holdem(
    board: str, pot: int, behind: int, menu: str, hands: list[str] | None = None, seed: int = 0
) -> Game:
    """Both ranges: random weights on `hands` (all hands of weight 1 by default)."""
    cards = parse_cards(board)
    ranges = np.ones((2, NUM_HANDS), dtype=np.float32)
    if hands is not None:
        ranges[:] = 0
        chosen = [parse_hand(hand) for hand in hands]
        ranges[:, chosen] = np.random.default_rng(seed).random((2, len(chosen)))
    return holdem_game(
        cards, build_tree(even_root(len(cards) - 2, pot, behind), parse_menu_book(menu)), ranges
    )


strengths_of = cache(river_strengths)


def holdem_strength(game: Game, board: tuple[int, ...], hand: int) -> int:
    return int(strengths_of(board)[game.labels[hand]])


def leduc_strength(board: tuple[int, ...], hand: int) -> int:
    return hand // 2 + (10 if hand // 2 == board[0] // 2 else 0)


def kuhn_strength(_board: tuple[int, ...], hand: int) -> int:
    return hand
