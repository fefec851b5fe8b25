"""Warm start of flop solves from the blueprint's strategies.

A few dozen iterations from zero know less about a flop than the blueprint does. So both players start from
its strategies, which count as some finished iterations: without further iterations they are what is played,
and each iteration corrects them for the actual ranges and bets (strategy-based warm starting; Brown and
Sandholm, 2016).
"""

from __future__ import annotations

from math import log

import numpy as np

from abstraction.translation import pot_fraction
from game.cards import Cards
from numeric.arrays import F32, I64
from solver.blueprint.file import FULL, Blueprint
from solver.blueprint.walk import OFF_TREE, WalkTree
from solver.depth_limited.solver import DepthLimitedSolver
from solver.games.tree import CALL_ACTION, CHANCE, DECISION, Tree
from solver.leaves.match import Twins, nearest_raise

_ITERATIONS = 30
"""Iterations that the blueprint counts as in the average."""
_REGRET = 10.0
"""Initial regret of a strategy, in chips per chip of the bet to call. On two flops (`fathom bench play`) 60
and 200 iterations lost 0.7 and 0.2 % of pot with 1, 0.4 and 0.2 with 10, 0.4 and 0.3 with 30, 1.4 and 0.6
from zero."""
_SIMILAR = log(2.0)
"""A raise more than twice or less than half of another, in pots, does not match it."""


def warm_start_flop(
    solver: DepthLimitedSolver, blueprint: Blueprint, walk: WalkTree, twins: Twins, board: Cards
) -> None:
    """Initialise both players' strategies in a flop solver that has not run yet.

    If the hand's bets are not in the blueprint the solve starts from zero, because iterations that nobody
    played must not count.
    """
    game = solver.game
    strategies = blueprint_strategies(blueprint, walk, game.tree, twins, board, game.labels)
    if 0 not in strategies:
        return
    stakes = {node: _REGRET * float(twins.faced[node]) for node in strategies}
    solver.warm_start(strategies, stakes, _ITERATIONS)


def blueprint_strategies(
    blueprint: Blueprint, walk: WalkTree, tree: Tree, twins: Twins, board: Cards, labels: I64
) -> dict[int, F32]:
    """float32[A, H] for every decision node of a flop tree that has a match in the blueprint.

    labels  int64[H]: hand indices, none blocked by the board
    """
    buckets = blueprint.cards.buckets(board)[labels]
    near = near_twins(tree, walk, twins)
    strategies = {}
    for node in np.flatnonzero(tree.kind == DECISION).tolist():
        twin = near.decision(node, walk)
        if twin != OFF_TREE:
            shares = action_shares(walk, twin, tree.actions_of(node), int(twins.faced[node]))
            rows = blueprint.rows(twin)[:, buckets].astype(np.float32) / FULL
            strategies[node] = np.asarray(shares @ rows, dtype=np.float32)
    return strategies


def near_twins(tree: Tree, walk: WalkTree, twins: Twins) -> Twins:
    """The same twins without those below a raise that the blueprint has none like.

    The blueprint's answer to a bet of one pot is no answer to one of sixty, and where the opponent hardly
    ever bets, a warm start with it would stay.
    """
    nodes = twins.nodes.copy()
    for node in np.flatnonzero((tree.kind == DECISION) | (tree.kind == CHANCE)).tolist():
        children = tree.children_of(node)
        twin = int(nodes[node])
        if twin == OFF_TREE:
            nodes[children] = OFF_TREE
        elif tree.kind[node] == DECISION and walk.kind[twin] == DECISION:
            shares = action_shares(walk, twin, tree.actions_of(node), int(twins.faced[node]))
            nodes[children[~shares.any(axis=1)]] = OFF_TREE
    return Twins(nodes, twins.faced)


def action_shares(walk: WalkTree, twin: int, codes: tuple[int, ...], faced: int) -> F32:
    """float32[A, B]: share of each blueprint action that each of our actions gets; columns add up to 1.

    Each of our raises takes the nearest raise of the blueprint, if it is near enough; several that take the
    same one share it equally. A blueprint raise that none of ours takes goes to our nearest raise, or to a
    call.
    """
    children = walk.children[walk.first_child[twin] : walk.first_child[twin + 1]].tolist()
    theirs = {child: pot_fraction(int(walk.action[child]), int(walk.faced[twin])) for child in children}
    ours = {a: pot_fraction(code, faced) for a, code in enumerate(codes) if code > CALL_ACTION}
    shares = np.zeros((len(codes), len(children)), dtype=np.float32)
    for a, size in ours.items():
        all_in = codes[a] >= walk.stack
        raised = nearest_raise(walk, twin, codes[a], faced, all_in)
        if raised != OFF_TREE and (
            (all_in and walk.action[raised] >= walk.stack) or abs(log(size / theirs[raised])) <= _SIMILAR
        ):
            shares[a, children.index(raised)] = 1
    call = codes.index(CALL_ACTION)
    for b, child in enumerate(children):
        code = int(walk.action[child])
        if code <= CALL_ACTION:
            shares[codes.index(code) if code in codes else call, b] = 1
        elif not shares[:, b].any():
            nearest = min(ours, key=lambda a: abs(log(ours[a] / theirs[child])), default=call)
            shares[nearest, b] = 1
    shares /= shares.sum(axis=0)
    return shares
