"""Simple policies: opponents for tests, benchmarks and first matches.

A policy takes a hand and a position and returns a legal action. It keeps no state between calls, and all its
randomness comes from the generator it is given, so a match can be repeated from its seed.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from game.actions import CALL, FOLD, LIMIT_RAISE, Action, raise_to
from game.betting import BettingState
from game.showdown import showdown_rank
from game.state import HandState

Policy = Callable[[HandState, int, Random], Action]
"""Arguments: the hand as the player sees it, the player's position, the random generator."""

EQUITY_SAMPLES = 100
_ALL_IN_PROBABILITY = 0.5


def call(state: HandState, position: int, rng: Random) -> Action:  # noqa: ARG001
    """Always checks or calls."""
    return CALL


def fold(state: HandState, position: int, rng: Random) -> Action:  # noqa: ARG001
    """Folds to any bet, checks otherwise."""
    return FOLD if state.betting.to_call else CALL


def check_down(state: HandState, position: int, rng: Random) -> Action:  # noqa: ARG001
    """Completes the blind and checks; folds to a raise."""
    betting = state.betting
    return FOLD if betting.raises and betting.to_call else CALL


def uniform(state: HandState, position: int, rng: Random) -> Action:  # noqa: ARG001
    """Picks uniformly among the legal kinds of action; the size of a raise is uniform too."""
    betting = state.betting
    bounds = betting.raise_bounds()
    kinds = 1 + (betting.to_call > 0) + (bounds is not None)
    choice = int(rng.random() * kinds)
    if choice == 0:
        return CALL
    if bounds is not None and choice == kinds - 1:
        return _raise_within(betting, bounds, rng)
    return FOLD


def min_raise(state: HandState, position: int, rng: Random) -> Action:  # noqa: ARG001
    """Makes the minimum raise whenever a raise is legal, calls otherwise."""
    betting = state.betting
    bounds = betting.raise_bounds()
    return CALL if bounds is None else _raise(betting, bounds[0])


def all_in(state: HandState, position: int, rng: Random) -> Action:
    """Moves all-in half of the time, otherwise plays as `uniform`."""
    betting = state.betting
    bounds = betting.raise_bounds()
    if bounds is not None and rng.random() < _ALL_IN_PROBABILITY:
        return _raise(betting, bounds[1])
    return uniform(state, position, rng)


def pot_odds(state: HandState, position: int, rng: Random) -> Action:
    """Compares its equity against a random hand with the pot odds: folds, calls, or raises the pot."""
    betting = state.betting
    equity = random_hand_equity(state, position, rng)
    to_call = betting.to_call
    pot_after_call = betting.pot + to_call
    bounds = betting.raise_bounds()
    # Only half of the time when well ahead, so that a call does not give away a weak hand.
    if bounds is not None and equity > 0.6 and rng.random() < 0.5:
        pot_raise = betting.max_spent + pot_after_call
        return _raise(betting, min(max(pot_raise, bounds[0]), bounds[1]))
    if to_call and equity * pot_after_call < to_call:
        return FOLD
    return CALL


def random_hand_equity(state: HandState, position: int, rng: Random, samples: int = EQUITY_SAMPLES) -> float:
    """Equity at showdown against a random hand, estimated from sampled deals."""
    definition = state.definition
    own, board = state.hole[position], state.visible_board
    unseen = sorted(definition.deck.difference(own, board))
    num_hole = definition.num_hole_cards
    num_dealt = num_hole + sum(definition.board_cards) - len(board)
    won = 0.0
    for _ in range(samples):
        dealt = tuple(rng.sample(unseen, num_dealt))
        full_board = board + dealt[num_hole:]
        ours, theirs = showdown_rank(own + full_board), showdown_rank(dealt[:num_hole] + full_board)
        won += 0.5 if ours == theirs else float(ours > theirs)
    return won / samples


POLICIES: dict[str, Policy] = {
    "call": call,
    "fold": fold,
    "random": uniform,
    "min-raise": min_raise,
    "all-in": all_in,
    "check-down": check_down,
    "pot-odds": pot_odds,
}
"""By their names on the command line."""

OPEN_POLICIES = frozenset({"call", "fold", "min-raise", "check-down"})
"""Policies that depend on the betting alone, so that their strategy is known."""


def _raise(betting: BettingState, chips: int) -> Action:
    return raise_to(chips) if betting.definition.no_limit else LIMIT_RAISE


def _raise_within(betting: BettingState, bounds: tuple[int, int], rng: Random) -> Action:
    least, most = bounds
    return _raise(betting, least + int(rng.random() * (most - least + 1)))
