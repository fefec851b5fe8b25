"""The loss of a strategy at one decision against an opponent who knows it and responds.

The game is solved twice, with all bets that any of the compared players may make at the decision: once
freely, once with the strategy fixed there for the whole range. In the second game everything else is solved
around it: the opponent's play before and after, and the player's later decisions. The loss is the difference
of the player's values, in % of the pot per time the decision is reached: after a bet of the opponent, the
difference is divided by the frequency of that bet in the free solution.

Flops are solved to the end of the round with learned leaves (`solver.leaves.learned`), on the same run-outs
in both games, so that most sampling noise cancels. Turns and rivers are solved exactly to the end of the
hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from abstraction.menu import parse_menu_book
from bench.quality._play_spots import Spot
from game.actions import Action
from game.hands import HAND_CARDS
from numeric.arrays import F32, F64
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import BlueprintWalk
from solver.decisions.range_strategy import RangeStrategy
from solver.decisions.settings import FLOP, AgentSettings
from solver.depth_limited.solver import DepthLimitedSolver
from solver.equity.all_in import flop_wins
from solver.exact.engine import EVALUATE
from solver.exact.exploitability import player_value
from solver.exact.schedules import sampled_dcfr
from solver.exact.solution import Solution
from solver.exact.solver import Solver
from solver.games.game import unblocked_weight
from solver.games.history import action_code, coded_action
from solver.games.holdem import holdem_game
from solver.games.tree import CALL_ACTION, FOLD_ACTION, Tree, build_tree
from solver.leaves.flop_end import FlopEnd
from solver.leaves.learned import LearnedLeaves
from solver.leaves.match import match_leaves
from solver.leaves.rollouts import one_round_game

_SCHEDULE = sampled_dcfr(alpha=1.5, gamma=2.0)
_SETTLING = 0.3
"""Iterations around a fixed strategy, per iteration of the exact free game: the start is close by."""
_BLUEPRINT_BETS = "50%, 100%, a | 100%, a | a"


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of a strategy at a spot."""

    percent: float
    """Per cent of the pot, per time the decision is reached."""
    distance: float
    """Per cent of the range that folds, calls or raises differently from the free solution."""


