"""The first round looked up in the blueprint: bets are translated, ranges follow from Bayes' rule."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from game.actions import CALL
from game.betting import BettingState
from game.cards import Cards
from game.hands import HAND_CLASS, unblocked
from numeric.arrays import F32
from solver.blueprint.file import FULL, Blueprint
from solver.blueprint.walk import OFF_TREE, BlueprintWalk
from solver.decisions.decision import Decision, Method
from solver.decisions.limits import Limits
from solver.decisions.range_strategy import RangeStrategy, merge_actions
from solver.games.history import betting_states
from solver.games.tree import CALL_ACTION
from solver.resolving.context import Context
from solver.resolving.ranges import full_ranges, narrowed_range

PREFLOP = 0


class BlueprintPreflop:
    """Strategies and ranges of the first round by lookup."""

    def __init__(self, blueprint: Blueprint, walk: BlueprintWalk) -> None:
        self._blueprint, self._walk = blueprint, walk

    def solves(self, betting: BettingState) -> bool:  # noqa: ARG002
        """Whether a decision is solved: never."""
        return False

    def decide(
        self,
        betting: BettingState,
        board: Cards,
        context: Context | None,  # noqa: ARG002
        seed: int,
        limits: Limits,  # noqa: ARG002
    ) -> Decision:
        """The strategy of every hand, and both ranges."""
        started = time.monotonic()
        ranges = self._ranges(betting_states(betting), seed)
        strategy = self._strategy(betting, board, seed)
        phases = {"look_up": time.monotonic() - started}
        return Decision(betting, board, strategy, ranges, Method.BLUEPRINT, 0, phases)

    def context(self, betting: BettingState, seed: int, limits: Limits) -> Context:  # noqa: ARG002
        """The context of the player to act at the start of the flop."""
        states = betting_states(betting)
        first = next(i for i, state in enumerate(states) if state.round_index > PREFLOP)
        return Context(states[first].text, self._ranges(states[: first + 1], seed), {})

    def _ranges(self, states: list[BettingState], seed: int) -> F32:
        """float32[2, 1326]: both ranges at the last state, under the blueprint."""
        ranges = full_ranges()
        for before, after in pairwise(states):
            taken = self._taken(before, after, seed)
            if taken is not None:
                ranges[before.actor] = narrowed_range(ranges[before.actor], taken)
        return ranges

    def _strategy(self, betting: BettingState, board: Cards, seed: int) -> RangeStrategy:
        """The strategy of every hand; off the blueprint's tree every hand calls."""
        node = self._walk.find(betting, seed)
        live = unblocked(board).astype(np.float32)
        if node == OFF_TREE:
            return RangeStrategy((CALL,), live[None, :])
        rows = np.asarray(
            self._blueprint.rows(node)[:, HAND_CLASS] / np.float32(FULL) * live, dtype=np.float32
        )
        children = self._blueprint.tree.children_of(node).tolist()
        actions = [self._walk.real_action(node, child, betting) for child in children]
        return merge_actions(actions, rows)

    def _taken(self, before: BettingState, after: BettingState, seed: int) -> F32 | None:
        """float32[1326]: the blueprint's probability of the action between two states; None off its tree."""
        node = self._walk.find(before, seed)
        if node == OFF_TREE:
            return None
        tree = self._blueprint.tree
        children, codes = tree.children_of(node).tolist(), tree.actions_of(node)
        if after.max_spent == before.max_spent:
            index = codes.index(CALL_ACTION)
        else:
            child = self._walk.find(after, seed)
            if child not in children:
                return None
            index = children.index(child)
        weights: F32 = self._blueprint.rows(node)[index][HAND_CLASS] / np.float32(FULL)
        return weights
