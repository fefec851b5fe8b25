"""Ranges: a weight in 0..1 for each of the 1326 hands, and their usual text form.

    QQ+          this pair and the higher ones        TT-77        the pairs between, both ends included
    AKs AKo AK   suited, offsuit, both                AhKd         one hand
    KTs+         the kicker up to the high card: KTs, KJs, KQs
    T9s+         a connector has no better kicker: T9s, JTs, QJs, KQs, AKs
    A5s-A2s      the same high card, kickers between  76s-54s      the same gap, both cards moving
    random       every hand (also `any`, `all`, `*`)  none         no hand
    AA:0.5       a weight, also written AA:50%; 1 where nothing is said

Entries are separated by commas or spaces. A later entry overrides an earlier one where they overlap, so
`22+:0.5,AA` plays aces always and `random,72o:0` everything but seven-deuce. Case does not matter.
"""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np
import numpy.typing as npt

from game.cards import NUM_RANKS, RANKS, Cards
from game.errors import CardError, RangeError
from game.hands import HAND_CLASS, NUM_HANDS, hand_text, parse_hand, unblocked
from numeric.arrays import F32

_ACE = NUM_RANKS - 1
_EVERYTHING = frozenset({"random", "any", "all", "*"})
_NOTHING = "none"
_WEIGHT = re.compile(r"(\d+\.?\d*|\.\d+)(e-?\d+)?(%?)")
_CLASS = re.compile(rf"([{RANKS}])([{RANKS}])([SO]?)")
_SINGLE_HAND = re.compile(rf"[{RANKS}][CDHS][{RANKS}][CDHS]")
_EXAMPLES = "write e.g. 'QQ+', 'TT-77', 'AKs', 'KTo+', 'A5s-A2s', 'AhKd' or 'random'"

_Class = tuple[int, int, str]
"""High rank, low rank, and 'S', 'O' or '' for both; equal ranks and '' for a pair."""


def parse_range(text: str) -> F32:
    """Parse a range: the weight of every hand, float32[1326]. See the module docstring for the syntax."""
    entries = re.sub(r"\s*([-:])\s*", r"\1", text).replace(",", " ").split()
    if not entries:
        raise RangeError(f"an empty range: {_EXAMPLES}, or '{_NOTHING}'")
    weights = np.zeros(NUM_HANDS, dtype=np.float32)
    for entry in entries:
        hands, colon, weight = entry.partition(":")
        weights[_parse_hands(hands, entry)] = _parse_weight(weight, entry) if colon else 1.0
    return weights


def range_text(weights: npt.ArrayLike) -> str:
    """A short text for a range; `parse_range` gives exactly the same weights back.

    Pairs come first, then classes whose hands all have the same weight, then single hands.
    """
    checked = _verify_weights(weights)
    if (checked == checked[0]).all():
        return _NOTHING if checked[0] == 0 else "random" + _weight_text(checked[0])
    entries: list[str] = []
    of_class, uneven = _class_weights(checked)
    entries += _pair_entries([of_class[rank, rank] for rank in range(NUM_RANKS)])
    suited, offsuit = np.triu(of_class.T), np.triu(of_class)  # rows: low rank, columns: high rank
    both = np.where(suited == offsuit, suited, 0)
    for table, suffix in ((both, ""), (suited - both, "s"), (offsuit - both, "o")):
        for high in range(_ACE, 0, -1):
            entries += _kicker_entries(high, table[:high, high], suffix)
    entries += [hand_text(hand) + _weight_text(checked[hand]) for hand in uneven[::-1] if checked[hand]]
    return ",".join(entries)


def without_blocked(weights: F32, cards: Cards) -> F32:
    """The range with weight 0 for every hand that holds one of `cards`."""
    return np.where(unblocked(cards), weights, np.float32(0))


def _parse_weight(text: str, entry: str) -> np.float32:
    match = _WEIGHT.fullmatch(text.lower())
    weight = float(match[1] + (match[2] or "")) / (100 if match[3] else 1) if match else -1.0
    if not 0 <= weight <= 1:
        raise RangeError(f"{text!r} in {entry!r} is not a weight: write a number in 0..1, e.g. 'AA:0.5'")
    return np.float32(weight)


def _parse_hands(text: str, entry: str) -> npt.NDArray[np.bool_]:
    """bool[1326]: the hands of an entry, given without its weight."""
    if text.lower() in _EVERYTHING:
        return np.ones(NUM_HANDS, dtype=np.bool_)
    if text.lower() == _NOTHING:
        return np.zeros(NUM_HANDS, dtype=np.bool_)
    if _SINGLE_HAND.fullmatch(text.upper()):
        return _single_hand(text, entry)
    first, dash, last = text.partition("-")
    if dash:
        classes = _span(_parse_class(first, entry), _parse_class(last, entry), entry)
    elif text.endswith("+"):
        classes = _upwards(_parse_class(text[:-1], entry))
    else:
        classes = [_parse_class(text, entry)]
    cells = [cell for one_class in classes for cell in _cells(one_class)]
    return np.isin(HAND_CLASS, cells)


