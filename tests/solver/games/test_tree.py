from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.menu import parse_menu_book
from game.actions import CALL, FOLD, raise_to
from game.betting import BettingState, start
from game.definition import GameDefinition
from solver.games.tree import (
    CALL_ACTION,
    CHANCE,
    DECISION,
    FOLD_ACTION,
    SHOWDOWN,
    BettingRoot,
    Tree,
    TreeError,
    build_tree,
    even_root,
)
from solver.games.tree import FOLD as FOLD_NODE


@pytest.mark.parametrize(
    ("street", "pot", "behind", "menu", "counts"),
    [
        (3, 1000, 9500, "50%, 100%, a | 100%, a", ((24, 68),)),
        (2, 4000, 8000, "100%, a | a", ((8, 20), (16, 36))),
        (2, 1000, 9500, "50%, 100%, a | 100%, a", ((24, 68), (144, 388))),
        (1, 400, 2000, "100%, a | a", ((8, 20), (24, 60), (56, 132))),
    ],
)
def test_sizes_of_known_trees(
    street: int, pot: int, behind: int, menu: str, counts: tuple[tuple[int, int], ...]
) -> None:
    """The same trees built by b-inary/postflop-solver have these numbers of decision nodes and actions."""
    tree = build_tree(even_root(street, pot, behind), parse_menu_book(menu))
    assert tree.decision_counts() == counts


def follow(tree: Tree, node: int, state: BettingState) -> None:
    """Check that every action of the tree is legal, and leads to the same stakes."""
    kind = tree.kind[node]
    if kind == CHANCE:
        if state.is_finished:  # all-in: only cards follow
            child = int(tree.children_of(node)[0])
            assert tree.kind[child] in (CHANCE, SHOWDOWN)
        follow(tree, int(tree.children_of(node)[0]), state)
        return
    if kind != DECISION:
        assert state.is_finished
        assert state.is_showdown == (kind == SHOWDOWN)
        loser = state.folder if kind == FOLD_NODE else 0
        assert tree.amount[node] == state.spent[loser]
        return
    assert state.actor == tree.player[node]
    assert state.can_fold() == (FOLD_ACTION in tree.actions_of(node))
    for child in tree.children_of(node):
        code = int(tree.action[child])
        action = {FOLD_ACTION: FOLD, CALL_ACTION: CALL}.get(code) or raise_to(code)
        follow(tree, int(child), state.apply(action))


@settings(max_examples=40)
@given(
    big_blind=st.integers(1, 100),
    call=st.integers(1, 30),
    stack=st.integers(200, 3000),
    menu=st.sampled_from(["50%, a | a", "min, 75% | 60%", "2x, 300c | 2.2x, a", "33%, 120% | 60%", "- | a"]),
)
def test_trees_obey_the_rules(big_blind: int, call: int, stack: int, menu: str) -> None:
    definition = GameDefinition(
        no_limit=True,
        stacks=(stack, stack),
        blinds=(big_blind, max(1, big_blind // 2)),
        first_player=(1, 0, 0, 0),
        board_cards=(0, 3, 1, 1),
    )
    state = start(definition)
    for action in (raise_to(min(stack - 1, big_blind * (1 + call))), CALL, CALL, CALL):
        state = state.apply(action)
    root = BettingRoot(2, state.spent, stack, big_blind)
    if state.spent[0] < stack:
        follow(build_tree(root, parse_menu_book(menu)), 0, state)


def test_root_inside_a_round() -> None:
    """Before the answer to a bet of 300 into 400, the rules of the round continue to apply."""
    root = BettingRoot(3, (500, 200), 2000, 100, actor=1, last_raise=300, opened=True)
    tree = build_tree(root, parse_menu_book("min | min, a"))
    assert tree.actions_of(0) == (FOLD_ACTION, CALL_ACTION, 800, 2000)
    assert tree.kind[tree.find((CALL_ACTION,))] == SHOWDOWN
    assert tree.amount[tree.find((FOLD_ACTION,))] == 200


def test_extra_actions_at_any_node() -> None:
    root = even_root(3, 1000, 9500)
    plain = build_tree(root, parse_menu_book("50%, a | a"))
    extra = build_tree(root, parse_menu_book("50%, a | a"), {(): (777,), (CALL_ACTION,): (900, 20_000)})
    assert set(extra.actions_of(0)) == {*plain.actions_of(0), 777}
    assert set(extra.actions_of(extra.find((CALL_ACTION,)))) == {CALL_ACTION, 900, 1000, 10_000}


def test_too_large_trees_are_refused() -> None:
    with pytest.raises(TreeError, match="offer fewer sizes"):
        build_tree(even_root(1, 10, 100_000), parse_menu_book("min, 10%, 20%, 30%"), max_nodes=10_000)


def test_history_of_is_the_inverse_of_find() -> None:
    tree = build_tree(even_root(2, 1000, 3000), parse_menu_book("100%, a | a"))
    for node in range(tree.num_nodes):
        if tree.kind[node] == DECISION:
            assert tree.find(tree.history_of(node)) == node
    with pytest.raises(KeyError, match="no action 17"):
        tree.find((17,))


def test_dead_chips_are_shared() -> None:
    tree = build_tree(even_root(3, 101, 100), parse_menu_book("a"))
    assert tree.amount[tree.find((CALL_ACTION, CALL_ACTION))] == 50.5
