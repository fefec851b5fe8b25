from __future__ import annotations

from dataclasses import replace

import pytest

from game.actions import CALL, FOLD, raise_to
from game.betting import start
from game.cards import parse_cards
from game.definition import HUNL, KUHN, LEDUC
from game.errors import CardError, GameError
from game.state import HandState, hand_state, new_hand

BOARD = parse_cards("AsKd7h4c2s")
ACES, KINGS = parse_cards("AdAc"), parse_cards("KsKc")


def test_an_all_in_showdown_pays_the_stack() -> None:
    state = new_hand(HUNL, (ACES, KINGS), BOARD).apply(raise_to(20000)).apply(CALL)
    assert state.values() == (20000, -20000)


def test_a_fold_pays_what_the_folder_put_in() -> None:
    state = new_hand(HUNL, (ACES, KINGS), BOARD).apply(raise_to(300)).apply(FOLD)
    assert state.values() == (-100, 100)


def test_a_split_pot_is_zero() -> None:
    hole = (parse_cards("QsQc"), parse_cards("QdQh"))
    state = new_hand(HUNL, hole, BOARD).apply(raise_to(20000)).apply(CALL)
    assert state.values() == (0, 0)


def test_only_what_both_can_cover_is_at_stake() -> None:
    state = new_hand(replace(HUNL, stacks=(20000, 1000)), (KINGS, ACES), BOARD)
    state = state.apply(CALL).apply(raise_to(5000)).apply(CALL)
    assert state.values() == (-1000, 1000)


def test_the_board_becomes_visible_round_by_round() -> None:
    state = new_hand(HUNL, (ACES, KINGS), BOARD)
    seen = [state.visible_board]
    for _ in range(3):
        state = state.apply(CALL).apply(CALL)
        seen.append(state.visible_board)
    assert seen == [(), BOARD[:3], BOARD[:4], BOARD]


def test_small_games_compare_few_cards() -> None:
    jack, queen, king = (10 * 4 + 3,), (11 * 4 + 3,), (12 * 4 + 3,)
    kuhn = new_hand(KUHN, (jack, king)).apply(CALL).apply(CALL)
    assert kuhn.values() == (-1, 1)
    paired_queen = (11 * 4 + 2,)
    leduc: HandState = new_hand(LEDUC, (queen, king), paired_queen)
    for _ in range(4):
        leduc = leduc.apply(CALL)
    assert leduc.values() == (1, -1)


def test_values_need_a_finished_hand_and_all_cards() -> None:
    state = new_hand(HUNL, (ACES, ()), BOARD[:3])
    with pytest.raises(GameError, match="position 1 is to act"):
        state.values()
    done = state.apply(raise_to(20000)).apply(CALL)
    with pytest.raises(GameError, match="both players' hole cards"):
        done.values()
    with pytest.raises(GameError, match="whole board"):
        HandState(done.betting, (ACES, KINGS), BOARD[:3]).values()


@pytest.mark.parametrize(
    ("hole", "board", "message"),
    [
        ((ACES, ACES), (), "appears twice"),
        ((ACES, KINGS), ACES, "appears twice"),
        ((ACES[:1], KINGS), (), "has 1 hole cards"),
        ((ACES, KINGS), (*BOARD, 0), "board has 6 cards"),
        (((99, 1), KINGS), (), "not in the deck"),
    ],
)
def test_impossible_cards_are_refused(
    hole: tuple[tuple[int, ...], tuple[int, ...]], board: tuple[int, ...], message: str
) -> None:
    with pytest.raises(CardError, match=message):
        hand_state(start(HUNL), hole, board)


def test_a_later_round_needs_its_board() -> None:
    flop = start(HUNL).apply(CALL).apply(CALL)
    with pytest.raises(CardError, match="needs 3 to 5"):
        hand_state(flop, (ACES, ()), ())


def test_a_short_deck_refuses_cards_outside_it() -> None:
    with pytest.raises(CardError, match="not in the deck"):
        new_hand(KUHN, (parse_cards("2s"), ()))
