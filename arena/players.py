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

import numpy as np

from arena.policies import Policy
from game.actions import Action
from game.betting import BettingState
from game.cards import Cards
from game.hands import unblocked
from game.state import HandState
from solver.range_strategy import RangeStrategy


class HandPlayer(Protocol):
    """Plays one hand, in one seat."""

    def act(self, state: HandState, position: int) -> Action:
        """A legal action; `position` is to act, and of the hole cards only his own may be looked at."""


@runtime_checkable
class WatchingHandPlayer(HandPlayer, Protocol):
    """Plays one hand and wants to know how it ended."""

    def finish(self, state: HandState, position: int) -> None:
        """The hand is over."""


class StrategySource(Protocol):
    """Knows what a player does with every hand."""

    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        """What the player to act does with every hand; asked again, the answer is the same."""


@runtime_checkable
class OpenHandPlayer(HandPlayer, StrategySource, Protocol):
    """Plays one hand and shows the strategy behind it."""


class Player(Protocol):
    """Plays any number of hands."""

    @property
    def name(self) -> str:
        """As the command line and reports write it."""

    def start_hand(self, seed: int) -> HandPlayer:
        """Somebody to play the next hand, in whichever seat."""


@runtime_checkable
class PublicPlayer(Player, Protocol):
    """Can tell his strategy as anybody may know it: without the seed of a hand."""

    def in_public(self) -> StrategySource:
        """His strategy in all hands; chances that he draws for a hand are averaged."""


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


@dataclass(frozen=True, slots=True)
class OpenPolicyPlayer:
    """A policy that looks neither at cards nor at dice: its strategy is known."""

    name: str
    policy: Policy

    def start_hand(self, seed: int) -> OpenHandPlayer:
        """The same player for every hand."""
        return _OpenPolicyHand(self.policy, Random(seed))

    def in_public(self) -> StrategySource:
        """All hands do the same."""
        return self.start_hand(0)


@dataclass(frozen=True, slots=True)
class _OpenPolicyHand(_PolicyHand):
    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        action = self.policy(HandState(betting, ((), ()), board), betting.actor, self.rng)
        return RangeStrategy((action,), unblocked(board).astype(np.float32)[None, :])
