from __future__ import annotations

from dataclasses import replace

import pytest

from game.actions import CALL, FOLD, LIMIT_RAISE, Action, raise_to
from game.betting import NOBODY, BettingState, start
from game.definition import HUNL, LEDUC, LIMIT_HOLDEM, GameDefinition
from game.errors import IllegalAction


def play(definition: GameDefinition, *actions: Action) -> BettingState:
    state = start(definition)
    for action in actions:
        state = state.apply(action)
    return state


def test_a_fresh_hand_has_the_blinds_posted_and_the_button_to_act() -> None:
    state = start(HUNL)
    assert state.spent == (100, 50)
    assert state.actor == 1
    assert state.raise_bounds() == (200, 20000)
    assert state.to_call == 50


# The reference dealer's minimum raises: (actions so far, smallest raise-to).
@pytest.mark.parametrize(
    ("actions", "least"),
    [
        ((), 200),
        ((CALL,), 200),
        ((raise_to(300),), 500),
        ((raise_to(300), CALL), 400),
        ((raise_to(300), raise_to(500)), 700),
        ((raise_to(250), raise_to(1000)), 1750),
        ((raise_to(15000),), 20000),
        ((CALL, CALL, raise_to(250)), 400),
    ],
)
def test_minimum_raise(actions: tuple[Action, ...], least: int) -> None:
    bounds = play(HUNL, *actions).raise_bounds()
    assert bounds == (least, 20000)


def test_a_short_all_in_does_not_lower_the_next_raise() -> None:
    game = replace(HUNL, stacks=(20000, 1000))
    state = play(game, raise_to(700), raise_to(1400))
    assert state.actor == 1
    assert state.raise_bounds() is None  # 1000 does not exceed 1400
    done = state.apply(CALL)
    assert done.is_showdown
    assert done.spent == (1400, 1000)


def test_an_all_in_call_skips_to_the_showdown() -> None:
    state = play(HUNL, raise_to(20000), CALL)
    assert state.is_showdown
    assert state.text == "r20000c///"
    assert state.round_index == 3


def test_the_opponent_of_an_all_in_cannot_raise() -> None:
    state = play(HUNL, raise_to(20000))
    assert state.raise_bounds() is None
    with pytest.raises(IllegalAction, match="all-in; call or fold"):
        state.apply(raise_to(20000))


def test_the_last_of_64_actions_cannot_be_a_raise() -> None:
    game = replace(HUNL, stacks=(1_000_000, 1_000_000))
    state = start(game)
    for _ in range(63):
        bounds = state.raise_bounds()
        assert bounds is not None
        state = state.apply(raise_to(bounds[0]))
    assert state.raise_bounds() is None
    with pytest.raises(IllegalAction, match="64 actions"):
        state.apply(raise_to(1_000_000))
    assert state.apply(CALL).round_index == 1


def test_the_big_blind_has_an_option_after_a_limp() -> None:
    state = play(HUNL, CALL)
    assert (state.actor, state.round_index) == (0, 0)
    assert not state.can_fold()
    assert state.apply(CALL).text == "cc/"


def test_the_big_blind_still_acts_after_a_small_blind_calls_all_in() -> None:
    # As in the reference dealer, posting a blind is not a turn.
    game = replace(HUNL, stacks=(20000, 80))
    state = play(game, CALL)
    assert state.actor == 0
    assert state.raise_bounds() is None
    done = state.apply(CALL)
    assert done.is_showdown
    assert done.spent == (100, 80)


def test_blinds_can_put_a_player_all_in() -> None:
    state = start(replace(HUNL, stacks=(20000, 50)))
    assert state.actor == 0
    assert state.apply(CALL).is_showdown


def test_fold_ends_the_hand_in_its_round() -> None:
    state = play(HUNL, CALL, CALL, raise_to(300), FOLD)
    assert state.is_finished
    assert not state.is_showdown
    assert state.folder == 1
    assert state.text == "cc/r300f"
    with pytest.raises(IllegalAction, match="over"):
        state.apply(CALL)
    with pytest.raises(IllegalAction, match="over"):
        _ = state.to_call


def test_refusals_say_what_to_do() -> None:
    state = play(HUNL, CALL)
    with pytest.raises(IllegalAction, match="check instead"):
        state.apply(FOLD)
    with pytest.raises(IllegalAction, match=r"raise to 200\.\.20000 instead"):
        state.apply(raise_to(199))
    with pytest.raises(IllegalAction, match=r"raise to 200\.\.20000 instead"):
        state.apply(raise_to(20001))


def test_limit_raises_are_fixed_and_capped() -> None:
    state = play(LIMIT_HOLDEM, LIMIT_RAISE, LIMIT_RAISE, LIMIT_RAISE)
    assert state.spent == (30, 40)
    assert state.raise_bounds() is None
    assert state.text == "rrr"
    with pytest.raises(IllegalAction, match="used up"):
        state.apply(LIMIT_RAISE)
    with pytest.raises(IllegalAction, match="fixed size: leave out the 20"):
        start(LIMIT_HOLDEM).apply(raise_to(20))


def test_leduc_round_two_doubles_the_bet() -> None:
    state = play(LEDUC, CALL, CALL, LIMIT_RAISE, LIMIT_RAISE, CALL)
    assert state.spent == (9, 9)
    assert state.is_showdown
    assert state.actor == NOBODY


def test_the_text_of_an_action_is_a_plain_string() -> None:
    for action, text in ((FOLD, "f"), (CALL, "c"), (LIMIT_RAISE, "r"), (raise_to(300), "r300")):
        assert str(action) == text
        assert type(str(action)) is str
