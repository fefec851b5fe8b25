"""A decision: what to do with every hand, what is known of both players now, and why."""

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
from solver.alternatives import Alternatives
from solver.game import unblocked_weight
from solver.layout import F32
from solver.nested import Context, SubgameRoot, coded_action, narrowed, was_done
from solver.range_strategy import RangeStrategy, drop_rare
from solver.solution import Solution
from solver.tree import DECISION, FOLD_ACTION


class Method(Enum):
    """How a decision was found."""

    BLUEPRINT = "blueprint"
    BOOK = "flop book"
    DEPTH_LIMITED = "depth-limited"
    EXACT = "exact"
    SAFE = "exact, safe"


class Solved(Protocol):
    """A solve that can still be asked."""

    def action_values(self, node: int, player: int) -> F32:
        """float32[A, H]: counterfactual values of what a player can do at a node of his."""

    def exploitability(self) -> float:
        """Of both strategies in the solved game, in chips; an estimate where values are samples."""

    def promise(self, node: int, action: int, player: int) -> Alternatives | None:
        """What the opponent is promised after an action, counted as at a node of ours.

        None if the next solve is unsafe anyway.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What to do with every hand, and what is known of both players now."""

    betting: BettingState
    board: Cards
    strategy: RangeStrategy
    ranges: F32
    """float32[2, 1326]: both players' weights, the opponent's last action included.

    His are zeros if he never takes it (`nested.was_done`) and the answer to it was not learned.
    """
    method: Method
    iterations: int
    phases: dict[str, float] = field(default_factory=dict)
    """Seconds by what was done."""
    replies: dict[Action, dict[int, F32]] = field(default_factory=dict)
    """After our actions that leave it to him, float32[1326] by what he does: how often he does it."""
    solved: Solved | None = None
    node: int = -1
    """Of the solved game."""
    labels: npt.NDArray[np.int64] | None = None
    """Of the solved game's hands."""
    leaf: str = ""
    """What valued the end of a depth-limited solve: a name of `agent_settings`."""
    root_pot: int = 0
    """Where the solve begins, before the opponent's last bet; 0 where nothing can be asked of it any more."""

    @property
    def seconds(self) -> float:
        """All it took."""
        return sum(self.phases.values())

    def frequencies(self) -> F32:
        """float32[A]: how often each action is taken over our whole range, hands weighted as we hold them."""
        weight = self.ranges[self.betting.actor]
        shares: F32 = self.strategy.probabilities @ weight / max(float(weight.sum()), 1e-30)
        return shares

    def after(self, action: Action) -> Context:
        """What the next decision has to know, if this action is taken.

        One that is not ours (somebody else began the hand) tells nothing of our cards. May take some tens of
        milliseconds: values for every card that may come.
        """
        ranges = self.ranges.copy()
        alternatives = None
        if action in self.strategy.actions:
            own = self.betting.actor
            ranges[own] = narrowed(ranges[own], self.strategy.probability(action))
            alternatives = self._promise(action)
        text = self.betting.apply(action).text
        return Context(text, ranges, self.replies.get(action, {}), alternatives)

    def values(self) -> F32 | None:
        """float32[A, 1326]: what each action is worth to each hand of ours, in chips over the whole hand.

        None where nothing was solved; NaN for impossible hands.
        """
        if self.solved is None or self.labels is None:
            return None
        own = self.betting.actor
        found = self.solved.action_values(self.node, own)
        theirs = self.ranges[1 - own]
        met = unblocked_weight(HAND_CARDS.astype(np.int64), theirs)[self.labels]
        wide = np.full((len(found), NUM_HANDS), np.nan, dtype=np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            wide[:, self.labels] = np.where(met > 1e-6 * theirs.sum(), found / met, np.nan)
        return wide

    def exploitability(self) -> float | None:
        """Of the solved strategies, in chips; None where nothing was solved."""
        return None if self.solved is None else self.solved.exploitability()

    def percent_of_pot(self, chips: float) -> float:
        """In % of the pot that the solve is about: the opponent's last bet is part of his strategy there."""
        return 100 * chips / (self.root_pot or self.betting.pot)

    def _promise(self, action: Action) -> Alternatives | None:
        if self.solved is None:
            return None
        return self.solved.promise(self.node, self.strategy.actions.index(action), self.betting.actor)


def read_decision(
    betting: BettingState,
    root: SubgameRoot,
    solution: Solution,
    method: Method,
    phases: dict[str, float],
    solved: Solved,
    rare: float = 0.0,
    first_share: float = 0.0,
    leaf: str = "",
    known: bool = False,
) -> Decision:
    """Read the decision off a solved subgame.

    rare         what a hand does more seldom it does not do at all
    first_share  see `Schedule.first_share`
    leaf         what valued its leaves
    known        the solve began with the blueprint's strategy for our decision
    """
    tree, own = solution.game.tree, betting.actor
    node = tree.find(root.codes)
    assert tree.player[node] == own, "the path leads to our decision"
    labels = solution.game.labels
    ranges = np.zeros((2, NUM_HANDS), dtype=np.float32)
    for player in range(2):
        reach = solution.reach(player, node)
        weights = solution.game.ranges[player]
        if player == own or was_done(weights, reach, first_share):
            ranges[player, labels] = reach
        elif known:
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
        betting, root.board, strategy, ranges, method, solution.iterations, phases, replies, solved, node,
        labels, leaf, root.betting.pot,
    )  # fmt: skip


def _widened(row: F32, labels: npt.NDArray[np.int64], elsewhere: float) -> F32:
    wide = np.full(NUM_HANDS, elsewhere, dtype=np.float32)
    wide[labels] = row
    return wide
