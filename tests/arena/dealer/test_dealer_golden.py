"""This dealer's output against digests of the reference dealer's, which record_golden.py has recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.dealer.deck import Deck
from game.cards import cards_text
from game.definition import HUNL
from tests.arena.record_golden import CARD_HANDS, CARD_SEEDS, GOLDEN, digest, outcome_digests
from tests.arena.scripted import play_ours
from tests.arena.setups import SETUPS

RECORDED = json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("name", SETUPS)
def test_log_and_messages_match_the_reference(name: str, tmp_path: Path) -> None:
    setup, scripts = SETUPS[name]
    assert outcome_digests(play_ours(setup, scripts, tmp_path)) == RECORDED["matches"][name]


@pytest.mark.parametrize("seed", CARD_SEEDS)
def test_cards_match_the_reference(seed: int) -> None:
    deck = Deck(HUNL, seed)
    lines = []
    for _ in range(CARD_HANDS):
        (first, second), board = deck.deal()
        flop, turn, river = cards_text(board[:3]), cards_text(board[3:4]), cards_text(board[4:])
        lines.append(f"{cards_text(first)}|{cards_text(second)}/{flop}/{turn}/{river}\n")
    assert digest("".join(lines).encode()) == RECORDED["cards"][str(seed)]
