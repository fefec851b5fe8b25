"""Solves one street: a flop to its end with leaf values, a turn or river to the end of the hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf

from abstraction.menu import parse_menu_book
from game.betting import BettingState
from numeric.arrays import F32
from solver.agent.leaf_values import ADAPTING, LeafMethod
from solver.agent.pace import Pace
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import OFF_TREE, BlueprintWalk
from solver.decisions.decision import Decision, Method, StreetSolve, read_decision
from solver.decisions.limits import Countdown, Limits, solve_in_slices
from solver.decisions.settings import FLOP, RIVER, TURN, AgentSettings, StreetSettings
from solver.depth_limited.flop_start import warm_start_flop
from solver.depth_limited.solver import SAMPLED_SCHEDULE, DepthLimitedSolver
from solver.depth_limited.turn_start import warm_start_turn
from solver.equity.all_in import FlopTables
from solver.exact.cut import cut
from solver.exact.engine import EVALUATE, Engine
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.holdem import holdem_game
from solver.games.tree import CALL_ACTION, Tree, build_tree
from solver.leaves.flop_end import FlopEnd
from solver.leaves.match import Twins, leaves_of, match_nodes
from solver.leaves.rollouts import one_round_game
from solver.leaves.value_net import ValueNet
from solver.resolving.alternatives import Alternatives, promise, safe_root
from solver.resolving.root import SubgameRoot

LEAST_ITERATIONS = 24
"""A solve with fewer iterations counts as cut off; rivers have no warm start."""

FORCED = 0.8
"""Share of the opponent's range that enters a safe subgame regardless of the gadget. With the gadget alone
our strategy is arbitrary wherever the promised values hold with room to spare (`fathom bench safety`). With
half of the range forced, rivers were still exploitable by 6 to 16 % of pot against the ranges we assume; with
80 %, by 1 to 2.5."""

_STEADY_SECONDS = 0.5
"""Variance reduction at a flop's leaves costs a tenth of a second up front. It is skipped if there is less
time than this, unless an earlier decision on the same flop has already paid for it."""

_LEAST_USEFUL = {FLOP: 32, TURN: 12}
"""Iterations from which on a solve is better than looking up the blueprint."""
_SET_UP = 0.015
"""Seconds of set-up before the first iteration."""

_VALUE_SAMPLES = 24
"""Run-outs over which values of a depth-limited solution are averaged on request."""


class StreetSolves:
    """Solves the subgame of a decision. Not for concurrent calls.

    Two things change from one decision to the next: `pace`, and the tables of the last flops. Only decisions
    with a time limit depend on them, because of the trees and the variance reduction that they have time for.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        walk: BlueprintWalk,
        settings: AgentSettings,
        net: ValueNet | None = None,
        pace: Pace | None = None,
    ) -> None:
        """Solve as the settings say.

        net   values the end of the flop, if that is the settings' leaf method
        pace  measured speed of this machine; a new one by default
        """
        self.blueprint, self.walk, self.settings = blueprint, walk, settings
        self.pace = pace or Pace()
        self._flops = FlopTables()
        self._leaf_method = LeafMethod(settings.leaf, settings.continuations, net=net)

    def has_time(self, root: SubgameRoot, countdown: Countdown) -> bool:
        """Whether there is time for enough iterations to beat the blueprint."""
        street, left = root.root.street, countdown.left
        if street not in _LEAST_USEFUL or left is None or left >= _STEADY_SECONDS:
            return True
        threads, most = self._threads(countdown.limits), 1 if street == FLOP else RIVER
        tree = self._tree(street, self.settings.street(street), root, left, threads, max_rounds=most)
        return self.pace.iterations(street, _size(tree), left - _SET_UP, threads) >= _LEAST_USEFUL[street]

    def flop(self, betting: BettingState, root: SubgameRoot, seed: int, countdown: Countdown) -> Decision:
        """Solve to the end of the flop, with leaf values for the rest."""
        settings, own = self.settings.flop, betting.actor
        started, threads = countdown.started, self._threads(countdown.limits)
        tree = self._tree(FLOP, settings, root, countdown.left, threads, max_rounds=1)
        twins = match_nodes(tree, root.root, self.walk.tree, self.walk.find(root.betting, seed))
        leaves = leaves_of(tree, root.root, self.walk.tree, twins)
        game = one_round_game(root.board, tree, root.ranges)
        wins = self._wins(game, countdown)
        end = FlopEnd(self.blueprint, game, leaves, 1 - own, wins, seed, threads)
        values = self._leaf_method.values(
            end, lambda solver: _run(solver.solve, settings, countdown, ADAPTING)
        )
        solver = DepthLimitedSolver(game, values, 1 - own, SAMPLED_SCHEDULE)
        warm_start_flop(solver, self.blueprint, self.walk.tree, twins, root.board)
        ready = time.monotonic()
        _run(solver.solve, settings, countdown)
        phases = {"set_up": ready - started, "solve": time.monotonic() - ready}
        self.pace.learn(FLOP, _size(tree), solver.iterations, phases["solve"], threads)
        solve = StreetSolve(
            Method.DEPTH_LIMITED,
            solver.solution(),
            _DepthLimited(solver),
            phases,
            solver.first_share,
            self._knows(root, tree, twins),
            self.settings.leaf,
        )
        return read_decision(betting, root, solve, settings.rare)

    def _tree(
        self,
        street: int,
        settings: StreetSettings,
        root: SubgameRoot,
        left: float | None,
        threads: int,
        max_rounds: int = RIVER,
    ) -> Tree:
        """The largest tree that there is time to solve, or else the smallest one.

        left  seconds; None: no time limit
        """
        choices = settings.choices if left is not None else [(settings.menu, "", 0)]
        for menu, own_bets, wanted in choices:
            extra = _with_own_bets(root, own_bets) if own_bets else root.extra
            tree = build_tree(root.root, parse_menu_book(menu), extra, max_rounds=max_rounds)
            if left is None or self.pace.iterations(street, _size(tree), left, threads) >= wanted:
                break
        return tree

    def _threads(self, limits: Limits) -> int:
        return limits.threads or self.settings.threads

    def _wins(self, game: Game, countdown: Countdown) -> F32 | None:
        """All-in results of a flop's hands; None if there is no time to compute them."""
        board, left = game.board_cards[0], countdown.left
        if left is None or left >= _STEADY_SECONDS or self._flops.has(board, game.labels):
            return self._flops.wins(board, game.labels, self._threads(countdown.limits))
        return None

    def to_the_end(
        self,
        betting: BettingState,
        root: SubgameRoot,
        promised: F32 | None,
        seed: int,
        countdown: Countdown,
    ) -> Decision:
        """Solve to the end of the hand, safely if the opponent was promised values.

        promised  float32[1326], see `solver.resolving.alternatives`
        """
        settings = self.settings.street(betting.round_index)
        started, threads = countdown.started, self._threads(countdown.limits)
        tree = self._tree(betting.round_index, settings, root, countdown.left, threads)
        if promised is None:
            solver = Solver(holdem_game(root.board, tree, root.ranges), threads=threads)
        else:
            subgame = safe_root(root.board, root.ranges, 1 - betting.actor, promised)
            solver = subgame.solver(subgame.holdem_game(tree), threads=threads, forced=FORCED)
        known = False
        if betting.round_index == TURN:
            twins = match_nodes(tree, root.root, self.walk.tree, self.walk.find(root.betting, seed))
            warm_start_turn(solver, self.blueprint, self.walk.tree, twins)
            known = self._knows(root, tree, twins)

        def solve(max_iterations: int, deadline: float | None = None) -> int:
            return solver.solve(max_iterations, deadline=deadline).iterations

        ready = time.monotonic()
        _run(solve, settings, countdown)
        phases = {"set_up": ready - started, "solve": time.monotonic() - ready}
        self.pace.learn(betting.round_index, _size(tree), solver.iterations, phases["solve"], threads)
        method = Method.EXACT if promised is None else Method.SAFE
        done = StreetSolve(method, solver.solution(), _ToTheEnd(solver), phases, solver.first_share, known)
        return read_decision(betting, root, done, settings.rare)

    def _knows(self, root: SubgameRoot, tree: Tree, twins: Twins) -> bool:
        """Whether a solve has a warm start, and our decision is on the blueprint's tree."""
        return twins.decision(tree.find(root.codes), self.walk.tree) != OFF_TREE


