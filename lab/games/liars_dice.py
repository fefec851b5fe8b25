"""Liar's dice with one die each, until one die is lost, as `liars_dice(numdice=1)` of OpenSpiel.

The highest face is wild. A bid is (quantity, face); each bid must be higher than the one before.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from lab.games.interface import CHANCE, TERMINAL


@dataclass(frozen=True, slots=True)
class DiceState:
    """Faces count from 0. A bid is (quantity - 1) × faces + face."""

    dice: tuple[int, ...] = ()
    bids: tuple[int, ...] = ()
    called: bool = False


class LiarsDice:
    """Actions are bids, or the number after the highest bid: liar."""

    def __init__(self, faces: int = 4) -> None:
        self.name = f"liars-dice{faces}"
        self._faces = faces
        self._liar = 2 * faces

    def start(self) -> DiceState:
        """Before the dice are rolled."""
        return DiceState()

    def actor(self, state: DiceState) -> int:
        """Player 0 bids first."""
        if len(state.dice) < 2:
            return CHANCE
        return TERMINAL if state.called else len(state.bids) % 2

    def actions(self, state: DiceState) -> Sequence[int]:
        """Faces of a die; higher bids, and liar if there is a bid."""
        if self.actor(state) == CHANCE:
            return range(self._faces)
        return range(state.bids[-1] + 1, self._liar + 1) if state.bids else range(self._liar)

    def chance(self, state: DiceState) -> Sequence[float]:  # noqa: ARG002
        """Fair dice."""
        return [1 / self._faces] * self._faces

    def next(self, state: DiceState, action: int) -> DiceState:
        """Roll, bid or call."""
        if len(state.dice) < 2:
            return replace(state, dice=(*state.dice, action))
        return (
            replace(state, called=True)
            if action == self._liar
            else replace(state, bids=(*state.bids, action))
        )

    def private(self, state: DiceState, player: int) -> Hashable:
        """The own die and the bids."""
        return state.dice[player], state.bids

    def public(self, state: DiceState) -> Hashable:
        """The bids."""
        return state.bids

    def utility(self, state: DiceState) -> float:
        """The last bid is right if so many dice show its face or the wild one."""
        quantity, face = divmod(state.bids[-1], self._faces)
        matches = sum(die in (face, self._faces - 1) for die in state.dice)
        bidder = (len(state.bids) - 1) % 2
        winner = bidder if matches > quantity else 1 - bidder
        return 1.0 if winner == 0 else -1.0
