"""Pre-flop lines to the flop between two players with the same pre-flop strategy: probabilities and ranges.

1. Both strategies must be known and must be the same at every decision before the flop, in either seat.
2. Then hands that end before the flop cancel over both seats, and only the few lines that reach the flop
   matter; their probabilities and beliefs are known exactly.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from arena.aivat.aivat import Beliefs
from arena.aivat.hand import tells_strategy
from arena.errors import MatchAborted
from arena.players.base import Player, StrategySource
from game.betting import BettingState, start
from game.cards import NUM_CARDS, Cards
from game.definition import GameDefinition
from game.hands import HAND_CARDS, NUM_HANDS
from game.state import HoleCards
from numeric.arrays import F64
from solver.decisions.range_strategy import RangeStrategy
from solver.equity.beliefs import pair_mass

_SAME = 1e-6
_NEGLIGIBLE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class FlopLine:
    """A betting line of the first round that reaches the flop."""

    betting: BettingState
    beliefs: Beliefs
    """float64[1326] by position: the probability that each hand takes this line."""
    probability: float
    """The probability that a hand takes this line."""

    @property
    def text(self) -> str:
        """The betting as the ACPC writes it."""
        return self.betting.text

    @property
    def pot(self) -> int:
        """Chips at the flop."""
        return self.betting.pot

    def deal(self, rng: np.random.Generator) -> tuple[HoleCards, Cards]:
        """Draw both hands from this line's beliefs, and a whole board."""
        first = _draw(self.beliefs[0] * _unblocked_mass(self.beliefs[1]), rng)
        apart = ~np.isin(HAND_CARDS, HAND_CARDS[first]).any(axis=1)
        second = _draw(self.beliefs[1] * apart, rng)
        hole = _cards(HAND_CARDS[first]), _cards(HAND_CARDS[second])
        rest = np.setdiff1d(np.arange(NUM_CARDS), (*hole[0], *hole[1]))
        size = sum(self.betting.definition.board_cards)
        return hole, _cards(rng.choice(rest, size, replace=False))


@dataclass(frozen=True, slots=True, eq=False)
class FlopLines:
    """All lines worth playing, those with the largest probability times pot first."""

    lines: tuple[FlopLine, ...]
    left_out: tuple[FlopLine, ...]
    """Together less than a ten-thousandth of the total probability times pot."""
    seconds_before: float
    """Seconds per hand that the first player needs for its pre-flop decisions."""

    @property
    def left_out_chips(self) -> float:
        """The error per hand from leaving lines out, if one player's edge in them were half the pot."""
        return sum(line.probability * line.pot / 2 for line in self.left_out)


def find_lines(definition: GameDefinition, players: tuple[Player, Player]) -> FlopLines:
    """Find the lines. Raises `MatchAborted` if pre-flop strategies differ or one of them is unknown."""
    for player in players:
        if not tells_strategy(player):
            raise MatchAborted(f"{player.name} does not reveal its strategy: use fathom match instead")
    walk = _Walk(definition, players)
    found = sorted(walk.lines(), key=_money)
    least = _NEGLIGIBLE * sum(map(_money, found))
    spent = np.cumsum([_money(line) for line in found])
    few = int(np.searchsorted(spent, least))
    return FlopLines(tuple(reversed(found[few:])), tuple(reversed(found[:few])), walk.seconds)


class _Walk:
    """Walks through all decisions before the flop."""

    def __init__(self, definition: GameDefinition, players: tuple[Player, Player]) -> None:
        self._definition, self._players = definition, players
        cast("StrategySource", players[0].start_hand(0)).strategy(start(definition), ())  # load kernels
        self._seats = [cast("StrategySource", player.start_hand(0)) for player in players]
        self.seconds = 0.0

    def lines(self) -> Iterator[FlopLine]:
        everything = np.ones(NUM_HANDS), np.ones(NUM_HANDS)
        self._all = float(pair_mass(*everything))
        yield from self._follow(start(self._definition), everything)

    def _follow(self, betting: BettingState, beliefs: Beliefs) -> Iterator[FlopLine]:
        probability = float(pair_mass(*beliefs)) / self._all
        if betting.is_finished or probability <= 0:
            return
        if betting.round_index > 0:
            yield FlopLine(betting, beliefs, probability)
            return
        strategy, seconds = self._strategy(betting)
        self.seconds += probability * seconds / 2  # the first player sits here in every other hand
        for action, row in zip(strategy.actions, strategy.probabilities.astype(np.float64), strict=True):
            acted = beliefs[betting.actor] * row
            after = (acted, beliefs[1]) if betting.actor == 0 else (beliefs[0], acted)
            yield from self._follow(betting.apply(action), after)

    def _strategy(self, betting: BettingState) -> tuple[RangeStrategy, float]:
        """The strategy of both players, and the seconds that the first needs for it."""
        started = time.perf_counter()
        first = self._seats[0].strategy(betting, ())
        seconds = time.perf_counter() - started
        second = self._seats[1].strategy(betting, ())
        if first.actions != second.actions or (
            np.abs(first.probabilities - second.probabilities).max() > _SAME
        ):
            names = " and ".join(player.name for player in self._players)
            raise MatchAborted(
                f"{names} do not play alike before the flop (after {betting.text!r}): use"
                " fathom match --aivat instead, or give the agent the option preflop=lookup"
            )
        return first, seconds


def _money(line: FlopLine) -> float:
    return line.probability * line.pot


def _unblocked_mass(weights: F64) -> F64:
    """float64[1326]: for each hand, the total weight of the hands that share no card with it."""
    by_card = np.bincount(HAND_CARDS.ravel(), np.repeat(weights, 2), minlength=NUM_CARDS)
    mass: F64 = weights.sum() - by_card[HAND_CARDS].sum(axis=1) + weights
    return np.maximum(mass, 0.0)


def _draw(weights: F64, rng: np.random.Generator) -> int:
    reached = np.cumsum(weights)
    return int(min(np.searchsorted(reached, rng.random() * reached[-1], side="right"), len(weights) - 1))


def _cards(cards: np.ndarray) -> Cards:
    return tuple([int(card) for card in cards])
