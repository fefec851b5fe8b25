"""What the lab needs to know of a game: two players, zero sum, perfect recall, public states."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol, TypeVar

CHANCE = -1
TERMINAL = -2

State = TypeVar("State")


class Rules(Protocol[State]):
    """The rules of a game. States are immutable; actions are numbers with a meaning of their own.

    1. Players are 0, who receives the utility, and 1, who pays it.
    2. `private` is everything that a player has seen or done: two states in which a player acts and whose
       private keys are equal are in one information set.
    3. `public` is everything that both players have seen. States with equal private keys of either player
       have equal public keys, and the states with one public key have one actor.
    """

    @property
    def name(self) -> str:
        """The name by which the command line knows the game."""

    def start(self) -> State:
        """The first state."""

    def actor(self, state: State) -> int:
        """0 or 1, CHANCE or TERMINAL."""

    def actions(self, state: State) -> Sequence[int]:
        """Legal actions of a player or outcomes of chance."""

    def chance(self, state: State) -> Sequence[float]:
        """Probability of each outcome of chance."""

    def next(self, state: State, action: int) -> State:
        """The state after an action."""

    def private(self, state: State, player: int) -> Hashable:
        """What a player knows."""

    def public(self, state: State) -> Hashable:
        """What both players know."""

    def utility(self, state: State) -> float:
        """What player 0 receives in a terminal state."""
