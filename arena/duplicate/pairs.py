"""Duplicate poker: every deal is played twice, with the players swapping seats. A pair is one sample.

1. The match's seed and i determine everything about pair i: the cards, and the seeds both players get for
   each of the two hands. So pairs can be played in any order, in any process, and replayed.
2. In the first hand the first player ("A") has position 0, in the second hand position 1.
3. A pair is one line of text, as stored in journals and sent by workers:

       17 r300c/cc/cc/cc -300 300 r300f 100 100        number, then betting, A's chips, stake of each hand

   The stake is what the loser lost or, in a tie, could have lost: half the pot, without an uncalled bet. If
   AIVAT was applied during play, two more numbers at the end are A's corrected chips in each hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from traceback import extract_tb

import numpy as np

from arena.errors import BrokenPlayer, MatchAborted
from arena.players.base import HANDS_PER_PAIR, HandPlayer, Player, WatchingHandPlayer
from game.cards import Cards
from game.definition import NUM_PLAYERS, GameDefinition
from game.errors import IllegalAction
from game.state import HandState, HoleCards, new_hand
from numeric.arrays import U8
from numeric.draws import seed_at, unit_at
from numeric.jit import kernel

CARD_KEY = 1 << 16
"""First key of the random numbers (`unit_at`) that deal a pair's cards."""
HAND_KEY = 1
"""First key of the seeds (`seed_at`) of a pair's hands: two per hand, A's first."""
SEED_MASK = (1 << 64) - 1

Correct = Callable[[HandState, int, tuple[HandPlayer, HandPlayer]], float]
"""AIVAT's value of a finished hand in A's chips, from the hand, A's position and the players by position."""


@dataclass(frozen=True, slots=True)
class PlayedHand:
    """A finished hand without its cards."""

    betting: str
    chips: int
    """Won by player A."""
    stake: int
    corrected: float | None = None
    """A's chips as corrected by AIVAT."""


@dataclass(frozen=True, slots=True)
class PlayedPair:
    """Two hands with the same cards."""

    number: int
    hands: tuple[PlayedHand, PlayedHand]

    def __str__(self) -> str:
        played = [f"{hand.betting} {hand.chips} {hand.stake}" for hand in self.hands]
        corrected = [f"{hand.corrected:.4f}" for hand in self.hands if hand.corrected is not None]
        return " ".join([str(self.number), *played, *corrected])


def parse_pair(line: str) -> PlayedPair:
    """The inverse of `str`; raises ValueError."""
    number, *fields = line.split()
    if len(fields) not in (3 * HANDS_PER_PAIR, 4 * HANDS_PER_PAIR):
        raise ValueError(f"{line[:80]!r} is not a pair of hands: a line has 7 or 9 fields")
    values = [float(field) for field in fields[3 * HANDS_PER_PAIR :]]
    corrected = values or (None, None)
    first, second = (
        PlayedHand(fields[at], int(fields[at + 1]), int(fields[at + 2]), value)
        for at, value in zip((0, 3), corrected, strict=True)
    )
    return PlayedPair(int(number), (first, second))


def pair_seed(match_seed: int, number: int) -> int:
    """The seed that determines everything about a pair."""
    return int(seed_at(np.uint64(match_seed & SEED_MASK), number))


def deal_pair(definition: GameDefinition, match_seed: int, number: int) -> tuple[HoleCards, Cards]:
    """Hole cards by position and the whole board, the same in both hands of a pair."""
    cards = np.array(sorted(definition.deck), dtype=np.uint8)
    hole, board = definition.num_hole_cards, sum(definition.board_cards)
    count = NUM_PLAYERS * hole + board
    draw_cards(np.uint64(pair_seed(match_seed, number)), cards, count)
    dealt = tuple([int(card) for card in cards[:count]])
    return (dealt[:hole], dealt[hole : 2 * hole]), dealt[2 * hole :]


@kernel
def draw_cards(seed: np.uint64, cards: U8, count: int) -> None:
    """Move `count` random cards to the front, in place: the cards of a pair if `cards` is the sorted deck."""
    size = cards.shape[0]
    for i in range(count):
        j = i + int(unit_at(seed, CARD_KEY + i) * (size - i))
        cards[i], cards[j] = cards[j], cards[i]


def play_pair(
    definition: GameDefinition,
    players: tuple[Player, Player],
    match_seed: int,
    number: int,
    correct: Correct | None = None,
) -> PlayedPair:
    """Play both hands of a pair; blocks while the players think."""
    hole, board = deal_pair(definition, match_seed, number)
    seed = np.uint64(pair_seed(match_seed, number))
    played = []
    for swapped in range(HANDS_PER_PAIR):
        seats = [
            player.start_hand(int(seed_at(seed, HAND_KEY + NUM_PLAYERS * swapped + p)))
            for p, player in enumerate(players)
        ]
        by_position = (seats[swapped], seats[1 - swapped])
        try:
            state = play_hand(new_hand(definition, hole, board), by_position)
        except BrokenPlayer as broken:
            raise MatchAborted(f"{players[broken.position ^ swapped].name}: {broken}") from broken
        for position, seat in enumerate(by_position):
            if isinstance(seat, WatchingHandPlayer):
                seat.finish(state, position)
        corrected = None if correct is None else correct(state, swapped, by_position)
        played.append(PlayedHand(state.betting.text, state.values()[swapped], stake_of(state), corrected))
    return PlayedPair(number, (played[0], played[1]))


def stake_of(state: HandState) -> int:
    """The most either player could lose in a finished hand: the smaller of the two contributions."""
    return min(state.betting.spent)


def play_hand(state: HandState, seats: tuple[HandPlayer, HandPlayer]) -> HandState:
    """Play a hand to its end. Raises `BrokenPlayer`, or the `MatchAborted` a player raises itself.

    seats  hand players by position
    """
    while not state.betting.is_finished:
        actor = state.betting.actor
        try:
            state = state.apply(seats[actor].act(state, actor))
        except IllegalAction as error:
            raise BrokenPlayer(actor, str(error)) from error
        except MatchAborted:
            raise
        except Exception as error:
            at = extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {error} ({at.filename}, line {at.lineno})"
            raise BrokenPlayer(actor, what) from error
    return state
