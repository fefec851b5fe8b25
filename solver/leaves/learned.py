"""Leaf values at the end of the flop, learned during the solve: turn and river strategies over buckets.

1. Below every leaf both players start from the blueprint and keep learning by regret matching, on the run-out
   of each iteration, against the ranges that the flop strategies bring there. So the values answer how the
   flop is played, as in a solve to the end of the hand; only hands are grouped, by the blueprint's buckets.
2. The opponent needs no continuations to choose from, because the strategies adapt.
3. The turn and river strategies only serve to value the flop and are discarded. Those streets are solved when
   they come, hand by hand.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from numeric.arrays import F32, U32
from solver.blueprint.thinning import Thinning
from solver.games.layout import LANES, Step, aligned
from solver.leaves.flop_end import FlopEnd
from solver.leaves.kernels.learned import Lessons, Notes, learn_leaves
from solver.leaves.kernels.rollout import MAX_ACTIONS
from solver.leaves.rollouts import ONE_STRATEGY, BlueprintRollouts, padded

_VISITS = 50.0
"""Visits that the blueprint's strategies count as, each weighted by the pot at stake: a few iterations would
teach less than the blueprint knows. This start is discounted as old iterations are: quickly in a solve from
zero, slowly in one with a warm start (`solver.depth_limited.flop_start`), which counts as finished
iterations. From zero, after 60 and 200 iterations, losses on two flops (`fathom bench flop`) were 4.9 and 2.0
% of pot with 1 visit, 3.8 and 1.7 with 10, 3.0 and 1.6 with 50, 2.8 and 1.7 with 250."""


class LearnedLeaves(BlueprintRollouts):
    """Leaf values by learning strategies. Make one per subgame; not for concurrent calls."""

    def __init__(self, end: FlopEnd) -> None:
        """Learn below the leaves of a game, with a thinned betting tree (`solver.blueprint.thinning`)."""
        super().__init__(end, ONE_STRATEGY)
        game, sizes = end.game, [padded(count) for count in end.blueprint.num_buckets[2:]]
        weight = np.zeros((2, game.stride), dtype=np.float32)
        weight[:, : game.num_hands] = game.ranges
        self._lessons = Lessons(
            self._first_regrets(sizes),
            np.array(sizes, dtype=np.int32),
            weight,
            np.zeros((2, max(sizes)), dtype=np.float32),
            np.zeros((2, 1 + max(sizes) // LANES), dtype=np.int32),
        )
        self._notes = [Notes(aligned(MAX_ACTIONS * max(sizes))) for _ in range(end.threads)]

    @property
    def words(self) -> U32:
        """The current strategies, see `kernels.rollout.Playbook`."""
        return self._book.words

    def _thinning(self) -> Thinning:
        return self._end.blueprint.thinning

    def next_sample(self) -> None:
        """Draw the next run-out."""
        super().next_sample()
        self._lessons.present[:] = 0
        for street, (present, places) in enumerate(
            zip(self._lessons.present, self._lessons.places, strict=True)
        ):
            buckets = self._runout.buckets[street, : self._end.game.num_hands]
            present[buckets[self._live]] = 1
            # Blocked hands, which have no weight, are assigned to the first bucket.
            found = LANES * np.union1d(0, np.flatnonzero(present) // LANES)
            places[0], places[1 : 1 + len(found)] = len(found), found

    def _first_regrets(self, sizes: list[int]) -> F32:
        """Initial regrets whose regret matching gives the blueprint's strategies."""
        leaves, book = self._end.leaves, self._book
        mass = self._end.game.ranges.sum(axis=1, dtype=np.float64)
        regret = aligned(len(book.words) * MAX_ACTIONS)
        shifts = np.array([0, 8, 16, 24], dtype=np.uint32)[:, None]
        for leaf, traverser in product(self._open.tolist(), range(2)):
            unit = _VISITS * leaves[leaf].stake * mass[0] * mass[1] / 255
            turn, river, end = book.segments[leaf, traverser].tolist()
            for segment in (turn, *range(river, end)):
                size = sizes[segment != turn]
                begin, end_up = book.program.segments[segment, 4:6].tolist()
                for node in book.program.up[begin:end_up, 5].tolist():
                    base = int(book.base[node])
                    part = regret[MAX_ACTIONS * base :][: MAX_ACTIONS * size].reshape(MAX_ACTIONS, size)
                    words = book.words[base : base + size]
                    part[:] = (words >> shifts & np.uint32(255)) * np.float32(unit / size)
        return regret

    def _value_open(self, thread: int, for_chooser: bool, reach: F32, value: F32, step: Step | None) -> None:
        if step is None:
            super()._value_open(thread, for_chooser, reach, value, step)
            return
        planes, scratch = self._memory[thread]
        learn_leaves(
            self._order, self._counter, for_chooser, self._shape, self._runout, self._book,
            self._lessons, step, planes, scratch, self._notes[thread], reach, value,
        )  # fmt: skip
