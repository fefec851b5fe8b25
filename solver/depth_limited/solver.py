"""Depth-limited solving with multi-valued leaf states (Brown, Sandholm and Amos, 2018).

1. The game ends at the depth limit: chance nodes without children, the *leaves*. There the *chooser*, the
   opponent of the player we solve for, makes one last choice with each hand: which of K continuation
   strategies to play from here on. The leaf is worth what that strategy gets against ours. `LeafValues` may
   let us choose as well.
2. With one strategy to choose from the chooser cannot adapt, and the solution may be far from equilibrium.
   With enough strategies the solution is part of an equilibrium (proposition 1 of the paper).
3. Leaf values can come from a table of payoffs (`TableLeaves`), rollouts of a blueprint
   (`solver.leaves.rollouts`) or strategies that learn in each pass (`solver.leaves.learned`). They may be
   sampled: then each iteration uses a new sample.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from numeric.arrays import F32, I32
from solver.depth_limited.kernels.first_round import (
    enter_round,
    leave_round,
    multiply_matrices,
    settle_choices,
    spread_choices,
)
from solver.exact.kernels.walk import EVALUATE, RESPOND, UPDATE
from solver.exact.program import compile_tree
from solver.exact.schedules import DEFAULT_SCHEDULE, Schedule, sampled_dcfr
from solver.exact.solution import Solution
from solver.games.game import Game
from solver.games.layout import Scratch, Shape, Step, Tables, aligned
from solver.games.tree import CHANCE, DECISION

SAMPLED_SCHEDULE: Schedule = sampled_dcfr(alpha=1.5, gamma=2.0)
"""Schedule for solves whose leaf values are sampled."""

_LEAST_REACH = 1e-4
"""Share of the opponent's range. Where the opponent's reach is smaller, the regrets of a warm start are
scaled as if it were this share."""

_NO_TABLE = np.zeros(0, dtype=np.float32)


class LeafValues(Protocol):
    """Values of the leaves at the depth limit. Leaves are numbered in ascending node order."""

    @property
    def num_choices(self) -> int:
        """K: number of strategies to choose from."""

    @property
    def both_choose(self) -> bool:
        """Whether the chooser's opponent chooses, too (Brown and Sandholm, 2019)."""

    def next_sample(self) -> None:
        """Draw the next sample, if values are sampled. Called before each iteration."""

    def evaluate(self, for_chooser: bool, reach: F32, value: F32, step: Step | None = None) -> None:
        """Counterfactual leaf values of the traverser, from the reach of their opponent.

        for_chooser  whether the traverser is the chooser
        reach        float32[L, 1 + K, stride]  in: the opponent's whole reach in the first row of each leaf,
                     and, if they choose, the reach of each choice in the other rows
        value        float32[L, 1 + K, stride]  out: the rows of the choices if the traverser chooses, else
                     the first row
        step         of a learning pass; None: nothing is learned
        """


class TableLeaves:
    """Payoffs known for every pair of hands: small games, and values stored in advance."""

    def __init__(self, matrices: F32) -> None:
        self.matrices = np.ascontiguousarray(matrices, dtype=np.float32)
        """float32[L, K, H, H]: what the chooser's opponent wins with hand i against j, 0 if they collide."""

    @property
    def num_choices(self) -> int:
        """Number of strategies to choose from."""
        return len(self.matrices[0])

    @property
    def both_choose(self) -> bool:
        """Only the chooser chooses."""
        return False

    def next_sample(self) -> None:
        """Do nothing: values are not sampled."""

    def evaluate(self, for_chooser: bool, reach: F32, value: F32, step: Step | None = None) -> None:  # noqa: ARG002
        """See `LeafValues`."""
        multiply_matrices(self.matrices, for_chooser, reach, value)


