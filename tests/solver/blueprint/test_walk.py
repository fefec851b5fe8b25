from __future__ import annotations

from random import Random

import numpy as np
import pytest

from abstraction.menu import parse_menu_book
from game.actions import CALL, Action, ActionKind, raise_to
from game.betting import BettingState, start
from game.definition import HUNL, LIMIT_HOLDEM, GameDefinition
from numeric.draws import seed_at, unit_at
from solver.blueprint.walk import OFF_TREE, BlueprintWalk, abstract_raise, real_total
from solver.games.betting_tree import build_hand_tree
from solver.games.tree import DECISION, Tree
from tests.reference import translation as slow

TINY = "preflop: 3x | a; 100% | a"
WIDE = "preflop: 2x, 3x | 100%, a | a; 50%, 100%, a | 100%, a | a"
NO_ALL_IN = "50%, 100% | 100% | -"
MENUS = (TINY, WIDE, NO_ALL_IN)


def walk_and_tree(menus: str, definition: GameDefinition = HUNL) -> tuple[BlueprintWalk, Tree]:
    tree = build_hand_tree(definition, parse_menu_book(menus))
    return BlueprintWalk(tree, definition), tree


def replay(tree: Tree, node: int) -> BettingState:
    state = start(HUNL)
    for action in tree.history_of(node):
        state = state.apply(CALL if action == 0 else raise_to(action))
    return state


