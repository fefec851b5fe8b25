"""Ranges from one decision to the next, updated by Bayes' rule.

1. Ranges are never empty. Every possible hand keeps a small weight, so that play can go on after an action
   that the solution never takes.
2. An action that the opponent takes very rarely in the solution is still answered by that solution, since the
   opponent avoids it because of the answer. (The alternative, treating the action as uninformative and
   solving again from after it, called a bet of 33 pots with two thirds of our range.) The range then stays
   as it was. There is no answer only if no hand took the action after the first iteration, since regrets of
   nodes with no reach do not change, and the solve had no warm start or our decision is not on the
   blueprint's tree. Then the subgame is rooted at our decision.
3. The first iteration is excluded from this test because the players are not alike in it: player 1's uniform
   strategy enters the average, while player 0 has already been updated. So player 1's reach is never exactly
   zero.
"""

from __future__ import annotations

import numpy as np

from game.hands import NUM_HANDS
from numeric.arrays import F32

LEAST_SHARE = 1e-4
"""Smallest weight of a possible hand, as a share of the range's largest weight."""

_FIRST_FACTOR = 1.5
"""Reach of up to this many times the first iteration's share of the average counts as taken in the first
iteration only. The factor leaves room for hands that enter a safe subgame less often later on: they can raise
that share by a quarter."""
_FIRST_LIMIT = 1e-3
"""Upper bound of that threshold: with few iterations the first one has a large share."""

NEVER = 1e-4
"""An action taken by a smaller share of the range counts as never taken."""


def narrowed_range(weights: F32, taken: F32) -> F32:
    """A range after an action, given its probability for each hand. Unchanged if the action is never taken.

    weights, taken  float32[1326]
    """
    left: F32 = weights * taken
    return left if left.sum() >= NEVER * weights.sum() else weights


def was_done(weights: F32, reach: F32, first_share: float) -> bool:
    """Whether any hand takes the path from the root of a solve to a node in a later iteration than the first.

    After a warm start the blueprint's share of the average counts, too.

    weights, reach  float32[H]: a player's range at the root, and the reach at the node
    first_share     see `Schedule.first_share`
    """
    return bool((reach > min(_FIRST_FACTOR * first_share, _FIRST_LIMIT) * weights).any())


def full_ranges() -> F32:
    """float32[2, 1326]: both ranges before anybody has acted."""
    return np.ones((2, NUM_HANDS), dtype=np.float32)


def living_range(weights: F32, live: np.ndarray) -> F32:
    """Scale a range to a largest weight of 1, and give every possible hand a small weight."""
    possible = np.where(live, weights, 0)
    largest = possible.max()
    if largest <= 0:
        return live.astype(np.float32)
    scaled: F32 = np.where(live, np.maximum(possible / largest, LEAST_SHARE), 0).astype(np.float32)
    return scaled
