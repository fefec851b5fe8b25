"""Thins the blueprint's betting after the flop: learned leaves then learn with few iterations.

At each turn and river decision one bet is kept, the one nearest to the pot, and all-ins that are not many
times the pot. A bet that is dropped is replaced by the nearest one that is left, or by a call.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from game.definition import GameDefinition
from numeric.arrays import U8
from solver.games.tree import CALL_ACTION, DECISION, Tree

_MOST_ALL_IN = 2.5
"""Largest all-in to keep, in pots: larger ones are rare, and few iterations learn little about them."""
_TURN = 2


class Thinning(NamedTuple):
    """The kept part of a blueprint's tree."""

    kept: npt.NDArray[np.bool_]
    """bool[N]"""
    becomes: U8
    """uint8[N, most actions]: for each action of a decision node, its index, or its nearest's, among those
    kept."""


def every_action(tree: Tree) -> U8:
    """`Thinning.becomes` of a tree that keeps all actions."""
    most = int(np.diff(tree.first_child).max())
    return np.tile(np.arange(most, dtype=np.uint8), (tree.num_nodes, 1))


def make_thinning(tree: Tree, definition: GameDefinition) -> Thinning:
    """Thin turn and river of a blueprint's tree."""
    faced = np.full(tree.num_nodes, definition.big_blind, dtype=np.int64)
    kept, becomes = np.ones(tree.num_nodes, dtype=np.bool_), every_action(tree)
    for node in range(tree.num_nodes):
        if node:
            parent = int(tree.parent[node])
            faced[node] = max(int(tree.action[node]), int(faced[parent]))
            kept[node] &= kept[parent]
        if kept[node] and tree.kind[node] == DECISION and tree.round[node] >= _TURN:
            _thin_node(tree, node, int(faced[node]), min(definition.stacks), kept, becomes)
    return Thinning(kept, becomes)


def _thin_node(
    tree: Tree, node: int, faced: int, stack: int, kept: npt.NDArray[np.bool_], becomes: U8
) -> None:
    children = tree.children_of(node).tolist()
    pots = {
        child: (int(tree.action[child]) - faced) / (2 * faced)
        for child in children
        if tree.action[child] > CALL_ACTION
    }
    bets = [child for child in pots if tree.action[child] < stack]
    all_ins = [child for child in pots if tree.action[child] >= stack and pots[child] <= _MOST_ALL_IN]
    left = sorted(bets, key=lambda child: abs(log(pots[child])))[:1] + all_ins
    if not left and not tree.action[children[0]] < CALL_ACTION:  # a decision node needs two actions
        left = sorted(pots, key=lambda child: pots[child])[:1]
    for child in pots:
        kept[child] = child in left
    number = {child: i for i, child in enumerate([child for child in children if kept[child]])}
    call = next(child for child in children if tree.action[child] == CALL_ACTION)
    for a, child in enumerate(children):
        if kept[child]:
            becomes[node, a] = number[child]
        else:
            nearest = min(left, key=lambda other: abs(log(pots[other] / pots[child])), default=call)
            becomes[node, a] = number[nearest]
