"""Suit isomorphism: a canonical board for all boards that differ only by a relabelling of suits.

1. A board is a set: the order in which its cards were dealt is ignored (imperfect recall).
2. Write each suit as the 13-bit mask of its ranks on the board. Two boards are the same up to suits exactly
   when they have the same four masks in some order; the canonical board has them in falling order.
3. So the canonical boards of three, four and five cards are 1,755, 16,432 and 134,459.
4. A *relabelling* is an index 0..23 of `RELABELLINGS`: suit s becomes suit `RELABELLINGS[r, s]`.
   `HAND_UNDER[r, hand]` is the hand afterwards. Suits that look alike on the board keep their order.
5. The *index* of a board is its colexicographic rank, as for hands: the sum of C(card, position + 1) over its
   cards in rising order. `board_locations(n)[index]` is `row << LOCATION_BITS | relabelling`.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import comb

import numpy as np

from game.cards import NUM_CARDS, NUM_SUITS, Cards, cards_text, verify_distinct
from game.errors import CardError
from game.hands import HAND_CARDS, NUM_HANDS
from numeric.arrays import I64, U8, U16, U32
from numeric.jit import kernel

NUM_RELABELLINGS = 24
NUM_CANONICAL_BOARDS = {3: 1_755, 4: 16_432, 5: 134_459}
"""Number of canonical boards by number of cards."""

LOCATION_BITS = 5


def canonical_board(board: Cards) -> tuple[Cards, int]:
    """The canonical board, its cards rising, and the relabelling that leads to it."""
    if len(board) not in NUM_CANONICAL_BOARDS:
        raise CardError(f"{cards_text(board)!r} is not a board: give three, four or five cards")
    verify_distinct(board)
    relabelling = find_relabelling(np.array(board, dtype=np.uint8))
    suits = RELABELLINGS[relabelling]
    canonical = sorted(card // NUM_SUITS * NUM_SUITS + int(suits[card % NUM_SUITS]) for card in board)
    return tuple(canonical), int(relabelling)


@cache
def canonical_boards(num_cards: int) -> U8:
    """uint8[rows, num_cards]: every canonical board, its cards rising, by rising index. Read-only."""
    boards = np.empty((NUM_CANONICAL_BOARDS[num_cards], num_cards), dtype=np.uint8)
    _fill_canonical_boards(boards)
    boards.setflags(write=False)
    return boards


@cache
def board_locations(num_cards: int) -> U32:
    """uint32[C(52, num_cards)]: row of the canonical board and relabelling of each board. Read-only."""
    locations = np.empty(comb(NUM_CARDS, num_cards), dtype=np.uint32)
    _fill_locations(canonical_boards(num_cards), locations)
    locations.setflags(write=False)
    return locations


@cache
def board_multiplicities(num_cards: int) -> I64:
    """int64[rows]: how many boards each canonical board stands for. Read-only."""
    rows = board_locations(num_cards) >> LOCATION_BITS
    counts = np.bincount(rows, minlength=NUM_CANONICAL_BOARDS[num_cards]).astype(np.int64)
    counts.setflags(write=False)
    return counts


@kernel
def find_relabelling(board: U8) -> int:
    """Index of the relabelling that makes a board canonical; the cards may be in any order."""
    masks = np.zeros(4, dtype=np.int64)
    for i in range(board.shape[0]):
        masks[board[i] & 3] |= np.int64(1) << np.int64(board[i] >> 2)
    place = np.zeros(4, dtype=np.int64)
    for suit in range(4):
        for other in range(4):
            if masks[other] > masks[suit] or (masks[other] == masks[suit] and other < suit):
                place[suit] += 1
    found: int = _RELABELLING_OF[place[0] << 4 | place[1] << 2 | place[2]]
    return found


@kernel
def relabel_card(card: int, relabelling: int) -> np.int64:
    """The card after a relabelling."""
    return np.int64(card & 0xFC | RELABELLINGS[relabelling, card & 3])


@kernel
def board_index(board: U8) -> int:
    """Colexicographic rank among boards of the same size; the cards may be in any order."""
    cards = np.empty(5, dtype=np.int64)
    for i in range(board.shape[0]):
        j = i
        while j > 0 and cards[j - 1] > board[i]:
            cards[j] = cards[j - 1]
            j -= 1
        cards[j] = board[i]
    index = 0
    for i in range(board.shape[0]):
        index += _CHOOSE[cards[i], i + 1]
    return index


@kernel
def _fill_canonical_boards(boards: U8) -> None:
    """Enumerate all boards of boards.shape[1] cards by rising index and keep the canonical ones."""
    num_cards = boards.shape[1]
    board = _first_board(num_cards)
    row = 0
    while True:
        if find_relabelling(board) == 0:
            for i in range(num_cards):
                boards[row, i] = board[i]
            row += 1
        if not _advance(board):
            return


@kernel
def _fill_locations(boards: U8, locations: U32) -> None:
    num_cards = boards.shape[1]
    row_of_index = np.zeros(locations.shape[0], dtype=np.uint32)
    for row in range(boards.shape[0]):
        row_of_index[board_index(boards[row])] = row
    board = _first_board(num_cards)
    canonical = np.empty(num_cards, dtype=np.uint8)
    for index in range(locations.shape[0]):
        relabelling = find_relabelling(board)
        for i in range(num_cards):
            canonical[i] = relabel_card(board[i], relabelling)
        locations[index] = row_of_index[board_index(canonical)] << LOCATION_BITS | relabelling
        _advance(board)


@kernel
def _first_board(num_cards: int) -> U8:
    board = np.empty(num_cards, dtype=np.uint8)
    for i in range(num_cards):
        board[i] = i
    return board


@kernel
def _advance(board: U8) -> bool:
    """The next board in rising index, in place; False after the last."""
    num_cards = board.shape[0]
    for i in range(num_cards):
        limit = board[i + 1] if i + 1 < num_cards else NUM_CARDS
        if board[i] + 1 < limit:
            board[i] += 1
            for j in range(i):
                board[j] = j
            return True
    return False


def _hands_under_relabellings() -> U16:
    moved = HAND_CARDS // NUM_SUITS * NUM_SUITS + RELABELLINGS[:, HAND_CARDS % NUM_SUITS]
    low, high = moved.min(axis=2).astype(np.int64), moved.max(axis=2).astype(np.int64)
    hands: U16 = (high * (high - 1) // 2 + low).astype(np.uint16)
    return hands


RELABELLINGS: U8 = np.array(list(permutations(range(NUM_SUITS))), dtype=np.uint8)
"""uint8[24, 4]: what each suit becomes. The first changes nothing."""

HAND_UNDER: U16 = _hands_under_relabellings()
"""uint16[24, 1326]: each hand after each relabelling."""

_RELABELLING_OF: U8 = np.zeros(64, dtype=np.uint8)  # by the new places of the first three suits
for _r, _suits in enumerate(RELABELLINGS.tolist()):
    _RELABELLING_OF[_suits[0] << 4 | _suits[1] << 2 | _suits[2]] = _r

_CHOOSE: I64 = np.array([[comb(card, k) for k in range(6)] for card in range(NUM_CARDS)], dtype=np.int64)

assert HAND_UNDER.shape == (NUM_RELABELLINGS, NUM_HANDS)
for _table in (RELABELLINGS, HAND_UNDER, _RELABELLING_OF, _CHOOSE):
    _table.setflags(write=False)
