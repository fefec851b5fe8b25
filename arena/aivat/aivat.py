"""AIVAT: an unbiased estimate of a hand's value with reduced variance (Burch et al., AAAI 2018).

1. A player is *known* if its strategy can be queried. A known player counts as playing every hand it could
   have held, weighted by its reach; its *belief* is that vector. An unknown player counts only with the hand
   it really held; its belief is 1 there and 0 elsewhere.
2. The estimate is the mean payoff over both beliefs where the hand ended, plus one correction for each chance
   event and each action of a known player: the mean of a value guess over everything that could have
   followed, minus the guess for what did follow. Actions of unknown players are not corrected.
3. Every correction has mean 0 for any guess, so the estimate is always unbiased; the better the guess, the
   smaller the variance. A guess may depend only on public information and the beliefs.
4. Values and payoffs are player 0's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from numeric.arrays import F64

Beliefs = tuple[F64, F64]
"""float64[H] of each player: weights ≥ 0 of his hands, not normalised."""

State = TypeVar("State")
State_contra = TypeVar("State_contra", contravariant=True)


class PublicGame(Protocol[State_contra]):
    """A game in public states, which contain no private cards, with a guess of their values."""

    def live(self, state: State_contra) -> F64:
        """float64[H]: 1 for hands that share no card with the public cards, 0 for the others."""

    def mass(self, state: State_contra, beliefs: Beliefs) -> float:
        """The sum, over all pairs of compatible hands, of the product of both weights."""

    def guess(self, state: State_contra, beliefs: Beliefs) -> float:
        """A guess of the mean payoff from here on; any guess is valid."""

    def guess_dealt(self, state: State_contra, beliefs: Beliefs) -> float:
        """The exact mean of `guess` over the next public cards; `mean_dealt` is a slow implementation."""

    def payoff(self, state: State_contra, beliefs: Beliefs) -> float:
        """The exact mean payoff of a hand that ended here."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Generic[State]):
    """A player acted."""

    player: int
    following: Sequence[State]
    """The state after each of the player's actions."""
    taken: int
    strategy: F64 | None
    """float64[A, H]: the probability of each action with each hand; None for an unknown player."""


@dataclass(frozen=True, slots=True, eq=False)
class Deal(Generic[State]):
    """Public cards were dealt."""

    before: State
    after: State


@dataclass(frozen=True, slots=True, eq=False)
class PlayedHand(Generic[State]):
    """The public course of one hand."""

    root: State
    steps: Sequence[Choice[State] | Deal[State]]
    end: State
    held: tuple[int | None, int | None]
    """The hand each unknown player held; None for a known player, whose hand is not used."""


def corrected_value(game: PublicGame[State], hand: PlayedHand[State], start: float) -> float:
    """AIVAT's estimate of player 0's result.

    start  `mean_start` for the same known players
    """
    beliefs = first_beliefs(game.live(hand.root), hand.held)
    total = start - game.guess(hand.root, beliefs)
    corrections, beliefs = step_corrections(game, hand.steps, beliefs)
    return total + sum(corrections) + game.payoff(hand.end, beliefs)


def step_corrections(
    game: PublicGame[State], steps: Sequence[Choice[State] | Deal[State]], beliefs: Beliefs
) -> tuple[list[float], Beliefs]:
    """The correction for each step, 0 for choices of unknown players, and the beliefs after the last step.

    beliefs  before the first step
    """
    corrections = []
    for step in steps:
        total = 0.0
        if isinstance(step, Deal):
            total += game.guess_dealt(step.before, beliefs)
            live = game.live(step.after)
            beliefs = (beliefs[0] * live, beliefs[1] * live)
            total -= game.guess(step.after, beliefs)
        elif step.strategy is not None:
            before = game.mass(step.following[step.taken], beliefs)
            after = beliefs
            for a, state in enumerate(step.following):
                acted = after_action(beliefs, step.player, step.strategy[a])
                mass = game.mass(state, acted)
                if mass > 0:
                    guess = game.guess(state, acted)
                    total += mass / before * guess
                    if a == step.taken:
                        total -= guess
                if a == step.taken:
                    after = acted
            beliefs = after
        corrections.append(total)
    return corrections, beliefs


def mean_start(game: PublicGame[State], root: State, known: tuple[bool, bool]) -> float:
    """The mean guess over the hands unknown players may be dealt. Computed once a match; slow for two."""
    live = game.live(root)
    choices = [[None] if known[p] else [int(h) for h in np.flatnonzero(live)] for p in range(2)]
    total = weight = 0.0
    for first in choices[0]:
        for second in choices[1]:
            beliefs = first_beliefs(live, (first, second))
            mass = game.mass(root, beliefs)
            if mass > 0:
                total += mass * game.guess(root, beliefs)
                weight += mass
    return total / weight


def mean_dealt(game: PublicGame[State], following: Iterable[State], beliefs: Beliefs) -> float:
    """The mean guess over the states after the next public cards, weighted by their mass."""
    total = weight = 0.0
    for state in following:
        live = game.live(state)
        dealt = (beliefs[0] * live, beliefs[1] * live)
        mass = game.mass(state, dealt)
        if mass > 0:
            total += mass * game.guess(state, dealt)
            weight += mass
    return total / weight


def first_beliefs(live: F64, held: tuple[int | None, int | None]) -> Beliefs:
    """The beliefs at the start of a hand."""
    return _first_belief(live, held[0]), _first_belief(live, held[1])


def after_action(beliefs: Beliefs, player: int, probability: F64) -> Beliefs:
    """The beliefs after a player's action, given its probability with each hand."""
    acted = beliefs[player] * probability
    return (acted, beliefs[1]) if player == 0 else (beliefs[0], acted)


def _first_belief(live: F64, held: int | None) -> F64:
    if held is None:
        return live
    belief = np.zeros_like(live)
    belief[held] = 1.0
    return belief
