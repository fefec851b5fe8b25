"""The interfaces a player implements.

1. A `Player` lasts for a whole match and keeps no state between hands. `start_hand` returns a `HandPlayer`,
   which plays one hand and may keep state for it (a solved subgame, how an off-tree bet was translated).
2. All randomness of a hand comes from its seed, so any hand can be replayed, in any process.
3. An *open* player also reports its strategy for every hand it could hold, and samples its actions from
   exactly that strategy: local best response and AIVAT rely on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Protocol, runtime_checkable

import numpy as np

from arena.players.policies import Policy
from game.actions import Action
from game.betting import BettingState
from game.cards import Cards
from game.hands import unblocked
from game.state import HandState
from solver.decisions.range_strategy import RangeStrategy

HANDS_PER_PAIR = 2
"""In a duplicate match every deal is played twice, with the seats exchanged."""


class HandPlayer(Protocol):
    """Plays one hand from one position."""

    def act(self, state: HandState, position: int) -> Action:
        """Return a legal action for `position`, which is to act. It must not look at the opponent's cards."""


@runtime_checkable
class WatchingHandPlayer(HandPlayer, Protocol):
    """A hand player that is told how the hand ended."""

    def finish(self, state: HandState, position: int) -> None:
        """Receive the final state of the hand."""


class StrategySource(Protocol):
    """Reports a player's strategy for its whole range."""

    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        """The strategy of the player to act, for every hand. Repeated calls return the same strategy."""


@runtime_checkable
class OpenHandPlayer(HandPlayer, StrategySource, Protocol):
    """A hand player whose strategy can be queried."""


class Player(Protocol):
    """Plays any number of hands."""

    @property
    def name(self) -> str:
        """The player's name on the command line and in reports."""

    def start_hand(self, seed: int) -> HandPlayer:
        """Start a hand: return an object that plays it, from either position."""


@runtime_checkable
class PublicPlayer(Player, Protocol):
    """A player whose strategy can be queried without the seed of a hand."""

    def in_public(self) -> StrategySource:
        """The strategy an opponent may know: averaged over the random choices made once per hand."""


@dataclass(frozen=True, slots=True)
class PolicyPlayer:
    """Adapts a policy to the `Player` interface."""

    name: str
    policy: Policy

    def start_hand(self, seed: int) -> HandPlayer:
        """Start a hand with its own random generator."""
        return _PolicyHand(self.policy, Random(seed))


@dataclass(frozen=True, slots=True)
class _PolicyHand:
    policy: Policy
    rng: Random

    def act(self, state: HandState, position: int) -> Action:
        return self.policy(state, position, self.rng)


@dataclass(frozen=True, slots=True)
class OpenPolicyPlayer:
    """Adapts a deterministic policy that ignores cards, so that its strategy is known."""

    name: str
    policy: Policy

    def start_hand(self, seed: int) -> OpenHandPlayer:
        """Start a hand; the seed is not used."""
        return _OpenPolicyHand(self.policy, Random(seed))

    def in_public(self) -> StrategySource:
        """The same strategy in every hand."""
        return self.start_hand(0)


@dataclass(frozen=True, slots=True)
class _OpenPolicyHand(_PolicyHand):
    def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
        action = self.policy(HandState(betting, ((), ()), board), betting.actor, self.rng)
        return RangeStrategy((action,), unblocked(board).astype(np.float32)[None, :])
