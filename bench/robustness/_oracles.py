"""Independent implementations of the rules with one interface: OpenSpiel's `universal_poker` and PokerKit.

OpenSpiel uses the code of the reference ACPC dealer; PokerKit is independent of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import pokerkit
import pyspiel

from game.actions import CALL, FOLD, Action
from game.betting import BettingState
from game.cards import card_text
from game.definition import UNLIMITED_RAISES, UNLIMITED_STACK, GameDefinition
from game.state import HandState

_SPIEL_FOLD, _SPIEL_CALL, _SPIEL_LIMIT_RAISE = 0, 1, 2
_UNLIMITED_FOR_POKERKIT = 1_000_000
_AUTOMATIONS = (
    pokerkit.Automation.ANTE_POSTING,
    pokerkit.Automation.BET_COLLECTION,
    pokerkit.Automation.BLIND_OR_STRADDLE_POSTING,
    pokerkit.Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    pokerkit.Automation.RUNOUT_COUNT_SELECTION,
    pokerkit.Automation.HAND_KILLING,
    pokerkit.Automation.CHIPS_PUSHING,
    pokerkit.Automation.CHIPS_PULLING,
)


@dataclass(frozen=True, slots=True)
class Legal:
    """Legal actions: the actor, whether folding is legal, and the raise bounds ((0, 0) in limit games)."""

    actor: int
    can_fold: bool
    raise_bounds: tuple[int, int] | None


class Oracle(Protocol):
    """A hand in another implementation of the rules."""

    name: str

    def legal(self) -> Legal | None:
        """The legal actions, None when the hand is over. It is an error if calling is not legal."""

    def apply(self, action: Action) -> None:
        """Play a legal action."""

    def values(self) -> tuple[int, int]:
        """Net chips of a finished hand, by position."""


def legal(betting: BettingState) -> Legal | None:
    """The legal actions by our own rules."""
    if betting.is_finished:
        return None
    return Legal(betting.actor, betting.can_fold(), betting.raise_bounds())


class SpielGame:
    """OpenSpiel's version of a game; deals hands whose cards are all known."""

    def __init__(self, definition: GameDefinition) -> None:
        self.definition = definition
        self.game: Any = pyspiel.load_game("universal_poker", _spiel_parameters(definition))

    def deal(self, state: HandState) -> SpielHand:
        """A fresh hand with the same cards."""
        return SpielHand(self, state)


class SpielHand:
    """One hand of `universal_poker`."""

    name = "openspiel"

    def __init__(self, game: SpielGame, state: HandState) -> None:
        self._definition = game.definition
        self._state = game.game.new_initial_state()
        self._cards = [_spiel_card(card, game.definition) for card in (*state.hole[0], *state.hole[1])]
        self._cards += [_spiel_card(card, game.definition) for card in state.board]
        self._dealt = 0
        self._deal()

    def legal(self) -> Legal | None:
        """The legal actions by OpenSpiel, whose sorted list of raises is checked for gaps."""
        if self._state.is_terminal():
            return None
        actions = self._state.legal_actions()
        call = actions.index(_SPIEL_CALL)
        raises = actions[call + 1 :]
        bounds = None
        if raises and self._definition.no_limit:
            bounds = raises[0], raises[-1]
            assert len(raises) == bounds[1] - bounds[0] + 1, "a gap in OpenSpiel's raises"
        elif raises:
            bounds = 0, 0  # what OpenSpiel writes for the raise of a limit game as well
        return Legal(self._state.current_player(), call == 1, bounds)

    def apply(self, action: Action) -> None:
        """Play an action, then whatever cards follow."""
        if action == FOLD:
            self._state.apply_action(_SPIEL_FOLD)
        elif action == CALL:
            self._state.apply_action(_SPIEL_CALL)
        else:
            self._state.apply_action(action.raise_to or _SPIEL_LIMIT_RAISE)
        self._deal()

    def values(self) -> tuple[int, int]:
        """Net chips by OpenSpiel."""
        first, second = self._state.returns()
        return int(first), int(second)

    def _deal(self) -> None:
        while self._state.is_chance_node():
            self._state.apply_action(self._cards[self._dealt])
            self._dealt += 1


