"""What the arena asks of a player: a hand's worth of decisions that follow from a seed.

1. A `Player` is for a whole match and keeps nothing between hands; `start_hand` gives somebody who plays one
   hand and may remember what happened in it (a solved subgame, how an off-tree bet was translated).
2. All randomness of a hand comes from its seed, so a hand can be played again, in any process.
3. An *open* player also tells what he would do with every hand he could hold. He acts by that very strategy:
   local best response and AIVAT rely on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Protocol, runtime_checkable

from arena.policies import Policy
from game.actions import Action
from game.betting import BettingState
from game.cards import Cards
from game.state import HandState
from solver.range_strategy import RangeStrategy


class HandPlayer(Protocol):
    """Plays one hand, in one seat."""

    def act(self, state: HandState, position: int) -> Action:
        """A legal action; `position` is to act, and of the hole cards only his own may be looked at."""


@runtime_checkable
class OpenHandPlayer(HandPlayer, Protocol):
    """Plays one hand and shows the strategy behind it."""

    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        """What the player to act does with every hand; asked again, the answer is the same."""


class Player(Protocol):
    """Plays any number of hands."""

    @property
    def name(self) -> str:
        """As the command line and reports write it."""

    def start_hand(self, seed: int) -> HandPlayer:
        """Somebody to play the next hand, in whichever seat."""


@dataclass(frozen=True, slots=True)
class PolicyPlayer:
    """A simple policy as a player."""

    name: str
    policy: Policy

    def start_hand(self, seed: int) -> HandPlayer:
        """A generator of its own for every hand."""
        return _PolicyHand(self.policy, Random(seed))


@dataclass(frozen=True, slots=True)
class _PolicyHand:
    policy: Policy
    rng: Random

    def act(self, state: HandState, position: int) -> Action:
        return self.policy(state, position, self.rng)
