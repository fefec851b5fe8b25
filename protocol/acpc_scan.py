"""Lenient scanners that match the reference dealer, a C program: `scanf` numbers, cards, actions.

All functions take bytes and an offset, and return the value with the offset after it, or None. Text ends at
the first NUL byte: cut it there with `c_string` first. Numbers overflow as in glibc.
"""

from __future__ import annotations

import re

from game.actions import CALL, FOLD, LIMIT_RAISE, Action, ActionKind
from game.cards import RANKS, SUITS, Card, Cards

_NUMBER = re.compile(rb"\s*([+-]?[0-9]+)")
_RANK_OF_BYTE = {ord(c): i for i, rank in enumerate(RANKS) for c in {rank.upper(), rank.lower()}}
_SUIT_OF_BYTE = {ord(c): i for i, suit in enumerate(SUITS) for c in {suit.upper(), suit.lower()}}
_KIND_OF_BYTE = {
    ord(letter): kind
    for letters, kind in (("fF", ActionKind.FOLD), ("cCkK", ActionKind.CALL), ("rRbB", ActionKind.RAISE))
    for letter in letters
}

_INT64_MAX = 2**63 - 1
_UINT64_MAX = 2**64 - 1


def c_string(data: bytes) -> bytes:
    """The part before the first NUL byte."""
    return data.partition(b"\0")[0]


def scan_unsigned(text: bytes, at: int, bits: int) -> tuple[int, int] | None:
    """Scan like `%u` into an integer of `bits` bits: spaces and a sign are allowed, −1 is the largest."""
    match = _NUMBER.match(text, at)
    if match is None:
        return None
    number = int(match[1])
    number = _UINT64_MAX if abs(number) > _UINT64_MAX else number & _UINT64_MAX
    return number & ((1 << bits) - 1), match.end()


def scan_int32(text: bytes, at: int) -> tuple[int, int] | None:
    """Scan like `%d` into an `int`."""
    match = _NUMBER.match(text, at)
    if match is None:
        return None
    number = max(-_INT64_MAX - 1, min(int(match[1]), _INT64_MAX))
    return (number + 2**31) % 2**32 - 2**31, match.end()


def scan_cards(text: bytes, at: int, most: int) -> tuple[Cards, int]:
    """Scan up to `most` cards, in upper or lower case."""
    cards: list[Card] = []
    while len(cards) < most and at + 1 < len(text):
        rank, suit = _RANK_OF_BYTE.get(text[at]), _SUIT_OF_BYTE.get(text[at + 1])
        if rank is None or suit is None:
            break
        cards.append(rank * 4 + suit)
        at += 2
    return tuple(cards), at


def scan_action(text: bytes, at: int, no_limit: bool) -> tuple[Action | None, int] | None:
    """Scan an action; the action is None for a letter that is not an action.

    Returns None for a no-limit raise without a number. A raise may have any number, even a negative one:
    legality is not checked here.
    """
    kind = _KIND_OF_BYTE.get(text[at]) if at < len(text) else None
    if kind is None:
        return None, at + 1
    if kind is ActionKind.FOLD:
        return FOLD, at + 1
    if kind is ActionKind.CALL:
        return CALL, at + 1
    if not no_limit:
        return LIMIT_RAISE, at + 1
    number = scan_int32(text, at + 1)
    if number is None:
        return None
    return Action(ActionKind.RAISE, number[0]), number[1]