@dataclass(frozen=True, slots=True)
class _DepthLimited:
    """See `solver.decisions.decision.Solved`."""

    solver: DepthLimitedSolver

    def action_values(self, node: int, player: int) -> F32:
        return self.solver.action_values(node, player, _VALUE_SAMPLES)

    def exploitability(self) -> float:
        game = self.solver.game
        gains = [
            self.solver.response_values(player, _VALUE_SAMPLES) @ game.ranges[player] for player in range(2)
        ]
        return float(sum(gains)) / game.pairings() / 2

    def promise(self, node: int, action: int, player: int) -> Alternatives | None:  # noqa: ARG002
        return None


@dataclass(frozen=True, slots=True)
class _ToTheEnd:
    """See `solver.decisions.decision.Solved`."""

    solver: Solver

    def action_values(self, node: int, player: int) -> F32:
        below = cut(self.solver.solution(), node)
        engine = Engine(below.game)
        engine.root_values(below.average, player, EVALUATE)
        return engine.action_values(player)[0]

    def exploitability(self) -> float:
        return self.solver.exploitability()

    def promise(self, node: int, action: int, player: int) -> Alternatives | None:
        child = int(self.solver.game.tree.children_of(node)[action])
        return promise(self.solver.solution(), child, player, engine=self.solver.engine)


def _with_own_bets(root: SubgameRoot, sizes: str) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Off-tree actions of the tree, plus our own extra bet sizes if nobody has bet yet."""
    path = root.codes
    spent = root.root.spent
    if path not in {(), (CALL_ACTION,)} or spent[0] != spent[1]:
        return root.extra
    bets = build_tree(root.root, parse_menu_book(sizes), root.extra, max_rounds=1)
    raises = [code for code in bets.actions_of(bets.find(path)) if code > CALL_ACTION]
    return {**root.extra, path: tuple(raises)}


def _size(tree: Tree) -> int:
    """Actions of the last round. The time of an iteration grows with them: a turn has them on every river."""
    return max(tree.round_rows[-1], 1)


def _run(
    solve: Callable[[int, float | None], int],
    settings: StreetSettings,
    countdown: Countdown,
    share: float = 1.0,
) -> None:
    """Solve for as long as settings and limits allow, but at least one iteration.

    share  of the time and of the iterations
    """
    most = ceil(share * settings.max_iterations)
    done = solve(1, None)
    solve_in_slices(
        lambda n, until: solve(n, None if until == inf else until),
        done,
        most,
        countdown.shortened(share).deadline,
        countdown.limits,
    )