def _single_hand(text: str, entry: str) -> npt.NDArray[np.bool_]:
    wanted = text[0].upper() + text[1].lower() + text[2].upper() + text[3].lower()
    try:
        hand = parse_hand(wanted)
    except CardError:
        raise RangeError(f"{entry!r} is not a hand: it has the same card twice") from None
    return np.equal(np.arange(NUM_HANDS), hand)


def _parse_class(text: str, entry: str) -> _Class:
    match = _CLASS.fullmatch(text.upper())
    if not match:
        if _SINGLE_HAND.fullmatch(text.upper()):
            raise RangeError(f"{entry!r}: a single hand has no '+' and no '-': {_EXAMPLES}")
        where = "" if text == entry else f" in {entry!r}"
        raise RangeError(f"{text!r}{where} is not a hand: {_EXAMPLES}")
    low, high = sorted((RANKS.index(match[1]), RANKS.index(match[2])))
    if low == high and match[3]:
        raise RangeError(f"{entry!r}: a pair is neither suited nor offsuit: write {text[:2].upper()!r}")
    return high, low, match[3]


def _upwards(start: _Class) -> list[_Class]:
    """The classes of 'QQ+', 'KTs+' or 'T9s+'."""
    high, low, suit = start
    if high - low <= 1:
        return [(high + step, low + step, suit) for step in range(NUM_RANKS - high)]
    return [(high, kicker, suit) for kicker in range(low, high)]


def _span(first: _Class, last: _Class, entry: str) -> list[_Class]:
    """The classes of 'TT-77', 'A5s-A2s' or '76s-54s', whichever end comes first."""
    (high, low, suit), (top_high, top_low, top_suit) = sorted((first, last))
    if suit == top_suit and high - low == top_high - top_low:
        return [(high + step, low + step, suit) for step in range(top_high - high + 1)]
    if suit == top_suit and high == top_high and low < high and top_low < high:
        return [(high, kicker, suit) for kicker in range(low, top_low + 1)]
    raise RangeError(
        f"{entry!r} is not a span: its ends must be pairs ('TT-77'), share the high card ('A5s-A2s') or the "
        "gap ('76s-54s'), and be both suited or both offsuit"
    )


def _cells(one_class: _Class) -> list[int]:
    """The cells of the 13 × 13 grid, aces first, suited above the diagonal."""
    high, low, suit = one_class
    row, column = _ACE - high, _ACE - low
    suited, offsuit = row * NUM_RANKS + column, column * NUM_RANKS + row
    return {"S": [suited], "O": [offsuit], "": [suited, offsuit]}[suit]


def _verify_weights(weights: npt.ArrayLike) -> F32:
    checked = np.asarray(weights, dtype=np.float32)
    if checked.shape != (NUM_HANDS,):
        raise RangeError(f"a range has {NUM_HANDS} weights, not an array of shape {checked.shape}")
    if not ((checked >= 0) & (checked <= 1)).all():
        wrong = int(np.argmin((checked >= 0) & (checked <= 1)))
        raise RangeError(f"the weight of {hand_text(wrong)} is {checked[wrong]}: weights lie in 0..1")
    return checked


def _class_weights(weights: F32) -> tuple[F32, list[int]]:
    """The weight of each class by ranks, suited [high, low], offsuit [low, high], and the remaining hands.

    A class whose hands differ in weight gets 0, and its hands are the remaining ones.
    """
    lowest, highest = np.ones(NUM_RANKS**2, np.float32), np.zeros(NUM_RANKS**2, np.float32)
    np.minimum.at(lowest, HAND_CLASS, weights)
    np.maximum.at(highest, HAND_CLASS, weights)
    even = lowest == highest
    grid = np.where(even, lowest, np.float32(0)).reshape(NUM_RANKS, NUM_RANKS)
    return grid[::-1, ::-1], np.flatnonzero(~even[HAND_CLASS]).tolist()


def _pair_entries(weights: list[np.float32]) -> list[str]:
    entries = []
    for weight, bottom, top in _runs(weights):
        low, high = 2 * RANKS[bottom], 2 * RANKS[top]
        span = low if bottom == top else f"{low}+" if top == _ACE else f"{high}-{low}"
        entries.append(span + _weight_text(weight))
    return entries


def _kicker_entries(high: int, weights: F32, suffix: str) -> list[str]:
    entries = []
    for weight, bottom, top in _runs(list(weights)):
        lowest, highest = (f"{RANKS[high]}{RANKS[kicker]}{suffix}" for kicker in (bottom, top))
        span = lowest if bottom == top else f"{lowest}+" if top == high - 1 else f"{highest}-{lowest}"
        entries.append(span + _weight_text(weight))
    return entries


def _runs(weights: list[np.float32]) -> list[tuple[np.float32, int, int]]:
    """(weight, first, last) of each run of equal weights other than 0, highest run first."""
    runs = []
    for weight, members in groupby(range(len(weights)), key=lambda i: weights[i]):
        places = list(members)
        if weight:
            runs.append((weight, places[0], places[-1]))
    return runs[::-1]


def _weight_text(weight: np.float32) -> str:
    # numpy writes the fewest digits that give the same float32 back.
    return "" if weight == 1 else f":{weight!s}"
