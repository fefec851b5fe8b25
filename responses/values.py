"""What stands for the rest of the game below a depth limit."""

from __future__ import annotations

from typing import Protocol

from numeric.arrays import F64


class ValueFunction(Protocol):
    """Counterfactual values at the depth limit when both play well from there.

    The arrays are over everything that a player can know at the depth limit, in the order of the solver that
    asks: sequences in the lab, leaves × hands in hold'em.
    """

    def values(self, reaches: tuple[F64, F64]) -> tuple[F64, F64]:
        """Each player's own values, not weighted by the own reach, from the reaches of both players."""