class PokerKitHand:
    """One hand of PokerKit: heads-up hold'em only. Player 0 is the big blind, as with us."""

    name = "pokerkit"

    def __init__(self, state: HandState) -> None:
        self._definition = definition = state.definition
        big, small = definition.blinds
        stacks = tuple(min(stack, _UNLIMITED_FOR_POKERKIT) for stack in definition.stacks)
        common = (_AUTOMATIONS, True, 0, (small, big))
        if definition.no_limit:
            self._state = pokerkit.NoLimitTexasHoldem.create_state(*common, big, stacks, 2)
        else:
            sizes = definition.raise_sizes
            self._state = pokerkit.FixedLimitTexasHoldem.create_state(*common, sizes[0], sizes[2], stacks, 2)
        self._board = list(state.board)
        self._spent_before = 0  # by each player, in earlier rounds
        for hole in state.hole:
            self._state.deal_hole("".join(map(card_text, hole)))

    def legal(self) -> Legal | None:
        """The legal actions by PokerKit, whose amounts are totals of the round."""
        state = self._state
        if not state.status:
            return None
        assert state.can_check_or_call()
        least, most = (
            state.min_completion_betting_or_raising_to_amount,
            state.max_completion_betting_or_raising_to_amount,
        )
        bounds = None
        if least is not None and most is not None:
            bounds = (least + self._spent_before, most + self._spent_before)
            bounds = bounds if self._definition.no_limit else (0, 0)
        assert state.actor_index is not None
        return Legal(state.actor_index, state.can_fold(), bounds)

    def apply(self, action: Action) -> None:
        """Play an action, then whatever cards follow."""
        state = self._state
        if action == FOLD:
            state.fold()
        elif action == CALL:
            state.check_or_call()
        else:
            chips = action.raise_to - self._spent_before if self._definition.no_limit else None
            state.complete_bet_or_raise_to(chips)
        while state.can_burn_card():
            state.burn_card("??")  # a known one might be the card that comes next
            self._spent_before = max(-payoff for payoff in state.payoffs)
            count = state.board_dealing_count
            state.deal_board("".join(map(card_text, self._board[:count])))
            del self._board[:count]

    def values(self) -> tuple[int, int]:
        """Net chips by PokerKit."""
        first, second = self._state.payoffs
        return int(first), int(second)


def _spiel_parameters(definition: GameDefinition) -> dict[str, int | str]:
    parameters: dict[str, int | str] = {
        "betting": "nolimit" if definition.no_limit else "limit",
        "numPlayers": 2,
        "numRounds": definition.num_rounds,
        "blind": _words(definition.blinds),
        "firstPlayer": _words(tuple(player + 1 for player in definition.first_player)),
        "numSuits": definition.num_suits,
        "numRanks": definition.num_ranks,
        "numHoleCards": definition.num_hole_cards,
        "numBoardCards": _words(definition.board_cards),
        "bettingAbstraction": "fullgame",
    }
    if UNLIMITED_STACK not in definition.stacks:
        parameters["stack"] = _words(definition.stacks)
    if not definition.no_limit:
        parameters["raiseSize"] = _words(definition.raise_sizes)
    if UNLIMITED_RAISES not in definition.max_raises:
        parameters["maxRaises"] = _words(definition.max_raises)
    return parameters


def _spiel_card(card: int, definition: GameDefinition) -> int:
    # Small decks keep our highest ranks and suits, and OpenSpiel's lowest.
    rank, suit = card // 4 - (13 - definition.num_ranks), card % 4 - (4 - definition.num_suits)
    return rank * definition.num_suits + suit


def _words(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))
