"""Small games for tests."""

from __future__ import annotations

from functools import cache

import numpy as np

from abstraction.menu import parse_menu_book
from game.cards import parse_cards
from game.evaluator import river_strengths
from game.hands import NUM_HANDS, parse_hand
from solver.games.game import Deck, Game, make_game
from solver.games.holdem import holdem_game
from solver.games.tree import DECISION, NO_ACTION, SHOWDOWN, TreeBuilder, build_tree, even_root


def holdem(
    board: str, pot: int, behind: int, menu: str, hands: list[str] | None = None, seed: int = 0
) -> Game:
    """A game with all hands of weight 1, or with random weights on `hands`."""
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


def coin_toss() -> Game:
    """The coin toss of Brown and Sandholm (2017), figure 1.

    Player 0 sees a coin and sells it (worth ½ with heads, −½ with tails) or plays. Then player 1 guesses, and
    player 0 wins 1 if the guess is wrong and loses 1 if it is right. Hands 0, 1, 2 are tails, player 1's only
    hand and heads, in order of strength: a showdown is won by heads, and a guess of heads inverts it.
    """
    builder = TreeBuilder()
    root = builder.add(DECISION, 0, -1, NO_ACTION, player=0)
    builder.add(SHOWDOWN, 0, root, 1, amount=0.5)
    guess = builder.add(DECISION, 0, root, 2, player=1)
    for action, amount in ((1, 1.0), (2, -1.0)):  # tails, heads
        # A dummy node in between: two showdowns after the same decision would share a value row.
        dummy = builder.add(DECISION, 0, guess, action, player=0)
        builder.add(SHOWDOWN, 0, dummy, 1, amount=amount)
    ranges = np.array([[1, 0, 1], [0, 1, 0]], dtype=np.float32)
    hands = np.stack([np.arange(3), 3 + np.arange(3)], axis=1)
    return make_game(
        builder.finish(),
        hands,
        np.arange(3),
        ranges,
        (),
        lambda _: np.arange(3),
        Deck(3, hand_size=1),
    )
