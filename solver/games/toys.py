"""Kuhn and Leduc poker for the same engine, to check it against published values and other solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from numeric.arrays import F32
from solver.games.game import Deck, Game, make_game
from solver.games.tree import (
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
    """Three cards, one for each player, ante 1, one bet of 1 (Kuhn, 1950)."""
    tree = limit_tree(LimitState(), 1, limit_sizes(((1,),), max_raises=1))
    return one_card_game(tree, 3, lambda _: np.arange(3))


def leduc(bets: tuple[tuple[int, ...], ...] = ((2,), (4,))) -> Game:
    """Two suits of three ranks, ante 1, bets of 2 then 4, two raises a round (Southey et al., 2005).

    Cards are rank * 2 + suit, as in OpenSpiel.
    bets  sizes of each round, to offer others
    """
    return one_card_game(limit_tree(LimitState(), 2, limit_sizes(bets, max_raises=2)), 6, leduc_strengths)


def leduc_strengths(board: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """int64[6]: a pair with the board beats everything, then the rank counts."""
    ranks = np.arange(6) // 2
    return np.asarray(ranks + 3 * (ranks == board[0] // 2), dtype=np.int64)


def one_card_game(
    tree: Tree,
    deck: int,
    strengths: Callable[[tuple[int, ...]], npt.NDArray[np.int64]],
    ranges: F32 | None = None,
    board: tuple[int, ...] = (),
) -> Game:
    """A game in which each player holds one card; `ranges` float32[2, deck] are uniform by default."""
    hands = np.stack([np.arange(deck), deck + np.arange(deck)], axis=1)
    return make_game(
        tree,
        hands,
        np.arange(deck),
        np.ones((2, deck), dtype=np.float32) if ranges is None else ranges,
        board,
        strengths,
        Deck(deck, hand_size=1),
    )


@dataclass(frozen=True, slots=True)
class LimitState:
    """State of the betting in a game with antes and a few sizes. Chips are totals."""

    round_index: int = 0
    actor: int = 0
    spent: tuple[int, int] = (1, 1)
    raises: int = 0
    opened: bool = False

    def call(self) -> LimitState | None:
        """The state after a check or call, or None if that ends the round."""
        other = self.spent[1 - self.actor]
        if self.opened or other > self.spent[self.actor]:
            return None
        return replace(self, actor=1 - self.actor, opened=True)

    def raise_by(self, size: int) -> LimitState:
        """The state after a bet or raise of a size."""
        other = self.spent[1 - self.actor]
        spent = (other + size, other) if self.actor == 0 else (other, other + size)
        return replace(self, actor=1 - self.actor, spent=spent, raises=self.raises + 1, opened=True)


Sizes = Callable[[LimitState], tuple[int, ...]]
"""Bets or raises that are offered in a state."""


def limit_tree(start: LimitState, num_rounds: int, sizes: Sizes, max_rounds: int | None = None) -> Tree:
    """The tree from a state to the end of the hand, or of `max_rounds` rounds (see `build_tree`)."""
    builder = TreeBuilder()
    add, first_round = builder.add, start.round_index

    def decide(state: LimitState, parent: int, action: int) -> None:
        r, actor = state.round_index - first_round, state.actor
        node = add(DECISION, r, parent, action, player=actor)
        own, other = state.spent[actor], state.spent[1 - actor]
        if other > own:
            add(FOLD, r, node, FOLD_ACTION, player=actor, amount=own)
        called = state.call()
        if called is not None:
            decide(called, node, CALL_ACTION)
        elif max_rounds is not None and r + 1 == max_rounds:
            add(CHANCE, r, node, CALL_ACTION, amount=other)
        elif state.round_index + 1 < num_rounds:
            chance = add(CHANCE, r, node, CALL_ACTION)
            decide(LimitState(state.round_index + 1, spent=(other, other)), chance, NO_ACTION)
        else:
            add(SHOWDOWN, r, node, CALL_ACTION, amount=other)
        for size in sizes(state):
            decide(state.raise_by(size), node, other + size)

    decide(start, -1, NO_ACTION)
    return builder.finish()


def limit_sizes(bets: tuple[tuple[int, ...], ...], max_raises: int) -> Sizes:
    """The same sizes for both players, by round, up to a number of raises."""
    return lambda state: bets[state.round_index] if state.raises < max_raises else ()
