"""Warm start of solves to the end of the hand: the blueprint's strategies on every card that may come.

As on flops (`solver.depth_limited.flop_start`): a turn with wide ranges has time for some dozen iterations,
and from zero the first of them only relearn what the blueprint knows. Both players start from its strategies,
on the turn and on all rivers, and the iterations correct them.
"""

from __future__ import annotations

import numpy as np

from abstraction.buckets import BLOCKED
from numeric.arrays import F32, I64
from solver.blueprint.file import FULL, Blueprint
from solver.blueprint.walk import OFF_TREE, WalkTree
from solver.depth_limited.flop_start import action_shares, near_twins
from solver.depth_limited.kernels.starts import KnownStrategies, start_board
from solver.exact.solver import Solver
from solver.games.tree import CHANCE, DECISION
from solver.leaves.match import Twins

_ITERATIONS = 5
"""Iterations that the blueprint counts as in the average."""
_REGRET = 3.0
"""Initial regret of a strategy, in chips per chip of the bet to call."""
_LEAST_REACH = 1e-3
"""Minimum reach of the opponent at every node, as a share of the range, so that nodes that are never reached
start from the blueprint, too."""


def warm_start_turn(solver: Solver, blueprint: Blueprint, walk: WalkTree, twins: Twins) -> None:
    """Initialise both players' strategies in a solver that has not run yet.

    The average is only initialised in the first round; strategies of later rounds are never played. If the
    hand's bets are not in the blueprint the solve starts from zero, because iterations that nobody played
    must not count.
    """
    assert solver.iterations == 0, "a warm start comes before the first iteration"
    game = solver.game
    assert game.tree.num_rounds <= 2, "reach is kept for one board of each round but the last"
    near = near_twins(game.tree, walk, twins)
    if near.decision(0, walk) == OFF_TREE:
        return
    solver.head_start = _ITERATIONS
    weight = solver.schedule.sum_of_weights(_ITERATIONS)
    least = (_LEAST_REACH * game.ranges.sum(axis=1)).astype(np.float32)
    reach = np.zeros((game.tree.num_nodes, 2, game.num_hands), dtype=np.float32)
    reach[0] = game.ranges
    for r in range(game.tree.num_rounds):
        openings, counts = _known_strategies(solver, blueprint, walk, near, r), weight if r == 0 else 0.0
        for board in game.boards_of_round(r):
            start_board(
                openings, _buckets(solver, blueprint, board), game.chance[r], least, counts,
                int(game.boards.table[board]), game.stride, reach, solver.regret, solver.average,
            )  # fmt: skip
        for node in np.flatnonzero((game.tree.kind == CHANCE) & (game.tree.round == r)).tolist():
            reach[game.tree.children_of(node)] = reach[node]


def _known_strategies(
    solver: Solver, blueprint: Blueprint, walk: WalkTree, twins: Twins, r: int
) -> KnownStrategies:
    tree = solver.game.tree
    nodes = np.flatnonzero((tree.kind == DECISION) & (tree.round == r)).tolist()
    known: list[F32] = []
    strategy, stakes = np.full(len(nodes), -1, dtype=np.int64), np.zeros(len(nodes), dtype=np.float32)
    children = np.full(tree.round_rows[r], -1, dtype=np.int32)
    size, num_buckets = 0, 0
    for k, node in enumerate(nodes):
        following = tree.children_of(node)
        row = int(tree.action_row[node])
        goes_on = (tree.kind[following] == DECISION) | (tree.kind[following] == CHANCE)
        children[row : row + len(following)] = np.where(goes_on, following, -1)
        twin = twins.decision(node, walk)
        if twin == OFF_TREE:
            continue
        shares = action_shares(walk, twin, tree.actions_of(node), int(twins.faced[node]))
        rows = shares @ (blueprint.rows(twin).astype(np.float32) / FULL)
        strategy[k], stakes[k] = size, _REGRET * float(twins.faced[node])
        known.append(rows.astype(np.float32).ravel())
        size, num_buckets = size + rows.size, rows.shape[1]
    table = np.array(
        [(n, tree.player[n], tree.action_row[n], len(tree.children_of(n))) for n in nodes], dtype=np.int32
    ).reshape(-1, 4)
    strategies = np.concatenate(known) if known else np.zeros(0, dtype=np.float32)
    return KnownStrategies(table, strategy, stakes, strategies, num_buckets, children)


def _buckets(solver: Solver, blueprint: Blueprint, board: int) -> I64:
    """int64[H]: bucket of each hand of the game; 0 for hands that the board blocks."""
    found = blueprint.cards.buckets(solver.game.board_cards[board])[solver.game.labels].astype(np.int64)
    return np.where(found == BLOCKED, 0, found)
