"""AIVAT: the result of a hand with luck taken out as far as anybody can tell it (Burch et al., AAAI 2018).

1. A player is *known* if his strategy can be asked for. For him the hand counts as played with every hand he
   could have held, weighted by how likely he was to come here with it: his *belief* is that vector. Of an
   unknown player only the hand he really held counts: his belief is 1 there and 0 elsewhere.
2. The estimate is the mean payoff over both beliefs where the hand ended, plus one correction for each thing
   that chance or a known player decided: the mean of a guess of the value over everything that could have
   followed, minus the guess for what did. Choices of unknown players are not corrected.
3. Every correction has mean 0 whatever the guess is, so the estimate is unbiased for any guess; the better
   the guess, the smaller its variance. A guess may look at what is public and at the beliefs alone.
4. Values and payoffs are player 0's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from solver.layout import F64

Beliefs = tuple[F64, F64]
"""float64[H] of each player: weights ≥ 0 of his hands, not normalised."""

State = TypeVar("State")
State_contra = TypeVar("State_contra", contravariant=True)


class PublicGame(Protocol[State_contra]):
    """A game as all can see it, with a guess of what it is worth. States are public: no private cards."""

    def live(self, state: State_contra) -> F64:
        """float64[H]: 1 for hands that the public cards leave possible, 0 for others."""

    def mass(self, state: State_contra, beliefs: Beliefs) -> float:
        """Sum of the products of both weights over all pairs of hands that can be held together."""

    def guess(self, state: State_contra, beliefs: Beliefs) -> float:
        """Any guess of the mean payoff from here on."""

    def guess_dealt(self, state: State_contra, beliefs: Beliefs) -> float:
        """Exactly the mean of `guess` over public cards that may come next; `mean_dealt` does it slowly."""

    def payoff(self, state: State_contra, beliefs: Beliefs) -> float:
        """Exactly the mean payoff of a hand that ended here."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Generic[State]):
    """A player acted."""

    player: int
    following: Sequence[State]
    """Where each of his actions leads."""
    taken: int
    strategy: F64 | None
    """float64[A, H]: how often each hand takes each action; None for an unknown player."""


@dataclass(frozen=True, slots=True, eq=False)
class Deal(Generic[State]):
    """Public cards were dealt."""

    before: State
    after: State


@dataclass(frozen=True, slots=True, eq=False)
class PlayedHand(Generic[State]):
    """What happened in one hand."""

    root: State
    steps: Sequence[Choice[State] | Deal[State]]
    end: State
    held: tuple[int | None, int | None]
    """The hand each unknown player held; None for a known player, whose hand does not matter."""


def corrected_value(game: PublicGame[State], hand: PlayedHand[State], start: float) -> float:
    """Player 0's result, corrected.

    start  `mean_start` for the same known players
    """
    beliefs = first_beliefs(game.live(hand.root), hand.held)
    total = start - game.guess(hand.root, beliefs)
    corrections, beliefs = step_corrections(game, hand.steps, beliefs)
    return total + sum(corrections) + game.payoff(hand.end, beliefs)


def step_corrections(
    game: PublicGame[State], steps: Sequence[Choice[State] | Deal[State]], beliefs: Beliefs
) -> tuple[list[float], Beliefs]:
    """What to add for each step, 0 for choices of unknown players; and the beliefs where they lead.

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
    """The mean guess over the hands that unknown players may be dealt: once for a match. Slow if both are."""
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
    """The mean guess over the states that public cards may lead to, each as likely as the beliefs say."""
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
    """Beliefs before anything has happened."""
    return _first_belief(live, held[0]), _first_belief(live, held[1])


def after_action(beliefs: Beliefs, player: int, probability: F64) -> Beliefs:
    """Beliefs after a player has done what he does with these probabilities, by hand."""
    acted = beliefs[player] * probability
    return (acted, beliefs[1]) if player == 0 else (beliefs[0], acted)


def _first_belief(live: F64, held: int | None) -> F64:
    if held is None:
        return live
    belief = np.zeros_like(live)
    belief[held] = 1.0
    return belief
