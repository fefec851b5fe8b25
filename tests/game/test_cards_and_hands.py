from __future__ import annotations

import numpy as np
import pytest

from game.cards import card_text, cards_text, parse_card, parse_cards
from game.errors import CardError
from game.hands import (
    HAND_CARDS,
    HAND_CLASS,
    NUM_HANDS,
    class_text,
    hand_index,
    hand_text,
    parse_hand,
    unblocked,
)


def test_cards_are_numbered_as_the_acpc_does() -> None:
    assert [parse_card(text) for text in ("2c", "2d", "2h", "2s", "3c", "As")] == [0, 1, 2, 3, 4, 51]
    assert all(parse_card(card_text(card)) == card for card in range(52))


def test_card_lists_keep_their_order_and_allow_spaces() -> None:
    assert cards_text(parse_cards("As Kd,7h")) == "AsKd7h"


@pytest.mark.parametrize("text", ["", "A", "1s", "AS", "as", "Asx", "10s"])
def test_bad_cards_are_refused(text: str) -> None:
    with pytest.raises(CardError, match="is not a card"):
        parse_card(text)


def test_bad_card_lists_are_refused() -> None:
    with pytest.raises(CardError, match="As appears twice"):
        parse_cards("AsKdAs")
    with pytest.raises(CardError, match="each card is two characters"):
        parse_cards("AsK")


def test_hands_are_numbered_by_high_card_then_low() -> None:
    assert [hand_index(*map(int, pair)) for pair in HAND_CARDS] == list(range(NUM_HANDS))
    assert hand_index(51, 0) == hand_index(0, 51)
    assert all(parse_hand(hand_text(hand)) == hand for hand in range(NUM_HANDS))


@pytest.mark.parametrize("pair", [(5, 5), (-1, 3), (3, 52)])
def test_impossible_hands_are_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(CardError, match="do not make a hand"):
        hand_index(*pair)
    with pytest.raises(CardError, match="give two cards"):
        parse_hand("AsKdQh")


def test_the_169_classes() -> None:
    sizes = np.bincount(HAND_CLASS, minlength=169)
    by_kind = {"": 6, "s": 4, "o": 12}
    for hand_class, size in enumerate(sizes):
        assert size == by_kind[class_text(hand_class)[2:]]
    assert class_text(int(HAND_CLASS[parse_hand("AsKs")])) == "AKs"
    assert class_text(int(HAND_CLASS[parse_hand("KdAs")])) == "AKo"
    assert class_text(int(HAND_CLASS[parse_hand("2c2d")])) == "22"
    assert class_text(0) == "AA"


@pytest.mark.parametrize(
    ("board", "left"), [("", 1326), ("AsKd7h", 1176), ("AsKd7h4c", 1128), ("AsKd7h4c2s", 1081)]
)
def test_unblocked_hands_share_no_card(board: str, left: int) -> None:
    cards = parse_cards(board)
    mask = unblocked(cards)
    assert mask.sum() == left
    assert not any(set(map(int, HAND_CARDS[hand])) & set(cards) for hand in np.flatnonzero(mask))