class DepthLimitedSolver:
    """Solves one round up to its leaves. Not for concurrent calls."""

    def __init__(
        self,
        game: Game,
        leaves: LeafValues,
        chooser: int,
        schedule: Schedule = DEFAULT_SCHEDULE,
        groups: I32 | None = None,
    ) -> None:
        """Make a solver for a game of one round.

        groups  int32[L]: leaves of one group are indistinguishable to the chooser (they differ in an action
                that is hidden from the chooser); by default all leaves differ
        """
        if schedule.predictive:
            raise ValueError("depth-limited games need a schedule that is not predictive")
        self.game, self.leaves, self.chooser, self.schedule = game, leaves, chooser, schedule
        compiled = compile_tree(game.tree, game.chance)
        rows = np.array(compiled.leaf_rows, dtype=np.int32).reshape(2, -1, 2)
        num_leaves, stride, num_choices = rows.shape[1], game.stride, leaves.num_choices
        self.leaf_nodes = np.flatnonzero(game.tree.kind == CHANCE)
        assert len(self.leaf_nodes) == num_leaves, "all leaves belong to the first round"
        self._groups = np.arange(num_leaves, dtype=np.int32) if groups is None else groups
        num_groups = int(self._groups.max()) + 1 if num_leaves else 0
        self._program, self._shape = compiled.program, Shape(stride, game.num_cards, 1)
        self._leaf_reach_row = np.ascontiguousarray(rows[..., 0])
        self._leaf_value_row = np.ascontiguousarray(rows[..., 1])
        places = (stride + 1) * 8
        self._scratch = Scratch(
            aligned(compiled.reach_rows * stride),
            aligned(compiled.value_rows * stride),
            aligned(places),
            aligned(places),
            aligned(places),
            aligned((game.num_cards + 1) * 8),
        )
        self.regret, self.average = aligned(game.table_size), aligned(game.table_size)
        size = num_groups * num_choices * stride
        self.choice_regret = aligned(2 * size).reshape(2, size)
        """Regrets of the choices at leaves, by player."""
        self._choosers = (0, 1) if leaves.both_choose else (chooser,)
        self._reach = np.zeros((2, stride), dtype=np.float32)
        self._reach[:, : game.num_hands] = game.ranges
        shape = (num_leaves, 1 + num_choices, stride)
        self._leaf_reach = aligned(int(np.prod(shape))).reshape(shape)
        self._leaf_value = aligned(int(np.prod(shape))).reshape(shape)
        self._sums = np.zeros((num_groups, *shape[1:]), dtype=np.float32)
        self._frozen = np.zeros(game.tree.num_nodes, dtype=np.uint8)
        self._root_value = np.zeros((2, stride), dtype=np.float32)
        self.iterations = 0
        self.head_start = 0
        """Iterations that the warm start counts as."""

    def warm_start(self, strategies: dict[int, F32], stakes: Mapping[int, float], iterations: int) -> None:
        """Start from strategies that count as a number of finished iterations. Call before the first one.

        Regrets start proportional to the strategies, so these are played until something is learned. Averages
        start as if the strategies had been played in all those iterations. Decision nodes without a strategy
        start from zero (strategy-based warm starting; Brown and Sandholm, 2016).

        strategies  float32[A, H] by decision node
        stakes      chips by decision node: initial regret of a strategy, per pair of hands
        """
        assert self.iterations == 0, "a warm start comes before the first iteration"
        game, tree = self.game, self.game.tree
        self.head_start = iterations
        weight = self.schedule.sum_of_weights(iterations)
        reach = {0: game.ranges}
        least = _LEAST_REACH * game.ranges.sum(axis=1)
        for node in np.flatnonzero(tree.kind == DECISION).tolist():
            player, children = int(tree.player[node]), tree.children_of(node).tolist()
            here = reach.pop(node)
            given = strategies.get(node)
            strategy = np.full((len(children), 1), 1 / len(children)) if given is None else given
            if given is not None:
                rows = slice(int(tree.action_row[node]) * game.stride, None)
                for table, worth in (
                    (self.regret, stakes[node] * max(here[1 - player].sum(), least[1 - player])),
                    (self.average, weight * here[player]),
                ):
                    part = table[rows][: len(children) * game.stride].reshape(len(children), game.stride)
                    part[:, : game.num_hands] = worth * given
            for child, row in zip(children, strategy, strict=True):
                reach[child] = here.copy()
                reach[child][player] *= row

    def lock(self, node: int, strategy: F32) -> None:
        """Fix the strategy float32[A, H] of a decision node; it is not updated any more."""
        game = self.game
        num_actions = len(game.tree.children_of(node))
        start = int(game.tree.action_row[node]) * game.stride
        for table in (self.regret, self.average):
            rows = table[start : start + num_actions * game.stride].reshape(num_actions, game.stride)
            rows[:, : game.num_hands] = strategy
        self._frozen[node] = 1

    def solve(self, max_iterations: int, deadline: float | None = None) -> int:
        """Solve until this many iterations are done in total, or until the deadline. Blocks.

        Returns the iterations done so far. The deadline (`time.monotonic`) is checked before each iteration.
        """
        done = self.head_start + self.iterations
        table = self.schedule.table(done, max(max_iterations - self.iterations, 0))
        for positive, negative, average, following in table.tolist():
            if deadline is not None and time.monotonic() >= deadline:
                break
            self.leaves.next_sample()
            for traverser in range(2):
                step = Step(traverser, UPDATE, positive, negative, average, following, self.schedule.floor)
                self._pass(step, Tables(self.regret, self.average, _NO_TABLE, self._frozen))
            self.iterations += 1
        return self.iterations

    def solution(self) -> Solution:
        """The average strategies so far; shares memory with the solver."""
        return Solution(self.game, self.average, self.iterations)

    @property
    def first_share(self) -> float:
        """Share of the first iteration in the average strategies."""
        return self.schedule.share_of(self.head_start + 1, self.head_start + self.iterations)

    def root_values(self, player: int) -> F32:
        """float32[H]: counterfactual root values of a player from their last pass; a sample if sampled."""
        values: F32 = self._root_value[player, : self.game.num_hands].copy()
        return values

    def response_values(self, player: int, samples: int = 1) -> F32:
        """float32[H]: counterfactual values of a player's best response to the average strategies.

        If the player is the chooser, the response includes the best choice at every leaf. Otherwise the
        chooser chooses by the current regrets. Leaf values are means over this many samples.
        """
        self._evaluate(player, RESPOND, samples)
        return self.root_values(player)

    def action_values(self, node: int, player: int, samples: int = 1) -> F32:
        """float32[A, H]: counterfactual values of a player's actions at one of their nodes, by the averages.

        The chooser chooses by the current regrets. Leaf values are means over this many samples.
        """
        self._evaluate(player, EVALUATE, samples)
        program = self._program
        segment = player * int(program.round_segments[-1])
        steps = program.up[program.segments[segment, 4] : program.segments[segment, 5]]
        _, count, child, _, _, _ = next(step for step in steps.tolist() if step[5] == node)
        rows = self._scratch.value.reshape(-1, self.game.stride)[:, : self.game.num_hands]
        values: F32 = rows[child : child + count].copy()
        return values

    def _evaluate(self, player: int, mode: int, samples: int) -> None:
        """Run one pass over the average strategies, with leaf means over samples, and change nothing."""
        step = Step(player, mode, 1.0, 1.0, 1.0, 1.0, 0.0)
        tables = Tables(self.average, self.average, _NO_TABLE, self._frozen)
        self._enter(step, tables)
        total = np.zeros_like(self._leaf_value)
        for _ in range(samples):
            self.leaves.next_sample()
            self.leaves.evaluate(player == self.chooser, self._leaf_reach, self._leaf_value)
            total += self._leaf_value
        np.divide(total, samples, out=self._leaf_value)
        self._leave(step, tables)

    def _pass(self, step: Step, tables: Tables) -> None:
        self._enter(step, tables)
        self.leaves.evaluate(step.traverser == self.chooser, self._leaf_reach, self._leaf_value, step)
        self._leave(step, tables)

    def _enter(self, step: Step, tables: Tables) -> None:
        rows = self._leaf_reach_row[step.traverser]
        enter_round(
            self._shape, self.game.boards, self._program, tables, step, self._scratch, rows,
            self._reach[1 - step.traverser], self._leaf_reach,
        )  # fmt: skip
        if 1 - step.traverser in self._choosers:
            spread_choices(self.choice_regret[1 - step.traverser], self._groups, self._leaf_reach)

    def _leave(self, step: Step, tables: Tables) -> None:
        if step.traverser in self._choosers:
            settle_choices(
                self.choice_regret[step.traverser], self._groups, step, self._leaf_value, self._sums
            )
        leave_round(
            self._shape, self._program, tables, step, self._scratch,
            self._leaf_value_row[step.traverser], self._leaf_value, self._root_value[step.traverser],
        )  # fmt: skip
