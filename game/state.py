"""A hand in play: the betting together with the known cards.

The dealer knows every card, a player knows its own hole cards and the visible board. Unknown cards are empty
tuples. Values are net chips, so a split pot is 0.
"""

from __future__ import annotations

from typing import NamedTuple

from game.actions import Action
from game.betting import BettingState, start
from game.cards import Cards, cards_text, verify_distinct
from game.definition import GameDefinition
from game.errors import CardError, GameError
from game.showdown import showdown_rank

HoleCards = tuple[Cards, Cards]


class HandState(NamedTuple):
    """The betting, the hole cards by position, and as much of the board as is known."""

    betting: BettingState
    hole: HoleCards
    board: Cards

    @property
    def definition(self) -> GameDefinition:
        """The game being played."""
        return self.betting.definition

    @property
    def visible_board(self) -> Cards:
        """The public cards of the rounds reached so far."""
        return self.board[: self.definition.board_size(self.betting.round_index)]

    def apply(self, action: Action) -> HandState:
        """The state after a legal action; raises `IllegalAction` with the reason otherwise."""
        return HandState(self.betting.apply(action), self.hole, self.board)

    def values(self) -> tuple[int, int]:
        """Net chips won by each position in a finished hand."""
        betting = self.betting
        if not betting.is_finished:
            raise GameError(f"the hand is not over: position {betting.actor} is to act")
        if betting.is_showdown:
            # What one player put in beyond the other's stack was never at risk.
            at_stake = min(betting.spent)
            winner = self._showdown_winner()
            if winner is None:
                return 0, 0
        else:
            at_stake = betting.spent[betting.folder]
            winner = 1 - betting.folder
        return (at_stake, -at_stake) if winner == 0 else (-at_stake, at_stake)

    def _showdown_winner(self) -> int | None:
        if not (self.hole[0] and self.hole[1]):
            raise GameError("a showdown needs both players' hole cards")
        if len(self.board) < sum(self.definition.board_cards):
            raise GameError(f"a showdown needs the whole board, not only {cards_text(self.board)!r}")
        ranks = [showdown_rank(hole + self.board) for hole in self.hole]
        if ranks[0] == ranks[1]:
            return None
        return 0 if ranks[0] > ranks[1] else 1


def new_hand(definition: GameDefinition, hole: HoleCards = ((), ()), board: Cards = ()) -> HandState:
    """A new hand with the known cards."""
    return hand_state(start(definition), hole, board)


def hand_state(betting: BettingState, hole: HoleCards, board: Cards) -> HandState:
    """A hand at any point of its betting.

    Raises `CardError` if cards repeat, are missing or are not in the deck.
    """
    definition = betting.definition
    for position, cards in enumerate(hole):
        if len(cards) not in (0, definition.num_hole_cards):
            raise CardError(
                f"position {position} has {len(cards)} hole cards, needs {definition.num_hole_cards} or none"
            )
    least, most = definition.board_size(betting.round_index), sum(definition.board_cards)
    if not least <= len(board) <= most:
        raise CardError(f"the board has {len(board)} cards, needs {least} to {most} in this round")
    known = (*hole[0], *hole[1], *board)
    verify_distinct(known)
    if not definition.deck.issuperset(known):
        alien = next(card for card in known if card not in definition.deck)
        raise CardError(f"card {alien} is not in the deck of this game")
    return HandState(betting, hole, board)
