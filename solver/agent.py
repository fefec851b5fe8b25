"""The agent: every decision after the flop is solved while the clock runs (Brown, Sandholm and Amos, 2018).

| street   | subgame                                             | how                                      |
| -------- | --------------------------------------------------- | ---------------------------------------- |
| pre-flop | none: the blueprint, bets translated                | looked up                                |
| flop     | from before the opponent's action to the flop's end | depth-limited, continuations by play-out |
| turn     | from before the opponent's action to the hand's end | exact                                    |
| river    | likewise                                            | exact                                    |

Decisions are a function of what is public, the seed and the limits: the cards we hold only say which column
of the strategy to draw from. A `Decision` tells what the next one has to know: `Decision.after`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np

from abstraction.menu import parse_menu_book
from game.actions import CALL, FOLD, Action, raise_to
from game.betting import BettingState, start
from game.cards import Cards
from game.hands import HAND_CLASS, NUM_HANDS, unblocked
from solver.agent_settings import FLOP, PREFLOP, AgentSettings, StreetSettings, make_settings
from solver.blueprint import FULL, Blueprint
from solver.blueprint_walk import OFF_TREE, BlueprintWalk
from solver.cfr import Solver
from solver.depth_limited import DepthLimitedSolver
from solver.holdem import holdem_game
from solver.layout import F32
from solver.leaf_match import match_leaves
from solver.limits import UNLIMITED, Limits, solve_in_slices
from solver.nested import (
    Context,
    SubgameRoot,
    action_code,
    betting_states,
    everything,
    find_root,
)
from solver.range_strategy import RangeStrategy, merge_actions
from solver.rollouts import BlueprintRollouts, one_round_game
from solver.schedules import Schedule, dcfr
from solver.solution import Solution
from solver.tree import CALL_ACTION, DECISION, FOLD_ACTION, build_tree

SAMPLED_SCHEDULE: Schedule = dcfr(alpha=1.5, gamma=2.0, keep_negative=0.5)
"""For values that are samples."""

LEAST_ITERATIONS = 24
"""Of every solve by the settings' own clock: after fewer, strategies are close to a throw of dice."""

NEVER = 1e-4
"""An action that a smaller share of a range takes is one that is never taken."""


