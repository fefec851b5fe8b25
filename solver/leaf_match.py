"""Which part of the blueprint stands for what follows a leaf of a depth-limited tree.

A leaf is matched by its betting: the actions of the round are replayed in the blueprint's tree, each raise as
the offered one closest in size by the pseudo-harmonic measure (Ganzfried and Sandholm, 2013), all-in as
all-in. What the blueprint wins from there is scaled by the ratio of the pots (Brown, Sandholm and Amos,
2018, appendix), and nobody can lose more than his stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.cut import cut_tree
from solver.tree import CALL_ACTION, CHANCE, DECISION, FOLD_ACTION, BettingRoot, Tree

SHOWDOWN_ONLY = -1


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where a depth-limited tree ends and what stands for the rest."""

    node: int
    """Of the depth-limited tree."""
    stake: float
    """What each player has put in, half of the dead money included."""
    blueprint_node: int
    """The blueprint's decision that follows, or SHOWDOWN_ONLY if nobody can bet any more."""
    scale: float
    """Chips here for a chip there."""
    stack: float
    """Nobody can lose more."""

    def subtree(self, blueprint: Tree) -> Tree:
        """The blueprint's tree from there on, in the leaf's chips."""
        tree = cut_tree(blueprint, self.blueprint_node)
        np.minimum(tree.amount * self.scale, self.stack, out=tree.amount)
        return tree


def match_leaves(tree: Tree, root: BettingRoot, blueprint: Tree, blueprint_root: int) -> list[Leaf]:
    """The leaves of a tree made with `max_rounds=1`, in order.

    blueprint_root  the decision of the blueprint that stands for the root, with the same player to act
    """
    if blueprint.kind[blueprint_root] != DECISION or blueprint.player[blueprint_root] != root.actor:
        raise ValueError(f"node {blueprint_root} of the blueprint is no decision of player {root.actor}")
    leaves: list[Leaf] = []
    stack = float(root.stack) + root.dead / 2
    full_stake = float(blueprint.amount.max())

    def walk(node: int, spent: tuple[int, int], twin: int, twin_spent: tuple[float, float]) -> None:
        if tree.kind[node] == CHANCE:
            stake = float(tree.amount[node])
            twin = _past_chance(blueprint, twin)
            open_end = stake < stack and twin >= 0 and blueprint.kind[twin] == DECISION
            scale = stake / max(twin_spent) if open_end else 1.0
            leaves.append(Leaf(node, stake, twin if open_end else SHOWDOWN_ONLY, scale, stack))
            return
        if tree.kind[node] != DECISION:
            return
        actor = int(tree.player[node])
        other, twin_other = spent[1 - actor], twin_spent[1 - actor]
        for child in tree.children_of(node).tolist():
            action = int(tree.action[child])
            if action == FOLD_ACTION:
                continue
            if action == CALL_ACTION:
                following = _child(blueprint, twin, CALL_ACTION)
                walk(child, (other, other), following, (twin_other, twin_other))
                continue
            size = (action - other) / (2 * other + root.dead)
            following = _closest_raise(blueprint, twin, size, action >= root.stack, twin_other, full_stake)
            raised = float(blueprint.action[following]) if following >= 0 else twin_other
            pair = (action, other) if actor == 0 else (other, action)
            twin_pair = (raised, twin_other) if actor == 0 else (twin_other, raised)
            walk(child, pair, following, twin_pair)

    walk(0, root.spent, blueprint_root, spent_at(blueprint, blueprint_root, root.big_blind))
    return leaves


def spent_at(blueprint: Tree, node: int, big_blind: int) -> tuple[float, float]:
    """What both players have put in before a decision of a whole hand's tree (player 0 has the big blind)."""
    spent = [float(big_blind), big_blind / 2]
    path = []
    while node > 0:
        path.append(node)
        node = int(blueprint.parent[node])
    actor = int(blueprint.player[0])
    for step in reversed(path):
        parent, action = int(blueprint.parent[step]), int(blueprint.action[step])
        if blueprint.kind[parent] != DECISION:
            continue
        actor = int(blueprint.player[parent])
        spent[actor] = spent[1 - actor] if action == CALL_ACTION else float(action)
    return spent[0], spent[1]


def harmonic_share(below: float, above: float, size: float) -> float:
    """How much of a bet between two sizes belongs to the smaller one, all as shares of the pot."""
    return (above - size) * (1 + below) / ((above - below) * (1 + size))


def _closest_raise(
    blueprint: Tree, node: int, size: float, all_in: bool, other: float, full_stake: float
) -> int:
    """The child of the raise that is most like one of `size` pots; -1 if the blueprint has none."""
    if node < 0 or blueprint.kind[node] != DECISION:
        return -1
    raises = [int(c) for c in blueprint.children_of(node) if blueprint.action[c] > CALL_ACTION]
    pushes = [c for c in raises if blueprint.action[c] >= full_stake]
    if all_in and pushes:
        return pushes[0]
    raises = [c for c in raises if c not in pushes] or raises
    if not raises:
        return -1
    sizes = [(float(blueprint.action[c]) - other) / (2 * other) for c in raises]
    return raises[_closest(sizes, size)]


def _closest(sizes: Sequence[float], size: float) -> int:
    """Index of the size that stands for another, `sizes` ascending."""
    for i in range(1, len(sizes)):
        if size <= sizes[i - 1]:
            return i - 1
        if size < sizes[i]:
            return i - 1 if harmonic_share(sizes[i - 1], sizes[i], size) >= 0.5 else i
    return len(sizes) - 1


def _child(tree: Tree, node: int, action: int) -> int:
    if node < 0 or tree.kind[node] != DECISION:
        return -1
    matches = [int(c) for c in tree.children_of(node) if tree.action[c] == action]
    return matches[0] if matches else -1


def _past_chance(tree: Tree, node: int) -> int:
    while node >= 0 and tree.kind[node] == CHANCE:
        node = int(tree.children_of(node)[0])
    return node
