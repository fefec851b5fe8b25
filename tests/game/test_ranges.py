from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from game.cards import RANKS, parse_cards
from game.errors import RangeError
from game.hands import HAND_CARDS, HAND_CLASS, NUM_CLASSES, NUM_HANDS, class_text, hand_text, parse_hand
from game.ranges import parse_range, range_text, without_blocked

float_weights = st.floats(0, 1, width=32)
round_weights = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def classes_of(text: str) -> str:
    """The classes whose hands all have weight 1, in grid order; every other hand must have weight 0."""
    weights = parse_range(text)
    assert set(weights.tolist()) <= {0.0, 1.0}
    whole = [cell for cell in range(NUM_CLASSES) if weights[np.isin(HAND_CLASS, cell)].all()]
    assert weights.sum() == np.isin(HAND_CLASS, whole).sum()
    return " ".join(class_text(cell) for cell in whole)


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("AA", "AA"),
        ("QQ+", "AA KK QQ"),
        ("AA+", "AA"),
        ("TT-77", "TT 99 88 77"),
        ("77-TT", "TT 99 88 77"),
        ("AKs", "AKs"),
        ("AK", "AKs AKo"),
        ("KAo", "AKo"),
        ("KTs+", "KQs KJs KTs"),
        ("KTo+", "KQo KJo KTo"),
        ("KT+", "KQs KJs KTs KQo KJo KTo"),
        ("KQs+", "AKs KQs"),
        ("T9s+", "AKs KQs QJs JTs T9s"),
        ("A5s-A2s", "A5s A4s A3s A2s"),
        ("A2s-A5s", "A5s A4s A3s A2s"),
        ("76s-54s", "76s 65s 54s"),
        ("97o-75o", "97o 86o 75o"),
        ("QQ+, AKs AKo", "AA AKs AKo KK QQ"),
        ("aks,qq - jj", "AKs QQ JJ"),
        ("22+,AA:0,KK-22:0%", ""),
        ("none", ""),
        ("none,AA", "AA"),
    ],
)
def test_usual_range_notation(text: str, classes: str) -> None:
    assert classes_of(text) == classes


@pytest.mark.parametrize(
    "text", ["random", "any", "ALL", "*", "22+,32+,42+,52+,62+,72+,82+,92+,T2+,J2+,Q2+,K2+,A2+"]
)
def test_every_hand(text: str) -> None:
    assert (parse_range(text) == 1).all()


def test_the_number_of_hands_in_a_class() -> None:
    assert [int(parse_range(text).sum()) for text in ("AA", "AKs", "AKo", "AK", "AhKd")] == [6, 4, 12, 16, 1]


def test_the_example_of_the_documentation() -> None:
    weights = parse_range("QQ+,AKs,A5s-A2s:0.5,AhKd")
    assert weights.dtype == np.float32
    assert weights.sum() == 3 * 6 + 4 + 4 * 4 * 0.5 + 1
    assert weights[parse_hand("As3s")] == 0.5
    assert weights[parse_hand("KdAh")] == 1
    assert weights[parse_hand("KhAd")] == 0
    assert range_text(weights) == "QQ+,AKs,A5s-A2s:0.5,AhKd"


def test_a_later_entry_overrides() -> None:
    weights = parse_range("22+:0.5,AA,KhKd:25%")
    assert weights[parse_hand("AhAd")] == 1
    assert weights[parse_hand("KhKd")] == 0.25
    assert weights[parse_hand("KcKs")] == 0.5
    assert (parse_range("AA,22+:0.5") == parse_range("22+:.5")).all()


@pytest.mark.parametrize("weight", ["0.5", ".5", "50%", "5e-1", "0.50", "50.0%"])
def test_ways_to_write_a_weight(weight: str) -> None:
    assert parse_range(f"AA:{weight}")[parse_hand("AhAd")] == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty range: write e.g."),
        (" , ", "an empty range"),
        ("AA,AKx,KK", "'AKx' is not a hand: write e.g. 'QQ\\+'"),
        ("AK-", "'' in 'AK-' is not a hand"),
        ("A", "'A' is not a hand"),
        ("1As", "'1As' is not a hand"),
        ("AAs", "'AAs': a pair is neither suited nor offsuit: write 'AA'"),
        ("QQ+:1.5", "'1.5' in 'QQ\\+:1.5' is not a weight: write a number in 0..1"),
        ("QQ:", "'' in 'QQ:' is not a weight"),
        ("QQ:-1", "'-1' in 'QQ:-1' is not a weight"),
        ("QQ:nan", "'nan' in 'QQ:nan' is not a weight"),
        ("QQ:101%", "'101%'"),
        ("A5s-K2s", "'A5s-K2s' is not a span"),
        ("A5s-A2o", "'A5s-A2o' is not a span"),
        ("AA-AKs", "'AA-AKs' is not a span"),
        ("AA-AK", "'AA-AK' is not a span"),
        ("AhAh", "'AhAh' is not a hand: it has the same card twice"),
        ("AhKd+", "'AhKd\\+': a single hand has no '\\+' and no '-'"),
        ("AhKd-AhQd", "a single hand has no"),
        ("TT-77-55", "'77-55' in 'TT-77-55' is not a hand"),
    ],
)
def test_refusals_say_what_to_write(text: str, message: str) -> None:
    with pytest.raises(RangeError, match=message):
        parse_range(text)


