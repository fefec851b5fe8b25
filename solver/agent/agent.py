"""The agent: solves decisions in real time (Brown, Sandholm and Amos, 2018).

| street         | subgame                                            | method                        |
| -------------- | -------------------------------------------------- | ----------------------------- |
| pre-flop       | from before an off-tree bet to the flop            | depth-limited, table leaves   |
| flop           | from before the opponent's action to the flop's end | depth-limited, learned leaves |
| turn, first    | from before the opponent's action to the hand's end | exact                         |
| turn and river | from before the opponent's action to the hand's end | exact, safe                   |

The first round is looked up in the blueprint as long as all its bets are in the blueprint's tree, because the
blueprint is the solution of that game. It is always looked up if the blueprint's file has no leaf table
(`solver.depth_limited.opponent_values`). Flops and turns are looked up when there is no time to solve them,
and flops also if the settings say so (`solver.agent.street_lookup`). Flops that are in a flop book are read
from the book (`solver.flop_book.book`).

A decision is a function of the public state, the seed and the limits. Our cards only select the column of the
strategy to sample from. `Decision.after` returns the context that the next decision needs. With a time limit
it also depends on the machine, and on what an agent keeps: see `Agent`.
"""

from __future__ import annotations

from game.actions import CALL, raise_to
from game.betting import BettingState, start
from game.cards import Cards
from solver.agent.pace import Pace
from solver.agent.preflop_lookup import BlueprintPreflop
from solver.agent.preflop_solves import SolvedPreflop
from solver.agent.street_lookup import BlueprintStreets
from solver.agent.street_solves import StreetSolves
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import BlueprintWalk
from solver.decisions.decision import Decision
from solver.decisions.limits import NO_TIME, UNLIMITED, Countdown, Limits
from solver.decisions.settings import (
    FLOP,
    LOOK_UP,
    NET,
    PREFLOP,
    SOLVE,
    SOLVE_OFF_TREE,
    AgentSettings,
    make_settings,
)
from solver.depth_limited.opponent_values import read_values
from solver.flop_book.book import open_book
from solver.leaves.value_net import load_net, net_path
from solver.resolving.context import Context
from solver.resolving.root import find_root

_FIRST_TRY = 0.9
"""Share of the time for the first solve. The rest is for a second solve, in case no hand in the first
solution takes the opponent's action."""

_PACE_ITERATIONS = 16
"""Flop iterations used to measure the speed of this machine."""


def _bet_off_tree(betting: BettingState) -> BettingState:
    """Make a bet that no menu offers, where one is legal; otherwise call."""
    bounds = betting.raise_bounds()
    if bounds is None or not betting.definition.no_limit:
        return betting.apply(CALL)
    between = betting.max_spent * 12 // 5  # 70 % of the pot: between usual sizes
    return betting.apply(raise_to(min(max(between, bounds[0]), bounds[1])))