class Reference:
    """A freely solved spot. Construction and every `loss` block."""

    def __init__(self, spot: Spot, blueprint: Blueprint, iterations: int, seed: int = 1) -> None:
        self.spot, self._blueprint, self._iterations, self._seed = spot, blueprint, iterations, seed
        self._tree = _reference_tree(spot)
        self._node = self._tree.find(spot.path)
        self._exact: Solver | None = None
        if spot.betting.round_index == FLOP:
            self._values, self._solution = self._flop(None)
        else:
            solver = self._exact = self._new_exact()
            solver.run(iterations)
            self._solution = solver.solution()
            self._values = np.array([player_value(solver.engine, solver.average, spot.player, EVALUATE)])
        game = self._solution.game
        reach = [self._solution.reach(player, self._node) for player in range(2)]
        met = float(reach[0].astype(np.float64) @ unblocked_weight(game.hands, reach[1], game.num_cards))
        self.met = met / game.pairings()
        """The probability of reaching the decision from the root of its solves."""
        self.weight: F32 = reach[spot.player] / reach[spot.player].sum()
        """float32[H]: the player's range at the decision."""

    @property
    def strategy(self) -> RangeStrategy:
        """The free solution's strategy, over the game's hands."""
        actions = tuple([coded_action(code) for code in self._tree.actions_of(self._node)])
        return RangeStrategy(actions, self._widened(self._solution.strategy(self._node)))

    def passive_percent(self, strategy: RangeStrategy) -> float:
        """Per cent of the range that checks or calls."""
        return 100 * float(self._kinds(strategy)[1] @ self.weight)

    def loss(self, strategy: RangeStrategy) -> Loss:
        """The loss of a strategy; on flops, blocks as long as the free solution took."""
        rows = self._rows(strategy)
        if self._exact is None:
            values, _ = self._flop(rows)
        else:
            values = np.array([self._held(self._exact, rows)])
        half = len(values) // 2
        chips = float((self._values - values)[half:].mean()) / self.met
        apart = np.abs(self._kinds(strategy) - self._kinds(self.strategy)).sum(axis=0) / 2
        return Loss(100 * chips / self.spot.betting.pot, 100 * float(apart @ self.weight))

    def _flop(self, held: F32 | None) -> tuple[F64, Solution]:
        """The player's value after each iteration, and the solution."""
        spot, tree = self.spot, self._tree
        walk = BlueprintWalk(self._blueprint.tree, self._blueprint.definition)
        leaves = match_leaves(tree, spot.root.root, walk.tree, walk.find(spot.root.betting, self._seed))
        game = one_round_game(spot.board, tree, spot.root.ranges)
        wins = flop_wins(spot.board, game.labels)
        end = FlopEnd(self._blueprint, game, leaves, 1 - spot.player, wins, self._seed)
        solver = DepthLimitedSolver(game, LearnedLeaves(end), 1 - spot.player, _SCHEDULE)
        if held is not None:
            solver.lock(self._node, held)
        found = np.zeros(self._iterations)
        for t in range(self._iterations):
            solver.solve(t + 1)
            won = [float(solver.root_values(player) @ game.ranges[player]) for player in range(2)]
            found[t] = (won[spot.player] - won[1 - spot.player]) / 2
        return found / game.pairings(), solver.solution()

    def _new_exact(self) -> Solver:
        return Solver(holdem_game(self.spot.board, self._tree, self.spot.root.ranges))

    def _held(self, free: Solver, rows: F32) -> float:
        held = Solver(free.game, free.schedule)
        held.regret[:] = free.regret
        # Start counting at half of the iterations: later iterations weigh more in the average, which is new.
        held.iterations = free.iterations // 2
        held.lock(self._node, rows)
        held.run(ceil(_SETTLING * self._iterations))
        return player_value(held.engine, held.average, self.spot.player, EVALUATE)

    def _rows(self, strategy: RangeStrategy) -> F32:
        """float32[A, H] by the reference's actions; raises it does not have go to the nearest one."""
        codes = self._tree.actions_of(self._node)
        labels = self._solution.game.labels
        rows = np.zeros((len(codes), len(labels)), dtype=np.float32)
        for action, row in zip(strategy.actions, strategy.probabilities, strict=True):
            rows[codes.index(_nearest(action, codes))] += row[labels]
        rows[codes.index(CALL_ACTION), rows.sum(axis=0) <= 0] = 1
        rows /= rows.sum(axis=0)
        return rows

    def _kinds(self, strategy: RangeStrategy) -> F32:
        """float32[3, H]: how often each hand folds, calls, raises."""
        codes, rows = self._tree.actions_of(self._node), self._rows(strategy)
        kinds = np.zeros((3, rows.shape[1]), dtype=np.float32)
        for code, row in zip(codes, rows, strict=True):
            kinds[0 if code == FOLD_ACTION else 1 if code == CALL_ACTION else 2] += row
        return kinds

    def _widened(self, rows: F32) -> F32:
        wide = np.zeros((len(rows), len(HAND_CARDS)), dtype=np.float32)
        wide[:, self._solution.game.labels] = rows
        return wide


def _reference_tree(spot: Spot) -> Tree:
    """The largest menu; at the decision, all bets of any menu of the agent or the blueprint."""
    street = spot.betting.round_index
    settings = AgentSettings().street(street)
    rounds = 1 if street == FLOP else 3
    menus = [menu for menu in (settings.menu, settings.quick_menu, settings.rich_menu) if menu]
    raises: set[int] = set()
    for menu in (*menus, _BLUEPRINT_BETS):
        tree = build_tree(spot.root.root, parse_menu_book(menu), spot.root.extra, max_rounds=rounds)
        raises |= {code for code in tree.actions_of(tree.find(spot.path)) if code > CALL_ACTION}
    extra = dict(spot.root.extra)
    extra[spot.path] = tuple(sorted(raises | set(extra.get(spot.path, ()))))
    rich = settings.rich_menu or settings.menu
    return build_tree(spot.root.root, parse_menu_book(rich), extra, max_rounds=rounds)


def _nearest(action: Action, codes: tuple[int, ...]) -> int:
    code = action_code(action)
    if code in codes:
        return code
    raises = [other for other in codes if other > CALL_ACTION]
    return min(raises, key=lambda other: abs(other - code), default=CALL_ACTION)
