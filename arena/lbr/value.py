"""LBR's winnings: exact in small games, by sampling public cards and actions in large ones.

A walk through the game tree carries weights for all hands of both players: LBR's are 1 for hands whose
decisions lead here, the player's are its reach. The value of a node is the sum, over all pairs of hands that
share no card, of both weights times the chips LBR wins. So a sampled walk samples one board and one line of
the player's actions, but no hands: LBR plays all its hands at once against the player's whole range.

1. Actions that end the hand are never sampled: folds, calls that lead to a showdown, and all-in bets, which
   LBR can only call or fold to. They are summed with their probabilities.
2. Of the player's other actions one is sampled, of LBR's up to `LBR_BRANCHES`, in proportion to weight times
   pot (importance sampling); a sampled value is divided by its probability.
3. The board is sampled uniformly before anything else and used for both positions. Pairs of hands that hold a
   card of the board drop out; the others are weighted by C(52, n) / C(48, n) to make up for it.
4. So the estimate is unbiased: the mean over walks is LBR's exact expected value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from random import Random
from typing import NamedTuple

import numpy as np

from arena.lbr.lbr import CardRules, LbrSettings, LocalResponse
from arena.players.base import StrategySource
from game.betting import NOBODY, BettingState, start
from game.cards import Cards
from game.definition import NUM_PLAYERS
from numeric.arrays import F64

LBR_BRANCHES = 3
_PLAYER_BRANCHES = 1


class Sample(NamedTuple):
    """The board and the random generator of a sampled walk."""

    board: Cards
    rng: Random


class _Branch(NamedTuple):
    betting: BettingState
    own: F64
    weights: F64
    mass: float
    """Total weight of all pairs of hands."""


def deal_board(rules: CardRules, rng: Random) -> Cards:
    """Draw a whole board uniformly."""
    definition = rules.definition
    return tuple(rng.sample(sorted(definition.deck), sum(definition.board_cards)))


def sampled_value(response: LocalResponse, position: int, sample: Sample) -> float:
    """An unbiased estimate, from one board, of the chips per hand that LBR wins in a position."""
    return _root_value(_Walk(response, position, sample))


def exact_value(rules: CardRules, settings: LbrSettings, player: StrategySource, position: int) -> float:
    """The exact chips per hand that LBR wins in a position, by enumeration. For small games."""
    return _root_value(_Walk(LocalResponse(rules, settings, player), position, None))


def _root_value(walk: _Walk) -> float:
    rules = walk.rules
    everybody = np.ones(rules.num_hands)
    pairs = float(rules.disjoint_sums(everybody).sum())
    return walk.value(start(rules.definition), (), everybody, everybody) / pairs


class _Walk:
    """One walk of LBR in one position. Values are chips × weight of pairs of hands."""

    def __init__(self, response: LocalResponse, position: int, sample: Sample | None) -> None:
        self.rules = response.rules
        self._response, self._position, self._sample = response, position, sample

    def value(self, betting: BettingState, board: Cards, own: F64, weights: F64) -> float:
        """The value of a node to LBR, whose hands have weights `own`."""
        rules = self.rules
        if betting.folder != NOBODY:
            mass = float(own @ rules.disjoint_sums(weights))
            return mass * betting.spent[betting.folder] * (-1 if betting.folder == self._position else 1)
        size = rules.definition.board_size(betting.round_index)
        if betting.is_finished:
            size = rules.showdown_size(len(board)) if self._sample else len(board)
        if len(board) < size:
            return self._chance(betting, board, own, weights, size)
        if betting.is_finished:
            net = 2 * rules.showdown_sums(weights, board) - rules.disjoint_sums(weights)
            return min(betting.spent) * float(own @ net)
        if betting.actor == self._position:
            total = rules.disjoint_sums(weights)
            parts = [(action, own * mask) for action, mask in self._response.decide(betting, board, weights)]
            branches = [
                _Branch(betting.apply(action), part, weights, float(part @ total)) for action, part in parts
            ]
            return self._add_up(branches, board, LBR_BRANCHES)
        strategy = self._response.strategy(betting, board)
        facing = rules.disjoint_sums(own)
        branches = []
        for action, row in zip(strategy.actions, strategy.probabilities, strict=True):
            reach = weights * row
            branches.append(_Branch(betting.apply(action), own, reach, float(reach @ facing)))
        return self._add_up(branches, board, _PLAYER_BRANCHES)

    def _add_up(self, branches: Sequence[_Branch], board: Cards, most: int) -> float:
        """The sum over branches. At most `most` of those that do not end the hand are sampled."""
        live = [branch for branch in branches if branch.mass > 0]
        if self._sample is None:
            return sum(self._value_of(branch, board) for branch in live)
        ending = [self._ends(branch.betting) for branch in live]
        value = sum(self._value_of(branch, board) for branch, ends in zip(live, ending, strict=True) if ends)
        others = [branch for branch, ends in zip(live, ending, strict=True) if not ends]
        if len(others) <= most:
            return value + sum(self._value_of(branch, board) for branch in others)
        importance = [branch.mass * branch.betting.pot for branch in others]
        total = sum(importance)
        for n in self._sample.rng.choices(range(len(others)), importance, k=most):
            value += self._value_of(others[n], board) * total / (importance[n] * most)
        return value

    def _ends(self, betting: BettingState) -> bool:
        """Whether the hand is over, or will be once LBR has called or folded."""
        if betting.is_finished:
            return True
        other = 1 - self._position
        return betting.actor == self._position and betting.spent[other] >= betting.definition.stacks[other]

    def _value_of(self, branch: _Branch, board: Cards) -> float:
        return self.value(branch.betting, board, branch.own, branch.weights)

    def _chance(self, betting: BettingState, board: Cards, own: F64, weights: F64, size: int) -> float:
        rules, missing = self.rules, size - len(board)
        left = sorted(rules.definition.deck.difference(board))
        chances = comb(len(left) - NUM_PLAYERS * rules.definition.num_hole_cards, missing)
        if self._sample is not None:
            dealt, times = [self._sample.board[len(board) : size]], comb(len(left), missing)
        else:
            dealt, times = list(combinations(left, missing)), 1
        value = 0.0
        for cards in dealt:
            free = rules.unblocked(cards)
            value += self.value(betting, (*board, *cards), own * free, weights * free)
        return value * times / chances
