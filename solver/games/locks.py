"""Parses locks: fixed strategies at chosen nodes.

    PATH = ACTION RANGE; ACTION RANGE; ACTION rest

PATH is a node (see `solver.games.paths`), ACTION one of its actions. RANGE gives the probability of the
action for each hand, in the range language: "AA:0.3" is 30 %, hands that are not named are 0. `rest` is the
remaining probability of every hand. So "b500 = f random:0.6; c rest" folds every hand to a bet of 500 six
times in ten, and "root = b50% QQ+,AK; x rest" bets exactly those hands. Write * for public cards: a lock
holds on every card.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from game.errors import RangeError
from game.hands import hand_text
from game.ranges import parse_range
from numeric.arrays import F32
from solver.games.game import Game
from solver.games.paths import PathError, Place, action_words, find_action, find_place
from solver.games.spot import Spot

_REST = "rest"
_TOLERANCE = 1e-4
_HOW = "write PATH = ACTION RANGE; ACTION rest, e.g. 'b500 = f random:0.6; c rest'"


class LockError(ValueError):
    """The text of a lock cannot be parsed, or its probabilities do not add up."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A node and its fixed strategy, on every board of its round."""

    place: Place
    strategy: F32
    """float32[A, H]."""


def parse_lock(spot: Spot, game: Game, text: str) -> Lock:
    """Parse a lock for a spot's tree."""
    path, equals, entries = text.partition("=")
    if not equals or not entries.strip():
        raise LockError(f"{text!r} has no actions: {_HOW}")
    try:
        place = find_place(spot, game, path)
        if len(place.cards) > len(spot.board):
            raise LockError(f"{path.strip()!r} names a card, but a lock holds on every card: write * for it")
        words = action_words(spot, game.tree, place)
        strategy = np.zeros((len(words), game.num_hands), dtype=np.float32)
        takes_rest: int | None = None
        for entry in entries.split(";"):
            word, _, hands = entry.strip().partition(" ")
            action = find_action(spot, game.tree, place, word)
            if not hands.strip():
                raise LockError(f"{entry.strip()!r} in {text!r} has no range: {_HOW}")
            if hands.strip().lower() == _REST:
                takes_rest = action
            else:
                strategy[action] += parse_range(hands)[game.labels]
    except (PathError, RangeError) as error:
        raise LockError(f"in {text!r}: {error}") from error
    return Lock(place, _complete(game, strategy, takes_rest, words, text))


def _complete(game: Game, strategy: F32, takes_rest: int | None, words: tuple[str, ...], text: str) -> F32:
    total = strategy.sum(axis=0)
    most, least = int(total.argmax()), int(total.argmin())
    if total[most] > 1 + _TOLERANCE:
        raise LockError(
            f"{text!r} gives {hand_text(int(game.labels[most]))} {total[most]:.0%} in all, more than 100%"
        )
    if takes_rest is not None:
        strategy[takes_rest] += np.maximum(1 - total, 0)
    elif total[least] < 1 - _TOLERANCE:
        raise LockError(
            f"{text!r} gives {hand_text(int(game.labels[least]))} only {total[least]:.0%} in all: "
            f"let one of {', '.join(words)} take the rest, e.g. '; {words[0]} {_REST}'"
        )
    return strategy
