"""Finds the blueprint's subtree for each leaf of a depth-limited tree.

A leaf is matched by its betting: the round's actions are replayed in the blueprint's tree, each raise as the
nearest offered size by the pseudo-harmonic measure. The blueprint's values from there on are scaled by the
ratio of the pots (Brown, Sandholm and Amos, 2018, appendix), and limited to the stack.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from abstraction.translation import pot_fraction, pseudo_harmonic
from numeric.arrays import I64
from solver.blueprint.walk import OFF_TREE, WalkTree, abstract_call
from solver.exact.cut import cut_tree, thin_tree
from solver.games.tree import CALL_ACTION, CHANCE, DECISION, FOLD_ACTION, BettingRoot, Tree

SHOWDOWN_ONLY = -1


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of a depth-limited tree and its match in the blueprint."""

    node: int
    """Node of the depth-limited tree."""
    stake: float
    """Chips each player has put in, including half of the dead money."""
    blueprint_node: int
    """The blueprint's next decision node, or SHOWDOWN_ONLY if there is no more betting."""
    scale: float
    """Chips in this game per chip in the blueprint."""
    stack: float
    """Upper bound of a player's loss, in chips."""

    def subtree(self, blueprint: Tree, kept: npt.NDArray[np.bool_] | None = None) -> tuple[Tree, I64]:
        """The blueprint's tree from there on in the leaf's chips, and its nodes' numbers in the blueprint.

        kept  bool[N]: nodes of the blueprint to keep (`exact.cut.thin_tree`), all of them by default
        """
        tree, first = cut_tree(blueprint, self.blueprint_node), self.blueprint_node
        origin = np.arange(first, first + tree.num_nodes)
        if kept is not None:
            here = kept[origin]
            tree, origin = thin_tree(tree, here), origin[here]
        np.minimum(tree.amount * self.scale, self.stack, out=tree.amount)
        return tree, origin


@dataclass(frozen=True, slots=True, eq=False)
class Twins:
    """The blueprint's match of each node of a tree."""

    nodes: I64
    """int64[N]: blueprint nodes, or OFF_TREE."""
    faced: I64
    """int64[N]: the bet to call, as a total over the hand."""

    def decision(self, node: int, blueprint: WalkTree) -> int:
        """The blueprint's decision that stands for one of the tree's, or OFF_TREE."""
        twin = int(self.nodes[node])
        return twin if twin != OFF_TREE and blueprint.kind[twin] == DECISION else OFF_TREE


def match_nodes(tree: Tree, root: BettingRoot, blueprint: WalkTree, blueprint_root: int) -> Twins:
    """Match every node of a tree, over one or more rounds, to the blueprint's tree.

    blueprint_root  the blueprint's decision node for the root, or OFF_TREE
    """
    nodes = np.full(tree.num_nodes, OFF_TREE, dtype=np.int64)
    faced = np.zeros(tree.num_nodes, dtype=np.int64)
    nodes[0], faced[0] = blueprint_root, max(root.spent)
    for node in np.flatnonzero((tree.kind == DECISION) | (tree.kind == CHANCE)).tolist():
        twin, to_call = int(nodes[node]), int(faced[node])
        if tree.kind[node] == CHANCE:  # the twin is already the decision after the card
            nodes[tree.children_of(node)], faced[tree.children_of(node)] = twin, to_call
            continue
        lost = twin == OFF_TREE or blueprint.kind[twin] != DECISION
        for child in tree.children_of(node).tolist():
            action = int(tree.action[child])
            faced[child] = max(action, to_call)
            if lost or action == FOLD_ACTION:
                continue
            if action == CALL_ACTION:
                nodes[child] = abstract_call(blueprint, twin)
            else:
                nodes[child] = nearest_raise(blueprint, twin, action, to_call, action >= root.stack)
    return Twins(nodes, faced)


def match_leaves(tree: Tree, root: BettingRoot, blueprint: WalkTree, blueprint_root: int) -> list[Leaf]:
    """The leaves of a tree made with `max_rounds=1`, in node order.

    blueprint_root  the blueprint's decision node for the root, or OFF_TREE: then there is no betting after
                    the leaves
    """
    return leaves_of(tree, root, blueprint, match_nodes(tree, root, blueprint, blueprint_root))


def leaves_of(tree: Tree, root: BettingRoot, blueprint: WalkTree, twins: Twins) -> list[Leaf]:
    """The leaves of a tree whose nodes are matched."""
    stack = root.stack + root.dead / 2
    leaves = []
    for node in np.flatnonzero(tree.kind == CHANCE).tolist():
        twin, stake = int(twins.nodes[node]), float(tree.amount[node])
        goes_on = stake < stack and twin != OFF_TREE and blueprint.kind[twin] == DECISION
        scale = stake / float(blueprint.faced[twin]) if goes_on else 1.0
        leaves.append(Leaf(node, stake, twin if goes_on else SHOWDOWN_ONLY, scale, stack))
    return leaves


def nearest_raise(blueprint: WalkTree, node: int, total: int, faced: int, all_in: bool) -> int:
    """The child that is nearest to a raise to `total`; OFF_TREE if the blueprint offers no raise.

    Unless the raise is all-in, an all-in child is only chosen if there is no other, as no betting follows it.
    """
    children = blueprint.children[blueprint.first_child[node] : blueprint.first_child[node + 1]].tolist()
    raises = [child for child in children if blueprint.action[child] > CALL_ACTION]
    if not raises:
        return OFF_TREE
    if blueprint.action[raises[-1]] >= blueprint.stack and len(raises) > 1 - all_in:
        if all_in:
            return int(raises[-1])
        raises.pop()
    size = pot_fraction(total, faced)
    sizes = [pot_fraction(int(blueprint.action[child]), int(blueprint.faced[node])) for child in raises]
    for i in range(len(raises) - 1):
        if size <= sizes[i]:
            return int(raises[i])
        if size < sizes[i + 1]:
            lower = pseudo_harmonic(size, sizes[i], sizes[i + 1]) >= 0.5
            return int(raises[i] if lower else raises[i + 1])
    return int(raises[-1])