class Method(Enum):
    """How a decision was found."""

    BLUEPRINT = "blueprint"
    DEPTH_LIMITED = "depth-limited"
    EXACT = "exact"


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What to do with every hand, and what is known of both players now."""

    betting: BettingState
    board: Cards
    strategy: RangeStrategy
    ranges: F32
    """float32[2, 1326]: both players' weights, the opponent's last action included."""
    call: dict[Action, F32]
    """float32[1326] for our actions that leave it to him: how often the opponent calls or checks behind."""
    method: Method
    iterations: int
    seconds: float

    def frequencies(self) -> F32:
        """float32[A]: how often each action is taken over our whole range, hands weighted as we hold them."""
        weight = self.ranges[self.betting.actor]
        shares: F32 = self.strategy.probabilities @ weight / max(float(weight.sum()), 1e-30)
        return shares

    def after(self, action: Action) -> Context:
        """What the next decision has to know, if this action is taken.

        One that is not ours (somebody else began the hand) tells nothing of our cards.
        """
        ranges = self.ranges.copy()
        if action in self.strategy.actions:
            ranges[self.betting.actor] *= self.strategy.probability(action)
        return Context(self.betting.apply(action).text, ranges, self.call.get(action, _ones()))


class Agent:
    """Plays by a blueprint and solving. Not for concurrent calls."""

    def __init__(self, blueprint: Blueprint, settings: AgentSettings | None = None) -> None:
        self.blueprint = blueprint
        self.settings = AgentSettings() if settings is None else settings
        self._walk = BlueprintWalk(blueprint.tree, blueprint.definition)
        self._is_warm = not self.settings.on_clock

    def warm_up(self) -> None:
        """Load the kernels, compile them if need be, so that no decision pays for it with its time.

        Blocks for a second, or minutes where nothing is compiled yet. `decide` sees to it itself.
        """
        quick = Agent(self.blueprint, make_settings(iterations=1, threads=self.settings.threads))
        definition = self.blueprint.definition
        betting = start(definition)
        while not betting.is_finished:
            if betting.round_index >= FLOP and not betting.actions[-1]:
                quick.decide(betting, tuple(range(definition.board_size(betting.round_index))), None, seed=0)
            betting = betting.apply(CALL)
        self._is_warm = True

    def decide(
        self,
        betting: BettingState,
        board: Cards,
        context: Context | None,
        seed: int,
        limits: Limits = UNLIMITED,
    ) -> Decision:
        """Decide for the player to act. Blocks while it solves.

        context  of our last decision in this hand, None before the first: then earlier bets after the flop
                 tell nothing
        """
        if betting.round_index > PREFLOP and not self._is_warm:
            self.warm_up()
        started = time.monotonic()
        if betting.round_index == PREFLOP:
            return self._look_up(betting, board, seed, started)
        if context is None or "/" not in context.text:
            context = self._after_preflop(betting, seed)
        root = find_root(betting, board, context)
        decision = self._solve(betting, root, seed, started, limits)
        opponent = 1 - betting.actor
        if decision.ranges[opponent].sum() < NEVER * root.ranges[opponent].sum():
            root = find_root(betting, board, context, at_decision=True)
            decision = self._solve(betting, root, seed, time.monotonic(), limits)
        return decision

    def _look_up(self, betting: BettingState, board: Cards, seed: int, started: float) -> Decision:
        ranges = self._preflop_ranges(betting_states(betting), seed)
        strategy = self._blueprint_strategy(betting, board, seed)
        seconds = time.monotonic() - started
        # What the opponent calls with is found once it is known that he did: `_after_preflop`.
        return Decision(betting, board, strategy, ranges, {}, Method.BLUEPRINT, 0, seconds)

    def _after_preflop(self, betting: BettingState, seed: int) -> Context:
        """The context at the start of the flop."""
        states = betting_states(betting)
        first = next(i for i, state in enumerate(states) if state.round_index > PREFLOP)
        ranges = self._preflop_ranges(states[: first + 1], seed)
        return Context(states[first].text, ranges, _ones())

    def _preflop_ranges(self, states: list[BettingState], seed: int) -> F32:
        """float32[2, 1326]: what the blueprint makes of both ranges on the way to the last state."""
        ranges = everything()
        for before, after in pairwise(states):
            taken = self._taken(before, after, seed)
            if taken is not None:
                ranges[before.actor] *= taken
        return ranges

    def _taken(self, before: BettingState, after: BettingState, seed: int) -> F32 | None:
        """float32[1326]: how often the blueprint does what led to the next state; None off its tree."""
        node = self._walk.find(before, seed)
        if node == OFF_TREE:
            return None
        tree = self.blueprint.tree
        children, codes = tree.children_of(node).tolist(), tree.actions_of(node)
        if after.max_spent == before.max_spent:
            index = codes.index(CALL_ACTION)
        else:
            child = self._walk.find(after, seed)
            if child not in children:
                return None
            index = children.index(child)
        weights: F32 = self.blueprint.rows(node)[index][HAND_CLASS] / np.float32(FULL)
        return weights

    def _blueprint_strategy(self, betting: BettingState, board: Cards, seed: int) -> RangeStrategy:
        node = self._walk.find(betting, seed)
        live = unblocked(board).astype(np.float32)
        if node == OFF_TREE:
            return RangeStrategy((CALL,), live[None, :])
        rows = np.asarray(
            self.blueprint.rows(node)[:, HAND_CLASS] / np.float32(FULL) * live, dtype=np.float32
        )
        children = self.blueprint.tree.children_of(node).tolist()
        actions = [self._walk.real_action(node, child, betting) for child in children]
        return merge_actions(actions, rows)

    def _solve(
        self, betting: BettingState, root: SubgameRoot, seed: int, started: float, limits: Limits
    ) -> Decision:
        if betting.round_index == FLOP:
            return self._solve_flop(betting, root, seed, started, limits)
        return self._solve_exactly(betting, root, started, limits)

    def _solve_flop(
        self, betting: BettingState, root: SubgameRoot, seed: int, started: float, limits: Limits
    ) -> Decision:
        settings, own = self.settings.flop, betting.actor
        tree = build_tree(root.root, parse_menu_book(settings.menu), root.extra, max_rounds=1)
        node = self._walk.find(root.betting, seed)
        leaves = match_leaves(tree, root.root, self._walk.tree, node)
        game = one_round_game(root.board, tree, root.ranges)
        values = BlueprintRollouts(
            self.blueprint, game, root.board, leaves, 1 - own, self.settings.continuations, seed,
            self.settings.threads,
        )  # fmt: skip
        solver = DepthLimitedSolver(game, values, 1 - own, SAMPLED_SCHEDULE)
        _run(solver.solve, settings, started, limits)
        return _decision(betting, root, solver.solution(), Method.DEPTH_LIMITED, started)

    def _solve_exactly(
        self, betting: BettingState, root: SubgameRoot, started: float, limits: Limits
    ) -> Decision:
        settings = self.settings.street(betting.round_index)
        tree = build_tree(root.root, parse_menu_book(settings.menu), root.extra)
        solver = Solver(holdem_game(root.board, tree, root.ranges), threads=self.settings.threads)

        def solve(max_iterations: int, deadline: float | None = None) -> int:
            return solver.solve(max_iterations, deadline=deadline).iterations

        _run(solve, settings, started, limits)
        return _decision(betting, root, solver.solution(), Method.EXACT, started)


def _run(
    solve: Callable[[int, float | None], int], settings: StreetSettings, started: float, limits: Limits
) -> None:
    """Solve as long as settings and limits allow, and never too little to have an answer."""
    least = LEAST_ITERATIONS if limits.seconds is None else 1
    solve(min(least, settings.max_iterations), None)
    seconds = settings.seconds if limits.seconds is None else limits.seconds
    solve_in_slices(
        lambda until: solve(settings.max_iterations, until) < settings.max_iterations,
        started + seconds,
        limits,
    )


def _decision(
    betting: BettingState, root: SubgameRoot, solution: Solution, method: Method, started: float
) -> Decision:
    """Read the decision off a solved subgame."""
    tree, own = solution.game.tree, betting.actor
    node = tree.find(tuple([action_code(action) for action in root.path]))
    assert tree.player[node] == own, "the path leads to our decision"
    labels = solution.game.labels
    ranges = np.zeros((2, NUM_HANDS), dtype=np.float32)
    for player in range(2):
        ranges[player, labels] = solution.reach(player, node)
    actions, rows, call = [], [], {}
    for child, row in zip(tree.children_of(node).tolist(), solution.strategy(node), strict=True):
        code = int(tree.action[child])
        action = FOLD if code == FOLD_ACTION else CALL if code == CALL_ACTION else raise_to(code)
        actions.append(action)
        rows.append(_widened(row, labels, 0.0))
        if tree.kind[child] == DECISION and tree.round[child] == 0:
            codes = tree.actions_of(child)
            call[action] = _widened(solution.strategy(child)[codes.index(CALL_ACTION)], labels, 1.0)
    strategy = RangeStrategy(tuple(actions), np.stack(rows))
    seconds = time.monotonic() - started
    return Decision(betting, root.board, strategy, ranges, call, method, solution.iterations, seconds)


def _widened(row: F32, labels: np.ndarray, elsewhere: float) -> F32:
    wide = np.full(NUM_HANDS, elsewhere, dtype=np.float32)
    wide[labels] = row
    return wide


def _ones() -> F32:
    return np.ones(NUM_HANDS, dtype=np.float32)
