"""Action translation between a game and its abstraction: maps an off-menu bet to a bet of the menu, and back.

Bets are compared as pot fractions: the chips a raise adds after calling, divided by the pot after calling,
each with its own pot. Pseudo-harmonic mapping: Ganzfried and Sandholm, "Action Translation in Extensive-Form
Games with Large Action Spaces", IJCAI 2013.
"""

from __future__ import annotations

from numeric.jit import kernel


@kernel
def pseudo_harmonic(fraction: float, low: float, high: float) -> float:
    """The probability of mapping a bet between two menu sizes to the lower one: 1 at low, 0 at high."""
    return (high - fraction) * (1.0 + low) / ((high - low) * (1.0 + fraction))


@kernel
def pot_fraction(total: int, faced: int) -> float:
    """The pot fraction of a raise to `total` over a bet to `faced`, both totals over the hand."""
    return (total - faced) / (2.0 * faced)


@kernel
def same_fraction(total: int, faced: int, own_faced: int) -> int:
    """The raise-to total over `own_faced` with the same pot fraction as a raise to `total` over `faced`."""
    return own_faced + ((total - faced) * 2 * own_faced + faced) // (2 * faced)
