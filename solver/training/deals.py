"""Hold'em deals for the trainer: nine cards, the buckets of both hands in every round, and the winner.

When all money is in before the river, the outcome is a mean over `RUNOUTS` run-outs, including the one that
was dealt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstraction.tables import BucketTables, fill_deal_buckets
from game.cards import NUM_CARDS
from game.evaluator import START, strength_7
from game.evaluator_tables import CARD_BITS, CARD_KEYS
from game.hands import HAND_CLASS
from numeric.arrays import F32, I64, U8, U64
from numeric.jit import kernel
from numeric.xorshift import random_unit
from solver.blueprint.layout import Deals

DEALT = 9  # two cards to player 0, two to player 1, five on the board
RUNOUTS = 8
_KNOWN = (4, 7, 8, 9)  # cards dealt by each betting round


@dataclass(frozen=True, slots=True)
class HoldemDealer:
    """Deals all four rounds, with the buckets of a card abstraction."""

    tables: BucketTables

    def fill(self, random: U64, deals: Deals) -> None:
        """Fill a batch."""
        deal_holdem(self.tables, random, deals)


@dataclass(frozen=True, slots=True)
class PreflopDealer:
    """Deals one round of betting over the 169 classes, then the board."""

    def fill(self, random: U64, deals: Deals) -> None:
        """Fill a batch."""
        deal_preflop(random, deals)


@kernel
def deal_holdem(tables: BucketTables, random: U64, deals: Deals) -> None:
    """Fill deals of four rounds."""
    deck, hands = np.arange(NUM_CARDS).astype(np.uint8), np.empty(2, dtype=np.int64)
    buckets = np.empty((2, 4), dtype=np.uint16)
    for d in range(deals.outcome.shape[0]):
        _shuffle(random, deck, hands)
        fill_deal_buckets(tables, deck[4:DEALT], hands, buckets)
        for p in range(2):
            for r in range(4):
                deals.buckets[d, 4 * p + r] = buckets[p, r]
        fill_outcomes(random, deck, deals.outcome[d])


@kernel
def deal_preflop(random: U64, deals: Deals) -> None:
    """Fill deals of one round."""
    deck, hands = np.arange(NUM_CARDS).astype(np.uint8), np.empty(2, dtype=np.int64)
    for d in range(deals.outcome.shape[0]):
        _shuffle(random, deck, hands)
        for p in range(2):
            deals.buckets[d, p] = HAND_CLASS[hands[p]]
        fill_outcomes(random, deck, deals.outcome[d])


@kernel
def _shuffle(random: U64, deck: U8, hands: I64) -> None:
    """Shuffle nine random cards to the front of the deck; the first four make two hands."""
    _draw(random, deck, 0)
    for p in range(2):
        low = np.int64(min(deck[2 * p], deck[2 * p + 1]))
        high = np.int64(max(deck[2 * p], deck[2 * p + 1]))
        hands[p] = high * (high - 1) // 2 + low


@kernel
def _draw(random: U64, deck: U8, known: int) -> None:
    """Deal all but the first `known` of nine cards again."""
    for i in range(known, DEALT):
        j = i + np.int64(random_unit(random) * np.float32(NUM_CARDS - i))
        deck[i], deck[j] = deck[j], deck[i]


@kernel
def fill_outcomes(random: U64, deck: U8, outcome: F32) -> None:
    """The first player's share of the stake if there is no more betting after each round.

    deck     uint8[52]        in: nine dealt cards; out: only those known in the first round are unchanged
    outcome  float32[rounds]  out
    """
    dealt = deal_winner(deck)
    for r in range(outcome.shape[0] - 1, -1, -1):  # last round first, as each deals later cards again
        known, wins = _KNOWN[r], dealt
        if known == DEALT:
            outcome[r] = np.float32(wins)
            continue
        for _ in range(RUNOUTS - 1):
            _draw(random, deck, known)
            wins += deal_winner(deck)
        outcome[r] = np.float32(wins) / np.float32(RUNOUTS)


@kernel
def deal_winner(deck: U8) -> int:
    """The winner of nine dealt cards: 1 the first player, -1 the second, 0 for a tie."""
    key, held = START, np.uint64(0)
    for i in range(4, DEALT):
        key += CARD_KEYS[deck[i]]
        held |= CARD_BITS[deck[i]]
    first = strength_7(
        key + CARD_KEYS[deck[0]] + CARD_KEYS[deck[1]], held | CARD_BITS[deck[0]] | CARD_BITS[deck[1]]
    )
    second = strength_7(
        key + CARD_KEYS[deck[2]] + CARD_KEYS[deck[3]], held | CARD_BITS[deck[2]] | CARD_BITS[deck[3]]
    )
    return 1 if first > second else -1 if first < second else 0
