"""The cards of a match: the same seed gives the same cards as the reference ACPC dealer.

That dealer uses the Mersenne Twister MT19937 seeded with one 32-bit number (Matsumoto and Nishimura's
`init_genrand`, 2002). Each hand starts with a fresh deck in suit order. A draw takes card `u32 mod n` of the
`n` left and moves the last card into the gap. The order is position 0's hole cards, position 1's, then the
whole board, even if the hand ends earlier. So the cards of hand h depend only on the seed and h.
"""

from __future__ import annotations

import random

from game.cards import NUM_SUITS, Cards
from game.definition import NUM_PLAYERS, GameDefinition
from game.state import HoleCards

_TWISTER_WORDS = 624
_PYTHON_STATE_VERSION = 3


class Deck:
    """Deals the hands of a match in order."""

    def __init__(self, definition: GameDefinition, seed: int) -> None:
        self._draw = _mersenne_twister(seed).getrandbits
        self._cards = sorted(definition.deck, key=lambda card: (card % NUM_SUITS, card))
        self._hole_cards = definition.num_hole_cards
        count = NUM_PLAYERS * self._hole_cards + sum(definition.board_cards)
        self._sizes = range(len(self._cards), len(self._cards) - count, -1)

    def deal(self) -> tuple[HoleCards, Cards]:
        """Both players' hole cards by position and the whole board of the next hand."""
        draw, left, dealt = self._draw, self._cards.copy(), []
        for size in self._sizes:
            i = draw(32) % size
            dealt.append(left[i])
            left[i] = left[size - 1]
        first = self._hole_cards
        second = NUM_PLAYERS * first
        return (tuple(dealt[:first]), tuple(dealt[first:second])), tuple(dealt[second:])


def _mersenne_twister(seed: int) -> random.Random:
    # Python's generator is MT19937 too, but its `seed` initialises it differently: set the state directly.
    word = seed & 0xFFFFFFFF
    words = [word]
    for i in range(1, _TWISTER_WORDS):
        word = (1812433253 * (word ^ word >> 30) + i) & 0xFFFFFFFF
        words.append(word)
    generator = random.Random()
    generator.setstate((_PYTHON_STATE_VERSION, (*words, _TWISTER_WORDS), None))
    return generator
