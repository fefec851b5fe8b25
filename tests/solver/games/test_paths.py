from __future__ import annotations

import numpy as np
import pytest

from game.cards import cards_text
from solver.games.paths import PathError, action_names, action_words, chips_paid, find_action, find_place
from solver.games.tree import CHANCE, DECISION
from tests.solver.small_spots import river_spot, small_spot, turn_spot

SPOT = river_spot("50%, 100%, a | 2x, 100%, a")
GAME = SPOT.game()
TURN = turn_spot()
TURN_GAME = TURN.game()


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("", "root"),
        ("root", "root"),
        ("x", "x"),
        ("b50%", "b50"),
        ("50%", "b50"),
        ("b50", "b50"),
        ("b50c", "b50"),
        ("B50", "b50"),
        ("a", "a"),
        ("b400", "a"),
        ("b999%", "a"),
        ("x/b100%", "x/b100"),
        (" x / b100% ", "x/b100"),
        ("b50/r2x", "b50/r100"),
        ("b50/r100%", "b50/r250"),
        ("b50/r100/r100%", "b50/r100/a"),
    ],
)
def test_paths_lead_to_decisions_and_have_one_shortest_form(path: str, canonical: str) -> None:
    place = find_place(SPOT, GAME, path)
    assert place.path == canonical
    assert find_place(SPOT, GAME, canonical) == place
    assert GAME.tree.kind[place.node] == DECISION


def test_every_decision_has_a_path_that_leads_back() -> None:
    tree = TURN_GAME.tree

    def check(path: str) -> int:
        place = find_place(TURN, TURN_GAME, path)
        seen = 1
        for word, child in zip(
            action_words(TURN, tree, place), tree.children_of(place.node).tolist(), strict=True
        ):
            step = word if place.path == "root" else f"{place.path}/{word}"
            if tree.kind[child] == CHANCE and tree.kind[child + 1] == DECISION:
                step, child = f"{step}/9d", child + 1
            if tree.kind[child] == DECISION:
                assert find_place(TURN, TURN_GAME, step).node == child
                seen += check(step)
        return seen

    assert check("") == int((tree.kind == DECISION).sum())


def test_cards_of_a_path_select_a_board() -> None:
    place = find_place(TURN, TURN_GAME, "b50%/c/td/x")
    assert place.path == "b50/c/Td/x"
    assert cards_text(place.cards) == "AhKd7h4cTd"
    assert place.spent == (100, 100)
    assert chips_paid(TURN, place) == (100, 100)
    anywhere = find_place(TURN, TURN_GAME, "b50%/c/*/x")
    assert anywhere.node == place.node
    assert anywhere.any_card
    assert anywhere.cards == TURN.board


def test_odd_pots_are_split_in_halves() -> None:
    spot = small_spot("AhKd7h4c2s", 101, 400, "100%")
    place = find_place(spot, spot.game(), "b100%")
    assert sum(chips_paid(spot, place)) == 202
    assert place.path == "b101"


def test_actions_have_words_and_names() -> None:
    start, facing = find_place(SPOT, GAME, ""), find_place(SPOT, GAME, "b50")
    assert action_words(SPOT, GAME.tree, start) == ("x", "b50", "b100", "a")
    assert action_names(SPOT, GAME.tree, start) == ("check", "bet 50", "bet 100", "all-in 400")
    assert action_words(SPOT, GAME.tree, facing) == ("f", "c", "r100", "r250", "a")
    assert action_names(SPOT, GAME.tree, facing) == (
        "fold", "call 50", "raise to 100", "raise to 250", "all-in 400",
    )  # fmt: skip
    assert find_action(SPOT, GAME.tree, facing, "r2x") == 2


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("b75", "'b75' is not offered at the root: write one of x, b50, b100, a"),
        ("f", "'f' is not offered at the root"),
        ("c", "there is no bet to call: write x"),
        ("b50/x", "there is a bet to call: write c"),
        ("hello", "'hello' is not an action: at the root write one of"),
        ("x//x", "'' is not an action"),
        ("Td", "at the root no card comes"),
        ("b50/c", "after b50/c there is nothing to decide any more"),
        ("b50/f", "after b50/f there is nothing to decide any more"),
        ("x/x/x", "after x/x the hand is over"),
    ],
)
def test_wrong_paths_say_what_to_write(path: str, message: str) -> None:
    with pytest.raises(PathError, match=message.replace("(", r"\(")):
        find_place(SPOT, GAME, path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("x/x", "after x/x the next card comes: add it to the path, e.g. x/x/As"),
        ("x/x/b50", "the next card comes, not 'b50': write e.g. As"),
        ("x/x/Ah", "the card Ah is on the board already: AhKd7h4c"),
        ("a/c", "after a/c there is nothing to decide"),
        ("a/c/Td", "after a/c both players are all-in"),
    ],
)
def test_wrong_cards_say_what_to_write(path: str, message: str) -> None:
    with pytest.raises(PathError, match=message):
        find_place(TURN, TURN_GAME, path)


def test_histories_are_the_trees_own() -> None:
    for node in np.flatnonzero(GAME.tree.kind == DECISION).tolist():
        assert GAME.tree.find(GAME.tree.history_of(node)) == node
