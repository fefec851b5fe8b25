"""Play-outs hand against hand, by recursion and in float64: the slow twin of `leaves.kernels.rollout`."""

from __future__ import annotations

import numpy as np

from game.cards import Cards
from game.hands import HAND_CARDS
from game.showdown import showdown_rank
from solver.blueprint.file import Blueprint
from solver.games.tree import CALL_ACTION, CHANCE, DECISION, FOLD, FOLD_ACTION
from solver.leaves.match import SHOWDOWN_ONLY, Leaf


def action_weights(blueprint: Blueprint, node: int, bucket: int, factors: np.ndarray) -> np.ndarray:
    """Probabilities of a node's actions with those of folds, calls and raises multiplied by `factors`."""
    codes = blueprint.tree.actions_of(node)
    kinds = [0 if code == FOLD_ACTION else 1 if code == CALL_ACTION else 2 for code in codes]
    weights = blueprint.rows(node)[:, bucket].astype(np.float64) * factors[kinds]
    return weights / weights.sum()


def play_out(
    blueprint: Blueprint, leaf: Leaf, hands: tuple[int, int], river: Cards, factors: np.ndarray
) -> float:
    """What player 0 wins on a run-out, both players' hands given.

    factors  float64[2, 3]: of the folds, calls and raises of each player
    """
    tree = blueprint.tree
    ranks = [showdown_rank((*(int(c) for c in HAND_CARDS[h]), *river)) for h in hands]
    sign = float(ranks[0] > ranks[1]) - float(ranks[0] < ranks[1])
    if leaf.blueprint_node == SHOWDOWN_ONLY:
        return sign * leaf.stake

    def value(node: int) -> float:
        if tree.kind[node] == DECISION:
            player = int(tree.player[node])
            board = river[: int(tree.round[node]) + 2]
            bucket = blueprint.cards.bucket(board, hands[player])
            weights = action_weights(blueprint, node, bucket, factors[player])
            children = tree.children_of(node).tolist()
            return sum(w * value(child) for w, child in zip(weights, children, strict=True))
        if tree.kind[node] == CHANCE:
            return value(int(tree.children_of(node)[0]))
        stake = min(float(tree.amount[node]) * leaf.scale, leaf.stack)
        if tree.kind[node] == FOLD:
            return -stake if tree.player[node] == 0 else stake
        return sign * stake

    return value(leaf.blueprint_node)
