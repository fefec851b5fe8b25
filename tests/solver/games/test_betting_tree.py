from __future__ import annotations

import numpy as np
import pytest

from abstraction.menu import MenuBook, parse_menu_book
from game.betting import start
from game.definition import HUNL, KUHN, LEDUC, GameDefinition
from solver.games import toys
from solver.games.betting_tree import build_hand_tree
from solver.games.tree import CALL_ACTION, DECISION, FOLD, SHOWDOWN, BettingRoot, Tree, TreeError, build_tree


@pytest.mark.parametrize(("definition", "make"), [(KUHN, toys.kuhn), (LEDUC, toys.leduc)])
def test_small_games_have_the_same_trees_as_in_the_exact_engine(
    definition: GameDefinition, make: object
) -> None:
    ours, theirs = build_hand_tree(definition, MenuBook()), make().tree  # type: ignore[operator]
    for name in Tree.__slots__:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


def test_flop_subtree_equals_the_subgame_tree() -> None:
    """The builder from the rules and the builder of subgames must agree after a limp and a check."""
    menus = parse_menu_book("preflop: a | a; 50%, 100%, a | 100%, a | a; river: 75% | a | -")
    whole = build_hand_tree(HUNL, menus)
    flop = build_tree(BettingRoot(1, (100, 100), 20_000, big_blind=100), menus)
    root = whole.find((CALL_ACTION, CALL_ACTION))
    for node in np.flatnonzero(flop.kind == DECISION):
        history = flop.history_of(int(node))
        same = whole.find((CALL_ACTION, CALL_ACTION, *history))
        assert whole.actions_of(same) == flop.actions_of(int(node))
        assert whole.player[same] == flop.player[node]
        ends = [(int(flop.kind[c]), float(flop.amount[c])) for c in flop.children_of(int(node))]
        assert ends == [(int(whole.kind[c]), float(whole.amount[c])) for c in whole.children_of(same)]
    assert whole.round[root] == 1


def test_blinds_are_not_a_bet() -> None:
    tree = build_hand_tree(HUNL, parse_menu_book("preflop: 3x, a | 100% | a; 100% | a"))
    assert tree.actions_of(0) == (-1, 0, 300, 20_000)
    assert tree.actions_of(tree.find((0,))) == (0, 300, 20_000)  # the big blind's option after a limp
    assert tree.actions_of(tree.find((300,))) == (-1, 0, 900)  # a pot raise: 300 + 600
    assert tree.actions_of(tree.find((300, 900))) == (-1, 0, 20_000)
    assert tree.actions_of(tree.find((300, 900, 20_000))) == (-1, 0)


def test_every_path_is_legal_and_terminals_pay_by_the_rules() -> None:
    tree = build_hand_tree(HUNL, parse_menu_book("preflop: 3x | a; 100%, a | a"))
    for node in np.flatnonzero((tree.kind == FOLD) | (tree.kind == SHOWDOWN))[::7]:
        state = start(HUNL)
        for code in tree.history_of(int(node)):
            text = {-1: "f", 0: "c"}.get(code, f"r{code}")
            bounds = state.raise_bounds()
            state = state.apply(next(a for a in _actions(text)))
            if code > 0:
                assert bounds is not None
                assert bounds[0] <= code <= bounds[1]
        assert state.is_finished
        assert state.is_showdown == (tree.kind[node] == SHOWDOWN)
        assert tree.amount[node] == min(state.spent)


def _actions(text: str) -> list[object]:
    from game.actions import CALL, FOLD, raise_to

    return [{"f": FOLD, "c": CALL}.get(text) or raise_to(int(text[1:]))]


def test_bad_input_is_refused() -> None:
    with pytest.raises(TreeError, match="more than 50 nodes"):
        build_hand_tree(HUNL, parse_menu_book("50%, a"), max_nodes=50)
    uneven = GameDefinition(True, (500, 900), (100, 50), (1,), (0,))
    with pytest.raises(TreeError, match="equal stacks"):
        build_hand_tree(uneven, MenuBook())
