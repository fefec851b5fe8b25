"""Solves the first round over the 169 hand classes, up to the flop (Brown, Sandholm and Amos, 2018).

1. The tree has the blueprint's menus and every bet that was made in the hand. It can be solved from any
   decision on, with the ranges that both players bring there (`solver.agent.preflop_solves`).
2. At the end of the round the opponent chooses among the strategies of the blueprint's leaf table
   (`solver.depth_limited.opponent_values`). A leaf is matched to the table by its betting and scaled by its
   pot. Folds and all-ins are leaves with a single value.
3. Reaches are per hand, not per class. The matrices are multiplied by the number of pairs of hands, so that
   each class counts as often as it has hands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from abstraction.menu import parse_menu_book
from game.definition import GameDefinition
from game.hands import NUM_CLASSES
from numeric.arrays import F32
from solver.blueprint.walk import WalkTree
from solver.depth_limited.kernels.first_round import PickedMatrices, multiply_picked
from solver.depth_limited.solver import DepthLimitedSolver
from solver.equity.class_pairs import class_pairs, class_wins
from solver.exact.cut import cut_tree
from solver.exact.schedules import cfr_plus
from solver.games.betting_tree import Extra, build_hand_tree
from solver.games.layout import Step
from solver.games.toys import one_card_game
from solver.games.tree import CHANCE, FOLD, BettingRoot, Tree
from solver.leaves.match import SHOWDOWN_ONLY, match_leaves

SCHEDULE = cfr_plus(2.0)
"""Schedule of solves of the first round."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassLeaves:
    """Leaf values as matrices over classes. See `solver.LeafValues`."""

    matrices: F32
    """float32[M, 169, 169]: what the chooser's opponent wins, times pairs of hands."""
    picked: PickedMatrices
    """The matrices of each leaf: one per choice, or a single one if the choice makes no difference."""
    num_choices: int
    both_choose: bool = False

    def next_sample(self) -> None:
        """Do nothing: values are not sampled."""

    def evaluate(self, for_chooser: bool, reach: F32, value: F32, step: Step | None = None) -> None:  # noqa: ARG002
        """See `LeafValues`."""
        multiply_picked(self.matrices, self.picked, for_chooser, reach, value)


@dataclass(frozen=True, slots=True, eq=False)
class LeafTable:
    """Values of the leaves of the blueprint's first round, for one seat of the chooser."""

    nodes: tuple[int, ...]
    """The blueprint's decision nodes that begin the second round."""
    values: F32
    """float32[L, K, 169, 169] in big blinds: what the chooser's opponent wins."""


def preflop_tree(definition: GameDefinition, menus: str, extra: Extra) -> Tree:
    """The tree of the first round, cut off at its end."""
    return build_hand_tree(definition, parse_menu_book(menus), extra=extra, max_rounds=1)


def preflop_solver(
    definition: GameDefinition,
    tree: Tree,
    blueprint: WalkTree,
    table: LeafTable,
    chooser: int,
    root: int = 0,
    ranges: F32 | None = None,
) -> DepthLimitedSolver:
    """Make a solver of the first round against a chooser.

    tree    from `preflop_tree`
    root    decision node to start from; the solved game has the tree `cut_tree(tree, root)`
    ranges  float32[2, 169]: weight per hand of each class at the root; uniform by default
    """
    part = cut_tree(tree, root)
    leaves = _leaf_values(definition, tree, blueprint, table, chooser, range(root, root + part.num_nodes))
    ends = (part.kind == FOLD) | (part.kind == CHANCE)
    all_leaves = replace(part, kind=np.where(ends, CHANCE, part.kind).astype(part.kind.dtype))
    game = one_card_game(all_leaves, NUM_CLASSES, lambda _: np.zeros(NUM_CLASSES, dtype=np.int64), ranges)
    return DepthLimitedSolver(game, leaves, chooser, SCHEDULE)


def _leaf_values(
    definition: GameDefinition, tree: Tree, blueprint: WalkTree, table: LeafTable, chooser: int, part: range
) -> ClassLeaves:
    """Values of every fold and leaf among the nodes `part` of a tree, in node order."""
    stack, blind = min(definition.stacks), definition.big_blind
    root = BettingRoot(0, (definition.blinds[0], definition.blinds[1]), stack, blind)
    place = {node: i for i, node in enumerate(table.nodes)}
    pairs, num_choices = class_pairs(), table.values.shape[1]
    found = [leaf for leaf in match_leaves(tree, root, blueprint, 0) if leaf.node in part]
    matrices = np.empty((2 + num_choices * len(found), NUM_CLASSES, NUM_CLASSES), dtype=np.float32)
    fold, all_in, used = 0, 1, 2
    matrices[fold], matrices[all_in] = pairs, pairs * class_wins()
    picks: dict[int, tuple[int, int, float]] = {}  # first matrix, number of matrices, factor
    for leaf in found:
        if leaf.blueprint_node == SHOWDOWN_ONLY:
            picks[leaf.node] = all_in, 1, leaf.stake
        else:
            picks[leaf.node] = used, num_choices, 1.0
            own = matrices[used : used + num_choices]
            np.multiply(table.values[place[leaf.blueprint_node]], np.float32(blind * leaf.scale), out=own)
            np.clip(own, -leaf.stack, leaf.stack, out=own)
            own *= pairs
            used += num_choices
    for node in np.flatnonzero(tree.kind == FOLD).tolist():
        if node in part:
            gain = tree.amount[node] if tree.player[node] == chooser else -tree.amount[node]
            picks[node] = fold, 1, gain
    first, count, stake = zip(*[picks[node] for node in sorted(picks)], strict=True)
    picked = PickedMatrices(np.array(first), np.array(count), np.array(stake, dtype=np.float32))
    return ClassLeaves(matrices[:used], picked, num_choices)
