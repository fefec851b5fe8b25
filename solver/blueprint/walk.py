"""Follows a real betting history through a blueprint's betting tree, and maps its actions to real ones.

1. A call maps to a call. A raise maps to a raise of the node's menu: to all-in if it is all-in and the node
   offers that; to the size that would itself map to this raise, if there is one; otherwise to one of the two
   neighbours by pot fraction, drawn pseudo-harmonically, or to the nearest size beyond the ends of the menu.
2. The draw is a function of the hand's seed and the index of the action, so a hand is always translated
   alike.
3. Both games stay in step: same round, same player, something to call in both or in neither. That ends when
   the abstract hand ends (a bet was mapped to all-in and called), or at a raise where the node offers none:
   then the history is `OFF_TREE`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from abstraction.translation import pot_fraction, pseudo_harmonic, same_fraction
from game.actions import CALL, FOLD, LIMIT_RAISE, Action, ActionKind, raise_to
from game.betting import BettingState, start
from game.definition import GameDefinition
from numeric.arrays import I32
from numeric.draws import unit_at
from numeric.jit import kernel
from solver.games.tree import CALL_ACTION, CHANCE, DECISION, FOLD_ACTION, Tree

OFF_TREE = -1

KEYS_PER_ACTION = 2
TRANSLATION_KEY = 0
"""Of a hand's random numbers (`unit_at`), action i has two: for its translation and for its choice."""
CHOICE_KEY = 1


class WalkTree(NamedTuple):
    """A betting tree as the kernels follow it: int32 arrays over the tree's nodes."""

    kind: I32
    action: I32
    first_child: I32
    """[N + 1]"""
    children: I32
    """Fold, call, raises ascending."""
    codes: I32
    """Action codes that lead to `children`."""
    faced: I32
    """The bet to call at a node, as a total over the hand; equal for both players when there is none."""
    landing: I32
    """The node reached through a node: the node itself, or past chance nodes the next decision."""
    stack: int


def make_walk_tree(tree: Tree, definition: GameDefinition) -> WalkTree:
    """Lay out the tree of a hand for walking."""
    faced = np.full(tree.num_nodes, definition.big_blind, dtype=np.int32)
    for n in range(1, tree.num_nodes):
        faced[n] = max(tree.action[n], faced[tree.parent[n]])
    landing = np.arange(tree.num_nodes, dtype=np.int32)
    for n in range(tree.num_nodes - 1, -1, -1):
        if tree.kind[n] == CHANCE:
            landing[n] = landing[tree.children[tree.first_child[n]]]
    arrays = (tree.kind, tree.action, tree.first_child, tree.children)
    kind, action, first_child, children = (np.ascontiguousarray(array, dtype=np.int32) for array in arrays)
    stack = min(definition.stacks)
    return WalkTree(kind, action, first_child, children, action[children], faced, landing, stack)


class BlueprintWalk:
    """One blueprint's tree. Safe to share between threads."""

    def __init__(self, tree: Tree, definition: GameDefinition) -> None:
        self.definition = definition
        self.tree = make_walk_tree(tree, definition)

    def find(self, betting: BettingState, seed: int) -> int:
        """The decision node that matches a running hand, or OFF_TREE."""
        tree = self.tree
        state, node, index = start(betting.definition), 0, 0
        for actions in betting.actions:
            for action in actions:
                draw = unit_at(np.uint64(seed), KEYS_PER_ACTION * index + TRANSLATION_KEY)
                node = self._step(node, state, action, draw)
                if node == OFF_TREE or tree.kind[node] != DECISION:
                    return OFF_TREE
                state, index = state.apply(action), index + 1
        return node

    def real_action(self, node: int, child: int, betting: BettingState) -> Action:
        """The real action for an action of the tree, which is given by the child node it leads to."""
        code = int(self.tree.action[child])
        if code == FOLD_ACTION:
            return FOLD if betting.to_call else CALL
        bounds = betting.raise_bounds()
        if code == CALL_ACTION or bounds is None:
            return CALL
        if not self.definition.no_limit:
            return LIMIT_RAISE
        return raise_to(real_total(self.tree, node, child, betting.max_spent, *bounds))

    def outcomes(self, node: int, state: BettingState, action: Action) -> tuple[tuple[int, float], ...]:
        """Every node that `find` may go to from a node by a real action, with its probability."""
        if node == OFF_TREE:
            return ((OFF_TREE, 1.0),)
        low, high = self._step(node, state, action, 0.0), self._step(node, state, action, 1.0)
        found = [(low, 1.0)]
        if low != high:
            faced = int(self.tree.faced[node])
            fractions = [pot_fraction(int(self.tree.action[child]), faced) for child in (low, high)]
            chance = pseudo_harmonic(pot_fraction(action.raise_to, state.max_spent), *fractions)
            found = [(low, chance), (high, 1.0 - chance)]
        return tuple([(n if self.tree.kind[n] == DECISION else OFF_TREE, chance) for n, chance in found])

    def _step(self, node: int, state: BettingState, action: Action, draw: float) -> int:
        tree = self.tree
        if action.kind is ActionKind.RAISE:
            bounds = state.raise_bounds()
            assert bounds is not None
            if not self.definition.no_limit:
                last = int(tree.children[tree.first_child[node + 1] - 1])
                return last if tree.action[last] > 0 else OFF_TREE
            return abstract_raise(tree, node, action.raise_to, state.max_spent, *bounds, draw)
        return abstract_call(tree, node)


@kernel
def abstract_call(tree: WalkTree, node: int) -> int:
    """The node after a check or call, which every decision offers."""
    first = tree.first_child[node]
    call = tree.children[first]
    if tree.action[call] == FOLD_ACTION:
        call = tree.children[first + 1]
    return int(tree.landing[call])


@kernel
def real_total(tree: WalkTree, node: int, child: int, faced: int, least: int, most: int) -> int:
    """The legal raise-to total of an abstract raise: all-in for all-in, otherwise the same pot fraction.

    node         where the raise is made
    child        the node it leads to
    faced        the real bet to call
    least, most  bounds of a legal raise
    """
    total = int(tree.action[child])
    if total >= tree.stack:
        return most
    return min(max(same_fraction(total, int(tree.faced[node]), faced), least), most)


@kernel
def abstract_raise(
    tree: WalkTree, node: int, total: int, faced: int, least: int, most: int, draw: float
) -> int:
    """The node that matches a real raise to `total`, or OFF_TREE if the node offers no raise."""
    last = tree.first_child[node + 1] - 1
    first = last + 1
    while first > tree.first_child[node] and tree.codes[first - 1] > CALL_ACTION:
        first -= 1
    if first > last:
        return OFF_TREE
    if total >= most and tree.codes[last] >= tree.stack:
        return int(tree.children[last])
    own_faced = int(tree.faced[node])
    fraction = pot_fraction(total, faced)
    best, closest = OFF_TREE, np.inf
    for i in range(first, last + 1):
        child = int(tree.children[i])
        if real_total(tree, node, child, faced, least, most) == total:
            distance = abs(pot_fraction(int(tree.codes[i]), own_faced) - fraction)
            if distance < closest:
                best, closest = child, distance
    if best != OFF_TREE:
        return best
    above = first
    while above <= last and pot_fraction(int(tree.codes[above]), own_faced) < fraction:
        above += 1
    if above == first:
        return int(tree.children[first])
    if above > last:
        return int(tree.children[last])
    low = pot_fraction(int(tree.codes[above - 1]), own_faced)
    high = pot_fraction(int(tree.codes[above]), own_faced)
    return int(tree.children[above - 1 if draw < pseudo_harmonic(fraction, low, high) else above])
