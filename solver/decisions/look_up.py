"""Reads a decision from a table of strategies: the blueprint's or a flop book's."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from game.betting import BettingState
from game.cards import Cards
from game.hands import unblocked
from numeric.arrays import F32
from solver.decisions.decision import Decision, Method
from solver.decisions.range_strategy import RangeStrategy
from solver.games.history import coded_action
from solver.games.tree import CALL_ACTION, DECISION, Tree
from solver.resolving.ranges import keep_alive


def look_up(
    betting: BettingState,
    board: Cards,
    tree: Tree,
    node: int,
    rows: Callable[[int], F32],
    ranges: F32,
    method: Method,
    started: float,
    iterations: int = 0,
) -> Decision:
    """The decision at a node of a tree: the strategy of every hand, and the opponent's calls after it.

    rows     float32[A, 1326] of a decision node; any values for blocked hands
    ranges   float32[2, 1326] at the decision
    started  by `time.monotonic`
    """
    live = unblocked(board)
    actions = tuple([coded_action(code) for code in tree.actions_of(node)])
    replies = {
        action: {CALL_ACTION: rows(child)[tree.actions_of(child).index(CALL_ACTION)]}
        for action, child in zip(actions, tree.children_of(node).tolist(), strict=True)
        if tree.kind[child] == DECISION
    }
    return Decision(
        betting,
        board,
        RangeStrategy(actions, rows(node) * live.astype(np.float32)),
        np.stack([keep_alive(weights, live) for weights in ranges]),
        method,
        iterations,
        {"look_up": time.monotonic() - started},
        replies,
    )
