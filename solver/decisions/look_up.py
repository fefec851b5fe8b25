"""Reads a decision from a table of strategies: the blueprint's or a flop book's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from game.betting import BettingState
from game.cards import Cards
from game.hands import unblocked
from numeric.arrays import F32
from solver.decisions.decision import Decision, Method
from solver.decisions.range_strategy import RangeStrategy
from solver.games.history import coded_action
from solver.games.tree import CALL_ACTION, DECISION, Tree
from solver.resolving.ranges import living_range


@dataclass(frozen=True, slots=True, eq=False)
class StrategyTable:
    """Strategies of a whole tree on one board, known in advance."""

    tree: Tree
    rows: Callable[[int], F32]
    """float32[A, 1326] of a decision node; any values for blocked hands."""
    method: Method
    iterations: int = 0
    """Iterations of the solve that it comes from, if it was one."""


def look_up(
    table: StrategyTable, node: int, betting: BettingState, board: Cards, ranges: F32, started: float
) -> Decision:
    """The decision at a node of a table: the strategy of every hand, and the opponent's calls after it.

    ranges   float32[2, 1326] at the decision
    started  by `time.monotonic`
    """
    tree, rows, live = table.tree, table.rows, unblocked(board)
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
        np.stack([living_range(weights, live) for weights in ranges]),
        table.method,
        table.iterations,
        {"look_up": time.monotonic() - started},
        replies,
    )
