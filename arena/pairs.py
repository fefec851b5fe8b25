"""Duplicate poker: the same cards twice, with the players changing places. A pair of hands is one sample.

1. Everything of pair i follows from the match's seed and i: the cards, and the seeds both players get for
   each of the two hands. So pairs can be played in any order, in any process, and again.
2. In the first hand the first player ("A") has position 0, in the second hand position 1.
3. A pair is one line of text, which is what journals hold and workers send:

       17 r300c/cc/cc/cc -300 300 r300f 100 100        number, then betting, A's chips, stake of each hand

   The stake is what the loser lost or would have lost: half the pot without an uncalled bet. Two more numbers
   at the end are A's chips of each hand as AIVAT corrects them, if that was done while it was played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from traceback import extract_tb

import numpy as np

from arena.errors import BrokenPlayer, MatchAborted
from arena.players import HandPlayer, Player, WatchingHandPlayer
from game.cards import Cards
from game.definition import NUM_PLAYERS, GameDefinition
from game.errors import IllegalAction
from game.jit import kernel
from game.state import HandState, HoleCards, new_hand
from solver.kernels.draws import seed_at, unit_at
from solver.layout import U8

HANDS_PER_PAIR = 2
CARD_KEY = 1 << 16
"""Of a pair's numbers (`unit_at`), where those for the cards start."""
HAND_KEY = 1
"""Of a pair's seeds (`seed_at`), where those for its hands start: two a hand, A's first."""
SEED_MASK = (1 << 64) - 1

Correct = Callable[[HandState, int, tuple[HandPlayer, HandPlayer]], float]
"""A's chips of a finished hand with luck taken out, from the hand, A's position, and who sat where."""


@dataclass(frozen=True, slots=True)
class PlayedHand:
    """A finished hand without its cards."""

    betting: str
    chips: int
    """Won by player A."""
    stake: int
    corrected: float | None = None
    """A's chips by AIVAT."""


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
        raise ValueError(f"{line[:80]!r} is not a pair of hands")
    values = [float(field) for field in fields[3 * HANDS_PER_PAIR :]]
    corrected = values or (None, None)
    first, second = (
        PlayedHand(fields[at], int(fields[at + 1]), int(fields[at + 2]), value)
        for at, value in zip((0, 3), corrected, strict=True)
    )
    return PlayedPair(int(number), (first, second))


def pair_seed(match_seed: int, number: int) -> int:
    """What everything of a pair follows from."""
    return int(seed_at(np.uint64(match_seed & SEED_MASK), number))


def deal_pair(definition: GameDefinition, match_seed: int, number: int) -> tuple[HoleCards, Cards]:
    """Hole cards by position and the whole board of both hands of a pair."""
    cards = np.array(sorted(definition.deck), dtype=np.uint8)
    hole, board = definition.num_hole_cards, sum(definition.board_cards)
    count = NUM_PLAYERS * hole + board
    draw_cards(np.uint64(pair_seed(match_seed, number)), cards, count)
    dealt = tuple([int(card) for card in cards[:count]])
    return (dealt[:hole], dealt[hole : 2 * hole]), dealt[2 * hole :]


@kernel
def draw_cards(seed: np.uint64, cards: U8, count: int) -> None:
    """Bring random cards to the front, in place: those of a pair if `cards` are the deck in order."""
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
    """Play both hands; blocks for as long as the players think."""
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
    """What each player could lose at most in a finished hand, as it went."""
    return min(state.betting.spent)


def play_hand(state: HandState, seats: tuple[HandPlayer, HandPlayer]) -> HandState:
    """Play to the end; seats are by position. Raises `BrokenPlayer`, or what a player says of himself."""
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