@pytest.mark.kernel
@pytest.mark.parametrize("menus", MENUS)
def test_histories_of_the_tree_find_their_own_node(menus: str) -> None:
    walk, tree = walk_and_tree(menus)
    decisions = np.flatnonzero(tree.kind == DECISION)
    for node in decisions[:: max(1, len(decisions) // 200)]:
        state = replay(tree, int(node))
        assert walk.find(state, seed=int(node)) == node
        for child in tree.children_of(int(node)):
            action = walk.real_action(int(node), int(child), state)
            code = int(tree.action[child])
            expected = Action(ActionKind.FOLD) if code < 0 else CALL if code == 0 else raise_to(code)
            assert action == expected


def random_state(rng: Random) -> tuple[BettingState, list[BettingState]]:
    """A running hand after random actions, and the states before each of them."""
    state, passed = start(HUNL), []
    for _ in range(rng.randrange(12)):
        passed.append(state)
        bounds = state.raise_bounds()
        if bounds is not None and rng.random() < 0.6:
            least, most = bounds
            span = (most - least) * rng.random() ** rng.choice((1, 4, 8))
            following = state.apply(raise_to(rng.choice((least, most, least + int(span), least + int(span)))))
        else:
            following = state.apply(CALL)
        if following.is_finished:
            break
        state = following
    return state, passed


@pytest.mark.kernel
@pytest.mark.parametrize("menus", MENUS)
def test_any_history_finds_a_matching_node_or_is_off_tree(menus: str) -> None:
    walk, tree = walk_and_tree(menus)
    rng = Random(5)
    off_tree = 0
    for seed in range(300):
        state, _ = random_state(rng)
        node = walk.find(state, seed)
        assert walk.find(state, seed) == node
        if node == OFF_TREE:
            off_tree += 1
            continue
        assert tree.kind[node] == DECISION
        assert tree.player[node] == state.actor
        assert tree.round[node] == state.round_index
        assert (tree.actions_of(node)[0] < 0) == (state.to_call > 0)
        for child in tree.children_of(node):
            state.verify(walk.real_action(node, int(child), state))
    assert off_tree < 250


@pytest.mark.kernel
@pytest.mark.parametrize("menus", MENUS)
def test_raise_mapping_matches_the_reference(menus: str) -> None:
    walk, tree = walk_and_tree(menus)
    rng = Random(9)
    checked = 0
    while checked < 300:
        state, _ = random_state(rng)
        bounds, node = state.raise_bounds(), walk.find(state, checked)
        if bounds is None or node == OFF_TREE:
            continue
        checked += 1
        sizes = [code for code in tree.actions_of(node) if code > 0]
        total = rng.choice(
            (*bounds, rng.randint(*bounds), min(max(2 * state.max_spent, bounds[0]), bounds[1]))
        )
        draw = rng.random()
        found = abstract_raise(walk.tree, node, total, state.max_spent, *bounds, draw)
        if not sizes:
            assert found == OFF_TREE
            continue
        faced = int(walk.tree.faced[node])
        expected = slow.abstract_raise(sizes, 20000, faced, total, state.max_spent, *bounds, draw)
        assert tree.action[found] == expected
        assert tree.parent[found] == node
        for child in tree.children_of(node):
            code = int(tree.action[child])
            if code > 0:
                ours = real_total(walk.tree, node, int(child), state.max_spent, *bounds)
                assert ours == slow.real_total(code, 20000, faced, state.max_spent, *bounds)


@pytest.mark.kernel
def test_own_bet_sizes_map_back_to_themselves() -> None:
    walk, tree = walk_and_tree(WIDE)
    rng = Random(11)
    checked = 0
    while checked < 200:
        state, _ = random_state(rng)
        node = walk.find(state, checked)
        checked += 1
        if node == OFF_TREE:
            continue
        children = [int(child) for child in tree.children_of(node)]
        actions = [walk.real_action(node, child, state) for child in children]
        for child, action in zip(children, actions, strict=True):
            following = None if action.kind is ActionKind.FOLD else state.apply(action)
            if following is None or following.is_finished or actions.count(action) > 1:
                continue
            landed = walk.find(following, checked - 1)
            assert landed == (
                walk.tree.landing[child] if tree.kind[walk.tree.landing[child]] == DECISION else OFF_TREE
            )


@pytest.mark.kernel
def test_raise_mapping_examples() -> None:
    walk, tree = walk_and_tree(WIDE)
    state = start(HUNL).apply(raise_to(250))
    # 2x and 3x are half a pot and a pot over 100; 250 is three quarters: (1 - .75)(1.5) / (.5 · 1.75) to 2x.
    nodes = [walk.find(state, seed) for seed in range(400)]
    share = np.mean([tree.action[node] == 200 for node in nodes])
    assert set(tree.action[nodes]) == {200, 300}
    assert share == pytest.approx(3 / 7, abs=0.08)
    # Nothing above 3x except all-in: the largest other size stands for everything larger.
    assert tree.action[walk.find(start(HUNL).apply(raise_to(20000)), 1)] == 300
    # All-in over a raise stays all-in, and a min-raise maps to the smallest size.
    raised = start(HUNL).apply(raise_to(300))
    assert tree.action[walk.find(raised.apply(raise_to(20000)), 1)] == 20000
    assert tree.action[walk.find(raised.apply(raise_to(500)), 1)] == 900


@pytest.mark.kernel
def test_limit_games_have_one_raise() -> None:
    walk, tree = walk_and_tree("", LIMIT_HOLDEM)
    state = start(LIMIT_HOLDEM)
    for _ in range(2):
        node = walk.find(state, 1)
        action = walk.real_action(node, int(tree.children_of(node)[-1]), state)
        assert action.kind is ActionKind.RAISE
        state = state.apply(action)
    assert walk.find(state, 1) == tree.find((20, 30))


@pytest.mark.kernel
def test_random_numbers_are_a_function_of_seed_and_key() -> None:
    for seed, key in ((0, 0), (1, 0), (2**63 + 12345, 7), (2**64 - 1, 2**31 - 1)):
        assert unit_at(np.uint64(seed), key) == slow.hash32(seed, key) / 2**32
        high, low = slow.hash32(seed, 2 * key), slow.hash32(seed, 2 * key + 1)
        assert int(seed_at(np.uint64(seed), key)) == high << 32 | low
    units = np.array(
        [unit_at(np.uint64(seed_at(np.uint64(3), n)), key) for n in range(500) for key in range(4)]
    )
    assert abs(units.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 2000)
    columns = np.corrcoef(units.reshape(500, 4).T) - np.eye(4)
    assert abs(columns).max() < 4 / np.sqrt(500)
