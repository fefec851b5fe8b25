"""Kuhn and Leduc poker for the same engine, so that published values and other solvers can check it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from solver.game import Game, make_game
from solver.tree import (
    CALL_ACTION,
    CHANCE,
    DECISION,
    FOLD,
    FOLD_ACTION,
    NO_ACTION,
    SHOWDOWN,
    Tree,
    TreeBuilder,
)


def kuhn() -> Game:
    """Three cards, one of them each, ante 1, one bet of 1 (Kuhn, 1950)."""
    return _one_card_game(_limit_tree((1,), max_raises=1), 3, lambda _: np.arange(3))


def leduc() -> Game:
    """Two suits of three ranks, ante 1, bets of 2 then 4, two raises a round (Southey et al., 2005).

    Cards are rank * 2 + suit, as in OpenSpiel.
    """

    def strengths(board: tuple[int, ...]) -> npt.NDArray[np.int64]:
        ranks = np.arange(6) // 2
        return np.asarray(ranks + 3 * (ranks == board[0] // 2), dtype=np.int64)

    return _one_card_game(_limit_tree((2, 4), max_raises=2), 6, strengths)


def _one_card_game(
    tree: Tree, deck: int, strengths: Callable[[tuple[int, ...]], npt.NDArray[np.int64]]
) -> Game:
    hands = np.stack([np.arange(deck), deck + np.arange(deck)], axis=1)
    ranges = np.ones((2, deck), dtype=np.float32)
    return make_game(
        tree,
        hands,
        np.arange(deck),
        ranges,
        2 * deck,
        (),
        range(deck),
        strengths,
        hand_size=1,
    )


def _limit_tree(bets: tuple[int, ...], max_raises: int) -> Tree:
    builder = TreeBuilder()
    add = builder.add

    def decide(
        parent: int, action: int, r: int, actor: int, spent: tuple[int, int], raises: int, opened: bool
    ) -> None:
        node = add(DECISION, r, parent, action, player=actor)
        own, other = spent[actor], spent[1 - actor]
        if other > own:
            add(FOLD, r, node, FOLD_ACTION, player=actor, amount=own)
        called = (other, other)
        if not opened and other == own:
            decide(node, CALL_ACTION, r, 1 - actor, called, raises, True)
        elif r + 1 < len(bets):
            chance = add(CHANCE, r, node, CALL_ACTION)
            decide(chance, NO_ACTION, r + 1, 0, called, 0, False)
        else:
            add(SHOWDOWN, r, node, CALL_ACTION, amount=other)
        if raises < max_raises:
            total = other + bets[r]
            raised = (total, other) if actor == 0 else (other, total)
            decide(node, total, r, 1 - actor, raised, raises + 1, True)

    decide(-1, NO_ACTION, 0, 0, (1, 1), 0, False)
    return builder.finish()
