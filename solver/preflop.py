"""Solving the first round: all of it, over the 169 classes, to the flop (Brown, Sandholm and Amos, 2018).

1. The tree is that of the blueprint's menus and of every bet that was made in the hand besides. The whole
   round is solved again for each new bet, and kept (`solver.preflop_play`).
2. Where the round ends, the opponent chooses among the strategies of the blueprint's table
   (`solver.opponent_values`); the leaf is matched by betting and scaled by the pot. Folds and all-ins are
   leaves with one value.
3. Reaches are weights of a hand; a class counts as often as it has hands: its matrices hold pairs of hands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from abstraction.menu import parse_menu_book
from game.definition import GameDefinition
from game.hands import NUM_CLASSES
from solver.betting_tree import Extra, build_hand_tree
from solver.blueprint_walk import WalkTree
from solver.class_pairs import class_pairs, class_wins
from solver.depth_limited import DepthLimitedSolver
from solver.layout import F32, Step
from solver.leaf_match import SHOWDOWN_ONLY, match_leaves
from solver.schedules import cfr_plus
from solver.toys import one_card_game
from solver.tree import CHANCE, FOLD, BettingRoot, Tree


@dataclass(frozen=True, slots=True, eq=False)
class ClassLeaves:
    """Values of leaves as matrices over classes. See `depth_limited.LeafValues`."""

    matrices: tuple[F32, ...]
    """float32[K or 1, 169, 169] for each leaf: what the chooser's opponent wins, times pairs of hands."""
    num_choices: int
    both_choose: bool = False

    def next_sample(self) -> None:
        """Nothing is sampled."""

    def evaluate(self, for_chooser: bool, reach: F32, value: F32, step: Step | None = None) -> None:  # noqa: ARG002
        """See `LeafValues`."""
        for leaf, matrices in enumerate(self.matrices):
            if for_chooser:
                value[leaf, 1:, :NUM_CLASSES] = -np.matmul(reach[leaf, 0, :NUM_CLASSES], matrices)
            elif len(matrices) == 1:
                together = reach[leaf, 1:, :NUM_CLASSES].sum(axis=0)
                value[leaf, 0, :NUM_CLASSES] = matrices[0] @ together
            else:
                rows = np.matmul(matrices, reach[leaf, 1:, :NUM_CLASSES, None])
                value[leaf, 0, :NUM_CLASSES] = rows[..., 0].sum(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class LeafTable:
    """What follows each leaf of the blueprint's first round, for one seat of the chooser."""

    nodes: tuple[int, ...]
    """The blueprint's decisions that begin the second round."""
    values: F32
    """float32[L, K, 169, 169] in big blinds: what the chooser's opponent wins."""


def preflop_tree(definition: GameDefinition, menus: str, extra: Extra) -> Tree:
    """The first round, cut off where it ends."""
    return build_hand_tree(definition, parse_menu_book(menus), extra=extra, max_rounds=1)


def preflop_solver(
    definition: GameDefinition, tree: Tree, blueprint: WalkTree, table: LeafTable, chooser: int
) -> DepthLimitedSolver:
    """A solver of the first round against a chooser.

    tree  of `preflop_tree`
    """
    matrices = _leaf_matrices(definition, tree, blueprint, table, chooser)
    ends = (tree.kind == FOLD) | (tree.kind == CHANCE)
    all_leaves = replace(tree, kind=np.where(ends, CHANCE, tree.kind).astype(tree.kind.dtype))
    game = one_card_game(all_leaves, NUM_CLASSES, lambda _: np.zeros(NUM_CLASSES, dtype=np.int64))
    leaves = ClassLeaves(matrices, table.values.shape[1])
    return DepthLimitedSolver(game, leaves, chooser, cfr_plus(2.0))


def _leaf_matrices(
    definition: GameDefinition, tree: Tree, blueprint: WalkTree, table: LeafTable, chooser: int
) -> tuple[F32, ...]:
    """For every fold and every leaf, in the order of the nodes."""
    stack, blind = min(definition.stacks), definition.big_blind
    spent = definition.blinds[0], definition.blinds[1]
    root = BettingRoot(0, spent, stack, blind)
    place = {node: i for i, node in enumerate(table.nodes)}
    pairs = class_pairs()
    matrices: dict[int, F32] = {}
    for leaf in match_leaves(tree, root, blueprint, 0):
        if leaf.blueprint_node == SHOWDOWN_ONLY:
            matrices[leaf.node] = (pairs * class_wins() * np.float32(leaf.stake))[None]
        else:
            chips = table.values[place[leaf.blueprint_node]] * np.float32(blind * leaf.scale)
            matrices[leaf.node] = pairs * np.clip(chips, -leaf.stack, leaf.stack)
    for node in np.flatnonzero(tree.kind == FOLD).tolist():
        gain = tree.amount[node] if tree.player[node] == chooser else -tree.amount[node]
        matrices[node] = (pairs * np.float32(gain))[None]
    return tuple([np.ascontiguousarray(matrices[node], dtype=np.float32) for node in sorted(matrices)])
