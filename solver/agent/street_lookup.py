"""Flop and turn decisions looked up in the blueprint, for when there is no time to solve.

Too few iterations are worse than none: they leave turns exploitable by 5 to 30 % of pot and lose to the
blueprint. Only hands whose bets are all in the blueprint's tree are looked up; for others the blueprint has
no exact answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from abstraction.buckets import BLOCKED
from game.betting import BettingState
from game.cards import Cards
from numeric.arrays import F32
from solver.blueprint.file import FULL, Blueprint
from solver.blueprint.walk import BlueprintWalk
from solver.decisions.decision import Decision, Method
from solver.decisions.look_up import StrategyTable, look_up
from solver.games.history import betting_states, step_code
from solver.resolving.context import Context
from solver.resolving.ranges import narrowed_range


@dataclass(frozen=True, slots=True)
class BlueprintStreets:
    """Strategies and ranges after the first round by lookup."""

    blueprint: Blueprint
    walk: BlueprintWalk

    def decide(self, betting: BettingState, board: Cards, context: Context) -> Decision | None:
        """The strategy of every hand, both ranges and the replies; None if a bet is not in the tree.

        context  from our last decision, or from the end of the first round
        """
        started = time.monotonic()
        states = betting_states(betting)
        nodes = self._nodes(states)
        if nodes is None:
            return None
        table = StrategyTable(self.blueprint.tree, lambda node: self._rows(node, board), Method.BLUEPRINT)
        ranges = self._ranges(states, nodes, board, context, betting.actor)
        return look_up(table, nodes[-1], betting, board, ranges, started)

    def _nodes(self, states: list[BettingState]) -> list[int] | None:
        """The tree nodes of the states, or None if a bet is not in the tree."""
        tree, nodes = self.blueprint.tree, [0]
        for step in pairwise(states):
            codes, code = tree.actions_of(nodes[-1]), step_code(*step)
            if code not in codes:
                return None
            child = int(tree.children_of(nodes[-1])[codes.index(code)])
            nodes.append(int(self.walk.tree.landing[child]))
        return nodes

    def _ranges(
        self, states: list[BettingState], nodes: list[int], board: Cards, context: Context, own: int
    ) -> F32:
        """The context's ranges, updated by both players' actions since then."""
        ranges = context.ranges.copy()
        since = [state.text for state in states].index(context.text)
        for i, (before, after) in enumerate(pairwise(states)):
            if i < since:
                continue
            code, seen = step_code(before, after), board[: before.definition.board_size(before.round_index)]
            is_reply = i == since and before.actor != own and code in context.replies
            taken = context.replies[code] if is_reply else self._row(nodes[i], code, seen)
            ranges[before.actor] = narrowed_range(ranges[before.actor], taken)
        return ranges

    def _row(self, node: int, code: int, board: Cards) -> F32:
        row: F32 = self._rows(node, board)[self.blueprint.tree.actions_of(node).index(code)]
        return row

    def _rows(self, node: int, board: Cards) -> F32:
        """float32[A, 1326]: action probabilities; any values for blocked hands."""
        buckets = self.blueprint.cards.buckets(board)
        known = np.where(buckets == BLOCKED, 0, buckets)
        return np.asarray(self.blueprint.rows(node)[:, known] / np.float32(FULL), dtype=np.float32)
