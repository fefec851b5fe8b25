"""The arrays of a game with buckets: its betting nodes, and batches of deals.

Kernels that walk a blueprint's tree share them: training, self-play and walks of whole ranges.
"""

from __future__ import annotations

from typing import NamedTuple

from numeric.arrays import F32, I32, I64, U8


class Betting(NamedTuple):
    """Decision nodes of a betting tree, parents first, and what their actions lead to."""

    column: I32
    """int32[N]: the deals' bucket column of the node: player * rounds + round."""
    player: I32
    num_actions: I32
    first_entry: I32
    """int32[N]: the node's actions are entries first_entry[n].. of the arrays below."""
    base: I64
    """int64[N]: where the node's infosets start in the tables: [bucket][action]."""
    child: I32
    """int32[C]: decision node that the action leads to, or -1 if it ends the hand."""
    fixed: F32
    """float32[C]: payoff of player 0 if a fold ends the hand, 0 otherwise."""
    stake: F32
    """float32[C]: payoff of the winner if a showdown ends the hand, 0 otherwise."""
    prunable: U8
    """uint8[C]: 1 if pruning may skip the action."""


class Deals(NamedTuple):
    """A batch of deals."""

    buckets: I32
    """int32[B, 2 * rounds]: bucket of player 0 in each round, then of player 1."""
    outcome: F32
    """float32[B, rounds]: player 0's share of the stake, -1..1, if there is no more betting after each round:
    a mean over cards to come, exact after the last round."""