@pytest.mark.parametrize(
    "text",
    [
        "random",
        "random:0.5",
        "none",
        "AA",
        "QQ+",
        "TT-77,22",
        "AK",
        "AK,KTs+",
        "A2+",
        "AK,AQs,AQo:0.5",
        "KQs,KTs-K8s,K2s:0.1",
        "KK,AhAd,AdAc:0.3",
        "JJ+:0.25,TT:0.5,99-22,AQ+,ATs-A2s:0.125,AJo:0.75",
    ],
)
def test_canonical_text_is_kept(text: str) -> None:
    assert range_text(parse_range(text)) == text


@settings(max_examples=30)
@given(st.lists(float_weights, min_size=NUM_CLASSES, max_size=NUM_CLASSES))
def test_round_trip_of_class_weights(weights: list[float]) -> None:
    by_hand = np.array(weights, dtype=np.float32)[HAND_CLASS]
    assert np.array_equal(parse_range(range_text(by_hand)), by_hand)


@settings(max_examples=50)
@given(
    st.lists(round_weights, min_size=NUM_CLASSES, max_size=NUM_CLASSES),
    st.dictionaries(st.integers(0, NUM_HANDS - 1), float_weights, max_size=40),
)
def test_round_trip_of_uneven_classes(of_class: list[float], of_hand: dict[int, float]) -> None:
    weights = np.array(of_class, dtype=np.float32)[HAND_CLASS]
    for hand, weight in of_hand.items():
        weights[hand] = weight
    text = range_text(weights)
    assert np.array_equal(parse_range(text), weights)
    assert range_text(parse_range(text)) == text


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_round_trip_of_any_weights(seed: int) -> None:
    weights = np.random.default_rng(seed).random(NUM_HANDS, dtype=np.float32)
    assert np.array_equal(parse_range(range_text(weights)), weights)


@given(st.text(alphabet=RANKS + "akqjtcdhsoSO+-:.,0123456789% x*\n", max_size=20))
def test_any_text_is_parsed_or_raises_range_error(text: str) -> None:
    try:
        weights = parse_range(text)
    except RangeError:
        return
    assert ((weights >= 0) & (weights <= 1)).all()
    assert np.array_equal(parse_range(range_text(weights)), weights)


@pytest.mark.parametrize("text", ["QQ+", "TT-77", "KTs+", "T9s+", "A5s-A2s", "76s-54s", "AK"])
def test_suits_are_treated_alike(text: str) -> None:
    weights = parse_range(text)
    suits = [2, 0, 3, 1]
    for hand in np.flatnonzero(weights):
        low, high = (int(card) // 4 * 4 + suits[int(card) % 4] for card in HAND_CARDS[hand])
        assert weights[parse_hand(hand_text_of(low, high))] == weights[hand]


def hand_text_of(a: int, b: int) -> str:
    low, high = sorted((a, b))
    return hand_text(high * (high - 1) // 2 + low)


def test_blocked_hands_get_no_weight() -> None:
    weights = parse_range("AA,KK:0.5")
    left = without_blocked(weights, parse_cards("AsKd7h"))
    assert left.dtype == np.float32
    assert left.sum() == 3 + 3 * 0.5
    assert left[parse_hand("AsAh")] == 0
    assert left[parse_hand("AdAh")] == 1
    assert weights.sum() == 6 + 3


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(169), r"1326 weights, not an array of shape \(169,\)"),
        (np.full(NUM_HANDS, 1.5), "the weight of 2d2c is 1.5"),
        (np.full(NUM_HANDS, np.nan), "the weight of 2d2c is nan"),
    ],
)
def test_invalid_weights_are_refused(weights: np.ndarray, message: str) -> None:
    with pytest.raises(RangeError, match=message):
        range_text(weights)
