"""Leduc hold'em (Southey et al., 2005), as Milec, Kubicek and Lisy define it (appendix D)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from lab.games.interface import CHANCE, TERMINAL

FOLD, CALL, RAISE = 0, 1, 2

_DECK = range(6)
_SIZES = (2, 4)
_MAX_RAISES = 2


@dataclass(frozen=True, slots=True)
class LeducState:
    """Cards are rank * 2 + suit, as in OpenSpiel."""

    cards: tuple[int, ...] = ()
    """The cards of player 0, of player 1, and of the board, as far as they are dealt."""
    line: tuple[str, ...] = ("",)
    """The actions of each round, one character each: f, c, r."""
    spent: tuple[int, int] = (1, 1)

    @property
    def over(self) -> bool:
        """Whether the round is over: by a fold, or because the last action was a call of a bet or a check."""
        last = self.line[-1]
        return last.endswith("f") or (len(last) > 1 and last.endswith("c"))


class Leduc:
    """Six cards, antes of 1, bets of 2 and then 4, two a round."""

    name = "leduc"

    def start(self) -> LeducState:
        """Before the deal."""
        return LeducState()

    def actor(self, state: LeducState) -> int:
        """Player 0 begins both rounds."""
        if len(state.cards) < 2:
            return CHANCE
        if not state.over:
            return len(state.line[-1]) % 2
        if state.line[-1].endswith("f") or len(state.line) == 2:
            return TERMINAL
        return CHANCE

    def actions(self, state: LeducState) -> Sequence[int]:
        """Cards that are left, or the betting."""
        if self.actor(state) == CHANCE:
            return [card for card in _DECK if card not in state.cards]
        fold = (FOLD,) if state.spent[0] != state.spent[1] else ()
        bet = (RAISE,) if state.line[-1].count("r") < _MAX_RAISES else ()
        return (*fold, CALL, *bet)

    def chance(self, state: LeducState) -> Sequence[float]:
        """All cards that are left are equally likely."""
        left = len(_DECK) - len(state.cards)
        return [1 / left] * left

    def next(self, state: LeducState, action: int) -> LeducState:
        """Deal a card or bet."""
        actor = self.actor(state)
        if actor == CHANCE:
            cards = (*state.cards, action)
            return replace(state, cards=cards, line=state.line if len(cards) < 3 else (*state.line, ""))
        spent = list(state.spent)
        if action != FOLD:
            spent[actor] = max(spent) + (_SIZES[len(state.line) - 1] if action == RAISE else 0)
        line = (*state.line[:-1], state.line[-1] + "fcr"[action])
        return replace(state, line=line, spent=(spent[0], spent[1]))

    def private(self, state: LeducState, player: int) -> Hashable:
        """The rank of the own card, and what is public. Suits do not matter."""
        return state.cards[player] // 2, self.public(state)

    def public(self, state: LeducState) -> Hashable:
        """The betting and the rank on the board."""
        return state.line, *[card // 2 for card in state.cards[2:]]

    def utility(self, state: LeducState) -> float:
        """A pair with the board wins, then the higher rank."""
        folded = next((len(line) - 1 for line in state.line if line.endswith("f")), None)
        if folded is not None:
            loser = folded % 2
        else:
            ranks = [card // 2 for card in state.cards]
            strength = [10 if rank == ranks[2] else rank for rank in ranks[:2]]
            if strength[0] == strength[1]:
                return 0.0
            loser = int(strength[0] > strength[1])
        return float(state.spent[1]) if loser == 1 else -float(state.spent[0])
