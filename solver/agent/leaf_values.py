"""The leaf values of a flop solve, by the names of the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from numeric.arrays import F32
from solver.decisions.settings import ADAPTED, LEARNED, NET, ROLLOUTS
from solver.depth_limited.solver import SAMPLED_SCHEDULE, DepthLimitedSolver, LeafValues
from solver.leaves.adapted_rollouts import AdaptedRollouts
from solver.leaves.flop_end import FlopEnd
from solver.leaves.learned import LearnedLeaves
from solver.leaves.rollouts import BlueprintRollouts
from solver.leaves.value_net import NetLeaves, ValueNet

ADAPTING = 1 / 3
"""Share of a flop's time in which the continuations adapt before they are frozen; where iterations are the
limit, the same share of them, in addition."""


@dataclass(frozen=True, slots=True, eq=False)
class LeafMethod:
    """How the end of a flop is valued; `AgentSettings` describes the fields."""

    leaf: str
    continuations: F32
    both: bool = True
    """With ROLLOUTS: whether both players choose, or only the opponent."""
    net: ValueNet | None = None
    """The net of NET."""

    def values(self, end: FlopEnd, adapt: Callable[[DepthLimitedSolver], object]) -> LeafValues:
        """The leaf values of a solve.

        adapt  runs the solve in which the continuations of ADAPTED learn, for ADAPTING of the time
        """
        if self.leaf == NET:
            assert self.net is not None, "the method needs a net"
            return NetLeaves(end, self.net, self.continuations)
        if self.leaf == ROLLOUTS:
            return BlueprintRollouts(end, self.continuations, self.both)
        learned = LearnedLeaves(end)
        if self.leaf == LEARNED:
            return learned
        assert self.leaf == ADAPTED, f"{self.leaf} has no values"
        adapt(DepthLimitedSolver(end.game, learned, end.chooser, SAMPLED_SCHEDULE))
        return AdaptedRollouts(replace(end, seed=end.seed + 1), learned, self.continuations)
