"""A decision: the strategy of every hand, both ranges, and the solve behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from game.actions import Action
from game.betting import BettingState
from game.cards import Cards
from game.hands import HAND_CARDS, NUM_HANDS
from numeric.arrays import F32
from solver.decisions.range_strategy import RangeStrategy, drop_rare
from solver.exact.solution import Solution
from solver.games.game import unblocked_weight
from solver.games.history import coded_action
from solver.games.tree import DECISION, FOLD_ACTION
from solver.resolving.alternatives import Alternatives
from solver.resolving.context import Context
from solver.resolving.ranges import narrowed_range, was_done
from solver.resolving.root import SubgameRoot


class Method(Enum):
    """How a decision was made."""

    BLUEPRINT = "blueprint"
    BOOK = "flop book"
    DEPTH_LIMITED = "depth-limited"
    EXACT = "exact"
    SAFE = "exact, safe"


class Solved(Protocol):
    """A finished solve that can be queried."""

    def action_values(self, node: int, player: int) -> F32:
        """float32[A, H]: counterfactual values of a player's actions at one of their nodes."""

    def exploitability(self) -> float:
        """Exploitability in the solved game, in chips; an estimate if leaf values are sampled."""

    def promise(self, node: int, action: int, player: int) -> Alternatives | None:
        """Values promised to the opponent after an action, by the action's index at our node.

        None if the next solve is unsafe.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """The strategy of every hand, and both ranges."""

    betting: BettingState
    board: Cards
    strategy: RangeStrategy
    ranges: F32
    """float32[2, 1326]: both players' weights, updated by the opponent's last action.

    The opponent's are zero if the solution never takes it (`resolving.ranges.was_done`) and has no answer to
    it.
    """
    method: Method
    iterations: int
    phases: dict[str, float] = field(default_factory=dict)
    """Seconds by phase."""
    replies: dict[Action, dict[int, F32]] = field(default_factory=dict)
    """For each of our actions that the opponent can answer: float32[1326] by reply code, its probability."""
    solved: Solved | None = None
    node: int = -1
    """Our decision node in the solved game."""
    labels: npt.NDArray[np.int64] | None = None
    """Hands (0..1325) of the solved game's rows."""
    leaf: str = ""
    """Leaf method of a depth-limited solve, a name of `settings`."""
    root_pot: int = 0
    """Pot at the root, before the opponent's last bet; 0 if there is no solve to query."""
    reached: F32 | None = None
    """float32[1326]: the opponent's reach of this decision in the solution; None if there is none."""

    @property
    def seconds(self) -> float:
        """Total time."""
        return sum(self.phases.values())

    def frequencies(self) -> F32:
        """float32[A]: how often each action is taken, averaged over our range."""
        weight = self.ranges[self.betting.actor]
        shares: F32 = self.strategy.probabilities @ weight / max(float(weight.sum()), 1e-30)
        return shares

    def after(self, action: Action) -> Context:
        """The context for the next decision, if this action is taken.

        If the action is not in our strategy (somebody else played the hand until now), our range stays as it
        is. May take some tens of milliseconds, because it computes values for every card that may come.
        """
        ranges = self.ranges.copy()
        alternatives = None
        if action in self.strategy.actions:
            own = self.betting.actor
            ranges[own] = narrowed_range(ranges[own], self.strategy.probability(action))
            alternatives = self._promise(action)
        text = self.betting.apply(action).text
        return Context(text, ranges, self.replies.get(action, {}), alternatives)

    def values(self) -> F32 | None:
        """float32[A, 1326]: value of each action for each of our hands, in chips over the whole hand.

        None if nothing was solved, or if no hand of the opponent comes here in the solution; NaN for
        impossible hands.
        """
        if self.solved is None or self.labels is None or self.reached is None or not self.reached.any():
            return None
        own = self.betting.actor
        found = self.solved.action_values(self.node, own)
        theirs = self.reached
        met = unblocked_weight(HAND_CARDS.astype(np.int64), theirs)[self.labels]
        wide = np.full((len(found), NUM_HANDS), np.nan, dtype=np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            wide[:, self.labels] = np.where(met > 1e-6 * theirs.sum(), found / met, np.nan)
        return wide

    def exploitability(self) -> float | None:
        """Exploitability of the solved strategies, in chips; None if nothing was solved."""
        return None if self.solved is None else self.solved.exploitability()

    def percent_of_pot(self, chips: float) -> float:
        """Chips in % of the pot at the root: the opponent's last bet belongs to the solved strategies."""
        return 100 * chips / (self.root_pot or self.betting.pot)

    def _promise(self, action: Action) -> Alternatives | None:
        if self.solved is None:
            return None
        return self.solved.promise(self.node, self.strategy.actions.index(action), self.betting.actor)


@dataclass(frozen=True, slots=True, eq=False)
class StreetSolve:
    """A finished solve of a subgame, from which a decision can be read."""

    method: Method
    solution: Solution
    solved: Solved
    phases: dict[str, float]
    """Seconds by phase."""
    first_share: float
    """See `Schedule.first_share`."""
    known: bool
    """Whether it had a warm start, and our decision is on the blueprint's tree."""
    leaf: str = ""
    """Leaf method, if there is one."""


def read_decision(
    betting: BettingState, root: SubgameRoot, solve: StreetSolve, rare: float = 0.0
) -> Decision:
    """Read a decision from a solved subgame.

    rare  actions that a hand takes with a smaller probability are dropped
    """
    solution = solve.solution
    tree, own = solution.game.tree, betting.actor
    node = tree.find(root.codes)
    assert tree.player[node] == own, "the path leads to our decision"
    labels = solution.game.labels
    ranges, reached = np.zeros((2, NUM_HANDS), dtype=np.float32), np.zeros(NUM_HANDS, dtype=np.float32)
    reached[labels] = solution.reach(1 - own, node)
    for player in range(2):
        reach = solution.reach(player, node)
        weights = solution.game.ranges[player]
        if player == own or was_done(weights, reach, solve.first_share):
            ranges[player, labels] = reach
        elif solve.known:
            ranges[player, labels] = weights
    actions, rows, replies = [], [], {}
    for child, row in zip(
        tree.children_of(node).tolist(), drop_rare(solution.strategy(node), rare), strict=True
    ):
        action = coded_action(int(tree.action[child]))
        actions.append(action)
        rows.append(_widened(row, labels, 0.0))
        if tree.kind[child] == DECISION and tree.round[child] == 0:
            theirs = solution.strategy(child)
            replies[action] = {
                reply: _widened(theirs[i], labels, 1.0)
                for i, reply in enumerate(tree.actions_of(child))
                if reply != FOLD_ACTION
            }
    strategy = RangeStrategy(tuple(actions), np.stack(rows))
    return Decision(
        betting, root.board, strategy, ranges, solve.method, solution.iterations, solve.phases, replies,
        solve.solved, node, labels, solve.leaf, root.betting.pot, reached,
    )  # fmt: skip


def _widened(row: F32, labels: npt.NDArray[np.int64], elsewhere: float) -> F32:
    wide = np.full(NUM_HANDS, elsewhere, dtype=np.float32)
    wide[labels] = row
    return wide
