"""Leaf values at the end of the flop by rollouts of continuations that are adapted to the actual ranges.

The continuations of the paper are the blueprint and biased copies of it (`solver.leaves.rollouts`). They suit
ranges near the blueprint's own. For other ranges the blueprint's turn and river strategies are no good
answer, and no bias corrects that. So learned leaves (`solver.leaves.learned`) first learn turn and river
strategies for the ranges. These are then frozen, and both players choose, with each hand, between them and
biased copies of them.
"""

from __future__ import annotations

from numeric.arrays import F32
from solver.blueprint.thinning import Thinning
from solver.leaves.flop_end import FlopEnd
from solver.leaves.learned import LearnedLeaves
from solver.leaves.rollouts import FOUR_STRATEGIES, BlueprintRollouts


class AdaptedRollouts(BlueprintRollouts):
    """Leaf values by rollouts of learned strategies. Make one per subgame; not for concurrent calls."""

    def __init__(self, end: FlopEnd, learned: LearnedLeaves, bias: F32 = FOUR_STRATEGIES) -> None:
        """Prepare rollouts of the current strategies of `learned`, which may go on learning.

        end      with another seed than theirs, so that strategies are not evaluated on the cards they were
                 trained on
        learned  leaf values that have learned below the same leaves
        bias     continuations of both players, see `BlueprintRollouts`
        """
        super().__init__(end, bias, both=True)
        self._book.words[:] = learned.words

    def _thinning(self) -> Thinning | None:
        return self._end.blueprint.thinning
