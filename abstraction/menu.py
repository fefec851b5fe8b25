"""The bet-menu language: which bets and raises a tree offers.

    sizes   50%  of the pot after calling, 2.5x  times the bet faced, 300c  chips, min  the minimum raise,
            a  all-in, a<250%  all-in if that is at most this percentage of the pot; separated by commas:
            "50%, 100%, a"
    menu    bets | raises; without "|" raises use the sizes of bets: "50%, 100%, a | 100%, a"
            further parts are for re-raises: "50%, a | 100%, a | a" is all-in from the second raise on;
            the last part holds for all later raises; "-" offers none. Blinds are not bets: before the flop
            the first part is for the first raise
    book    menus by street and seat, separated by ";": "turn: 50%, a; river: a; river.ip: 33%, a | a"
            seats are oop (out of position: first to act after the flop) and ip (in position); a seat that is
            not named uses the street's menu, a street that is not named the menu without a name

A raise of x % is to the bet faced plus x % of the pot after calling it. Sizes below the minimum raise become
the minimum raise, sizes of the stack or more become all-in, and equal sizes are merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import floor

STREETS = ("preflop", "flop", "turn", "river")
SEATS = ("oop", "ip")


class MenuError(ValueError):
    """Invalid menu text; the message says how to write it."""


class SizeKind(Enum):
    """The unit of a size; values are the suffixes in the text."""

    POT = "%"
    BET = "x"
    CHIPS = "c"
    LEAST = "min"
    ALL_IN = "a"


@dataclass(frozen=True, slots=True)
class Size:
    """One entry of a menu.

    `amount` is a pot fraction (POT), a factor (BET), chips (CHIPS), or for ALL_IN the largest pot fraction at
    which all-in is offered (0 for any).
    """

    kind: SizeKind
    amount: float = 0.0

    def __str__(self) -> str:
        if self.kind in (SizeKind.LEAST, SizeKind.ALL_IN):
            return f"{self.kind.value}<{self.amount * 100:g}%" if self.amount else str(self.kind.value)
        amount = self.amount * 100 if self.kind is SizeKind.POT else self.amount
        return f"{amount:g}{self.kind.value}"


@dataclass(frozen=True, slots=True)
class Menu:
    """Sizes for the first bet of a round, for raises of a bet, and for re-raises."""

    bets: tuple[Size, ...] = ()
    raises: tuple[Size, ...] = ()
    reraises: tuple[tuple[Size, ...], ...] = ()
    """Sizes from the second raise of a bet on; the last entry holds for later ones. If empty: `raises`."""

    def sizes(self, raises_made: int) -> tuple[Size, ...]:
        """The sizes offered after `raises_made` bets and raises in the round."""
        parts = (self.bets, self.raises, *self.reraises)
        return parts[min(raises_made, len(parts) - 1)]

    def __str__(self) -> str:
        parts = [", ".join(map(str, sizes)) or "-" for sizes in (self.bets, self.raises, *self.reraises)]
        while len(parts) > 1 and parts[-1] == parts[-2]:
            parts.pop()
        return " | ".join(parts)


@dataclass(frozen=True, slots=True)
class MenuBook:
    """Menus by (street, seat)."""

    default: Menu = field(default_factory=Menu)
    named: Mapping[tuple[str, str], Menu] = field(default_factory=dict)
    """Menus by street and seat; seat "" means both."""

    def menu(self, street: int, seat: int) -> Menu:
        """The menu of a seat (0 out of position, 1 in position) on a street (0 pre-flop .. 3 river)."""
        name = STREETS[street]
        for key in ((name, SEATS[seat]), (name, "")):
            if key in self.named:
                return self.named[key]
        return self.default


@dataclass(frozen=True, slots=True)
class BetLimits:
    """The bounds the rules set for the next raise. Chips are totals over the hand, `pot` is after calling."""

    pot: int
    max_spent: int
    round_start: int
    """Chips each player had put in before this round."""
    min_raise_to: int
    stack: int


def raise_targets(sizes: tuple[Size, ...], limits: BetLimits) -> tuple[int, ...]:
    """The legal raise-to totals that sizes give, ascending, without repeats."""
    least = min(limits.min_raise_to, limits.stack)
    offered = [size for size in sizes if not _is_too_much(size, limits)]
    return tuple(sorted({min(max(_target(size, limits), least), limits.stack) for size in offered}))


def _is_too_much(size: Size, limits: BetLimits) -> bool:
    """Whether all-in exceeds the size's largest pot fraction."""
    most = size.amount if size.kind is SizeKind.ALL_IN else 0.0
    return most > 0 and limits.stack - limits.max_spent > most * limits.pot


def _target(size: Size, limits: BetLimits) -> int:
    if size.kind is SizeKind.POT:
        return limits.max_spent + floor(size.amount * limits.pot + 0.5)
    if size.kind is SizeKind.BET:
        return limits.round_start + floor(size.amount * (limits.max_spent - limits.round_start) + 0.5)
    if size.kind is SizeKind.CHIPS:
        return limits.round_start + floor(size.amount + 0.5)
    return limits.stack if size.kind is SizeKind.ALL_IN else limits.min_raise_to


def parse_menu(text: str) -> Menu:
    """Parse a menu without street names, e.g. "50%, 100%, a | 100%, a"."""
    bets, *more = [_parse_sizes(part) for part in text.split("|")]
    raises = more[0] if more else bets
    return Menu(bets, raises, tuple(more[1:]))


def parse_menu_book(text: str) -> MenuBook:
    """Parse menus by street and seat, e.g. "50%, a; river: a; river.ip: 33%, a"."""
    default: Menu | None = None
    named: dict[tuple[str, str], Menu] = {}
    for part in filter(str.strip, text.split(";")):
        name, colon, sizes = part.rpartition(":")
        if not colon:
            if default is not None:
                raise MenuError(
                    f"{part.strip()!r} is a second menu without a street: write e.g. 'river: {part.strip()}'"
                )
            default = parse_menu(sizes)
            continue
        street, _, seat = name.strip().lower().partition(".")
        if street not in STREETS or (seat and seat not in SEATS):
            raise MenuError(
                f"{name.strip()!r} names no street: write one of {', '.join(STREETS)}, "
                "alone or with .oop or .ip, e.g. 'river.ip: 50%, a'"
            )
        if (street, seat) in named:
            raise MenuError(f"{name.strip()!r} is given twice")
        named[street, seat] = parse_menu(sizes)
    return MenuBook(default or Menu(), named)


def _parse_sizes(text: str) -> tuple[Size, ...]:
    words = [word for word in text.replace(",", " ").lower().split() if word != "-"]
    return tuple([_parse_size(word) for word in words])


def _parse_size(word: str) -> Size:
    if word in ("a", "allin", "all-in"):
        return Size(SizeKind.ALL_IN)
    if word == "min":
        return Size(SizeKind.LEAST)
    if word.startswith("a<") and word.endswith("%") and word.count("<") == 1:
        return Size(SizeKind.ALL_IN, _parse_size(word[2:]).amount)
    try:
        kind = SizeKind(word[-1])
        amount = float(word[:-1])
    except ValueError:
        raise MenuError(
            f"{word!r} is not a bet size: write e.g. 50% (of the pot), 2.5x (the bet), 300c (chips), min, a"
            " or a<250%"
        ) from None
    if not 0 < amount < 1e9 or kind is SizeKind.ALL_IN:
        raise MenuError(f"{word!r} is not a bet size: the number must be positive")
    return Size(kind, amount / 100 if kind is SizeKind.POT else amount)