class Agent:
    """Plays by a blueprint and by solving. Not for concurrent calls.

    An agent keeps its solutions of the first round (`SolvedPreflop`), its estimate of this machine's speed
    (`Pace`) and the all-in results of its last two flops (`FlopTables`). They save time, so decisions with a
    time limit depend on them; solves to a number of iterations do not.
    """

    def __init__(
        self, blueprint: Blueprint, settings: AgentSettings | None = None, pace: Pace | None = None
    ) -> None:
        """Load the flop book, the value net and the leaf table, as far as the settings use them.

        pace  measured speed of this machine, to share with another agent; a new one by default
        """
        self.blueprint = blueprint
        self.settings = AgentSettings() if settings is None else settings
        walk = BlueprintWalk(blueprint.tree, blueprint.definition)
        how = self.settings.preflop
        tables = None if how == LOOK_UP else read_values(blueprint)
        self._preflop = (
            BlueprintPreflop(blueprint, walk)
            if tables is None
            else SolvedPreflop(blueprint, walk, tables, always=how == SOLVE)
        )
        self._streets = BlueprintStreets(blueprint, walk)
        self.book = open_book(blueprint, self.settings)
        """Flops in this book are played by it; None: no book."""
        net = load_net(net_path(blueprint)) if self.settings.leaf == NET else None
        self._solves = StreetSolves(blueprint, walk, self.settings, net, pace)
        self._is_warm = self.settings.budget is None

    def warm_up(self) -> None:
        """Load the kernels, compiling them if necessary, so that no decision pays for it.

        Also measures the speed of this machine, so that the first decision knows what it has time for. Blocks
        for about a second, or for minutes if nothing is compiled yet. `decide` calls it when needed.
        """
        opening = start(self.blueprint.definition)
        off_tree = _bet_off_tree(opening)
        for state, limits in ((opening, UNLIMITED), (opening.apply(CALL), UNLIMITED), (off_tree, NO_TIME)):
            self._preflop.decide(state, (), None, 0, limits)
        quick = self._quick_copy(iterations=1)
        quick._check_down(asking=True)
        off_tree = _bet_off_tree(off_tree.apply(CALL))
        if off_tree.round_index == FLOP:
            quick.decide(off_tree, tuple(range(off_tree.definition.board_size(FLOP))), None, seed=0)
        self._quick_copy(_PACE_ITERATIONS, self._solves.pace)._check_down(asking=False)
        self._is_warm = True

    def _quick_copy(self, iterations: int, pace: Pace | None = None) -> Agent:
        """An agent with the same settings that solves for only a few iterations."""
        settings = make_settings(
            iterations=iterations, threads=self.settings.threads, leaf=self.settings.leaf, preflop=LOOK_UP
        )
        return Agent(self.blueprint, settings, pace)

    def _check_down(self, asking: bool) -> None:
        """Decide on every street of a hand without bets; with `asking`, also compute values and losses."""
        betting, context = start(self.blueprint.definition), None
        while not betting.is_finished:
            if betting.round_index >= FLOP:
                board = tuple(range(betting.definition.board_size(betting.round_index)))
                decision = self.decide(betting, board, context, seed=0)
                if asking:
                    decision.values()
                    decision.exploitability()
                context = decision.after(CALL)
                betting = betting.apply(CALL)
            betting = betting.apply(CALL)

    def flop_context(self, betting: BettingState, seed: int, limits: Limits = UNLIMITED) -> Context:
        """Both ranges at the start of the flop, given the betting before it. May solve."""
        return self._preflop.context(betting, seed, limits)

    def decide(
        self,
        betting: BettingState,
        board: Cards,
        context: Context | None,
        seed: int,
        limits: Limits = UNLIMITED,
    ) -> Decision:
        """Decide for the player to act. Blocks while it solves.

        context  from our previous decision in this hand; None before the first, and then bets made earlier on
                 later streets do not narrow the ranges
        """
        if not self._is_warm and (betting.round_index > PREFLOP or self._preflop.solves(betting)):
            self.warm_up()
        if betting.round_index == PREFLOP:
            return self._preflop.decide(betting, board, context, seed, limits)
        countdown = Countdown(limits)
        if context is None or not context.knows_flop(betting):
            context = self.flop_context(betting, seed, limits)
        promised = context.promised(betting, board) if self.settings.safe else None
        root = find_root(betting, board, context)
        if betting.round_index == FLOP and self.book is not None:
            found = self.book.decide(betting, board, context, root)
            if found is not None:
                return found
        looks_up = betting.round_index == FLOP and self.settings.flop_method == SOLVE_OFF_TREE
        if promised is None and (looks_up or not self._solves.has_time(root, countdown)):
            looked_up = self._streets.decide(betting, board, context)
            if looked_up is not None:
                return looked_up
        for at_decision in (False, True):
            if at_decision:
                root = find_root(betting, board, context, at_decision)
            allowed = countdown.shortened(_FIRST_TRY) if root.path else countdown
            if betting.round_index == FLOP:
                decision = self._solves.flop(betting, root, seed, allowed)
            else:
                kept = None if at_decision else promised
                decision = self._solves.to_the_end(betting, root, kept, seed, allowed)
            if decision.ranges[1 - betting.actor].any() or limits.stop():
                break
        return decision
