"""AIVAT's guesses where a blueprint meets bets that its tree does not have: taken as it takes them itself.

1. A bet leads where the blueprint's own translation leads, which the seed of its hand decides, instead of to
   the nearest size: what is walked through afterwards is what the blueprint really does.
2. Where the real pot is not the tree's and the blueprint is to act, the guess is the mean over its answer, of
   which folds and calls that end the hand count in real chips, not in grown ones of the tree.
3. The seed is drawn before anything happens and nobody else knows it, so guesses may know it without a bias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.aivat import Beliefs, after_action
from arena.blueprint_player import BlueprintHand
from arena.holdem_aivat import NOWHERE, HoldemGame, HoldemState, is_round_over
from arena.players import HandPlayer
from game.actions import Action
from game.betting import BettingState
from game.cards import Cards
from solver.blueprint_walk import OFF_TREE
from solver.layout import F64


@dataclass(frozen=True, slots=True, eq=False)
class TranslatedGame:
    """Hold'em as AIVAT sees it, with the blueprint's player of one hand to ask."""

    game: HoldemGame
    asked: BlueprintHand
    """Plays the blueprint whose tree the game has."""
    position: int
    """His."""

    def live(self, state: HoldemState) -> F64:
        """float64[1326]."""
        return self.game.live(state)

    def mass(self, state: HoldemState, beliefs: Beliefs) -> float:
        """Of pairs of hands that share no card."""
        return self.game.mass(state, beliefs)

    def guess(self, state: HoldemState, beliefs: Beliefs) -> float:
        """Chips."""
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
        """Chips: the mean over flops, or over the next card."""
        return self.game.guess_dealt(state, beliefs)

    def payoff(self, state: HoldemState, beliefs: Beliefs) -> float:
        """Chips."""
        return self.game.payoff(state, beliefs)

    def root(self, betting: BettingState) -> HoldemState:
        """The start of a hand."""
        return self.game.root(betting)

    def after_action(self, state: HoldemState, action: Action) -> HoldemState:
        """Where an action leads; public cards are not dealt yet."""
        betting = state.betting.apply(action)
        if state.node >= 0 and not betting.is_finished:
            node = self.asked.node(betting)
            entry = NOWHERE if node == OFF_TREE else self.game.entry_to(state.node, node)
            if entry >= 0:
                return self.game.after_entry(state, betting, entry)
        return self.game.after_action(state, action)

    def after_deal(self, state: HoldemState, board: Cards) -> HoldemState:
        """The next round."""
        return self.game.after_deal(state, board)

    def _is_in_tree(self, state: HoldemState) -> bool:
        """Or before the first action of a round, where guesses must fit a mean over cards."""
        is_first = is_round_over(state) or not state.betting.actions[-1]
        return is_first or (state.node >= 0 and state.scale == self.game.game.unit)


def ask_blueprint(game: HoldemGame, seats: tuple[HandPlayer, HandPlayer]) -> HoldemGame | TranslatedGame:
    """The game for one hand: with who plays its blueprint to be asked, if it is careful and there is one.

    seats  by position
    """
    for position, seat in enumerate(seats):
        if game.careful and isinstance(seat, BlueprintHand) and seat.blueprint.tree is game.game.tree:
            return TranslatedGame(game, seat, position)
    return game
