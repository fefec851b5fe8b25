"""AIVAT guesses after bets that are not in the blueprint's tree, using the blueprint's own translation.

1. A bet leads to the node that the blueprint's translation chose, which depends on the seed of its hand,
   instead of to the nearest size. So guesses follow what the blueprint really does.
2. Where the real pot differs from the tree's and the blueprint is to act, the guess is the mean over its
   actions. Folds and calls that end the hand count in real chips, not in scaled chips of the tree.
3. The seed is drawn before the hand and the opponent does not know it, so guesses may use it without bias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.aivat.aivat import Beliefs, after_action
from arena.aivat.holdem import NOWHERE, HoldemGame, HoldemState, is_round_over
from arena.players.base import HandPlayer
from arena.players.blueprint_player import BlueprintHand
from game.actions import Action
from game.betting import BettingState
from game.cards import Cards
from numeric.arrays import F64
from solver.blueprint.walk import OFF_TREE


@dataclass(frozen=True, slots=True, eq=False)
class TranslatedGame:
    """A public game for AIVAT that translates bets as the blueprint's player of this hand does."""

    game: HoldemGame
    asked: BlueprintHand
    """The player of this hand; it plays the blueprint whose tree the game uses."""
    position: int
    """The blueprint player's position."""

    def live(self, state: HoldemState) -> F64:
        """float64[1326]: 1 for hands that share no card with the board, 0 for the others."""
        return self.game.live(state)

    def mass(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The total weight of pairs of hands that share no card."""
        return self.game.mass(state, beliefs)

    def guess(self, state: HoldemState, beliefs: Beliefs) -> float:
        """A guess of the mean payoff, in chips."""
        betting = state.betting
        if betting.is_finished or betting.actor != self.position or self._is_in_tree(state):
            return self.game.guess(state, beliefs)
        strategy = self.asked.strategy(betting, state.board)
        total = weight = 0.0
        for action, row in zip(strategy.actions, strategy.probabilities.astype(np.float64), strict=True):
            acted = after_action(beliefs, self.position, row)
            mass = self.mass(state, acted)
            if mass > 0:
                total += mass * self.guess(self.after_action(state, action), acted)
                weight += mass
        return total / weight

    def guess_dealt(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The mean guess over flops, or over the next card, in chips."""
        return self.game.guess_dealt(state, beliefs)

    def payoff(self, state: HoldemState, beliefs: Beliefs) -> float:
        """The mean payoff of a finished hand, in chips."""
        return self.game.payoff(state, beliefs)

    def root(self, betting: BettingState) -> HoldemState:
        """The state at the start of a hand."""
        return self.game.root(betting)

    def after_action(self, state: HoldemState, action: Action) -> HoldemState:
        """The state after an action, before public cards are dealt."""
        betting = state.betting.apply(action)
        if state.node >= 0 and not betting.is_finished:
            node = self.asked.node(betting)
            entry = NOWHERE if node == OFF_TREE else self.game.entry_to(state.node, node)
            if entry >= 0:
                return self.game.after_entry(state, betting, entry)
        return self.game.after_action(state, action)

    def after_deal(self, state: HoldemState, board: Cards) -> HoldemState:
        """The state after public cards are dealt."""
        return self.game.after_deal(state, board)

    def _is_in_tree(self, state: HoldemState) -> bool:
        """Whether to use the tree's guess: in the tree, or before a round's first action.

        There, guesses must be consistent with `guess_dealt`.
        """
        is_first = is_round_over(state) or not state.betting.actions[-1]
        return is_first or (state.node >= 0 and state.scale == self.game.game.unit)


def ask_blueprint(game: HoldemGame, seats: tuple[HandPlayer, HandPlayer]) -> HoldemGame | TranslatedGame:
    """The game for one hand: follows a blueprint player's translation if the game is careful.

    seats  the hand players by position
    """
    for position, seat in enumerate(seats):
        if game.careful and isinstance(seat, BlueprintHand) and seat.blueprint.tree is game.game.tree:
            return TranslatedGame(game, seat, position)
    return game
