from __future__ import annotations

from dataclasses import replace

import pytest

from game.cards import cards_text
from game.definition import (
    HUNL,
    KUHN,
    LEDUC,
    PRESETS,
    UNLIMITED_STACK,
    GameDefinition,
    definition_text,
    parse_definition,
)
from game.errors import DefinitionError

HUNL_TEXT = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 20000 20000
blind = 100 50
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""


def test_the_competition_file_is_hunl() -> None:
    assert parse_definition(HUNL_TEXT) == HUNL
    assert definition_text(HUNL) == HUNL_TEXT


@pytest.mark.parametrize("game", PRESETS.values(), ids=PRESETS.keys())
def test_text_round_trip(game: GameDefinition) -> None:
    assert parse_definition(definition_text(game)) == game


def test_reading_is_tolerant_of_case_comments_and_spacing() -> None:
    text = "# a comment\n" + HUNL_TEXT.upper().replace(" = ", "=").replace("\n", " # another\n\n")
    assert parse_definition(text) == HUNL


def test_missing_stacks_are_unlimited() -> None:
    assert parse_definition(definition_text(KUHN)).stacks == (UNLIMITED_STACK, UNLIMITED_STACK)


@pytest.mark.parametrize(
    ("line", "replacement", "message"),
    [
        ("numPlayers = 2", "numPlayers = 3", "two-player games only"),
        ("numPlayers = 2", "", "numPlayers has 0 numbers"),
        ("numRounds = 4", "numRounds = 5", "5 betting rounds"),
        ("blind = 100 50", "blind = 100", "blind has 1 numbers, needs 2"),
        ("blind = 100 50", "blind = 100 x", "whole numbers"),
        ("blind = 100 50", "blind = 20001 50", "greater than the stack"),
        ("blind = 100 50", "blind = 20000 20000", "both players are all-in"),
        ("firstPlayer = 2 1 1 1", "firstPlayer = 3 1 1 1", "firstPlayer"),
        ("numBoardCards = 0 3 1 1", "numBoardCards = 0 3 1", "numBoardCards has 3"),
        ("numRanks = 13", "numRanks = 2", "the deck has 8 cards"),
        ("numSuits = 4", "numSuits = 5", "13 ranks in 5 suits"),
        ("numHoleCards = 2", "numHoleCards = 4", "4 hole cards"),
        ("nolimit", "limit", "raiseSize has 0"),
        ("nolimit", "potlimit", "unknown line 'potlimit': a game definition says"),
        ("stack = 20000 20000", "stack = 20000 2147483648", "must be 1 to 2147483647"),
        ("END", "maxRaises = 3 -1 3 3\nEND", "each must be 0 to 255, which means no cap"),
        ("END", "maxRaises = 256 3 3 3\nEND", "each must be 0 to 255"),
    ],
)
def test_invalid_definitions_are_refused_with_a_reason(line: str, replacement: str, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        parse_definition(HUNL_TEXT.replace(line, replacement, 1))


def test_a_small_deck_has_the_highest_ranks_of_the_last_suits() -> None:
    assert len(HUNL.deck) == 52
    assert cards_text(sorted(KUHN.deck)) == "QsKsAs"
    assert cards_text(sorted(LEDUC.deck)) == "QhQsKhKsAhAs"


def test_definitions_are_verified_on_construction() -> None:
    with pytest.raises(DefinitionError, match="one for each of 4 rounds"):
        replace(HUNL, first_player=(1, 0))
