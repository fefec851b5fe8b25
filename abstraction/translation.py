"""Translation between a game and its abstraction: which bet of a menu an off-menu bet is taken for, and back.

Bets are compared as pot fractions: what a raise adds over what calling it would leave in the pot before it,
each side with its own pot. Pseudo-harmonic mapping: Ganzfried and Sandholm, "Action Translation in
Extensive-Form Games with Large Action Spaces", IJCAI 2013.
"""

from __future__ import annotations

from game.jit import kernel


@kernel
def pseudo_harmonic(fraction: float, low: float, high: float) -> float:
    """How often a bet between two neighbours of the menu is taken for the lower one: 1 at low, 0 at high."""
    return (high - fraction) * (1.0 + low) / ((high - low) * (1.0 + fraction))


@kernel
def pot_fraction(total: int, faced: int) -> float:
    """A raise to `total` when the bet to call is `faced`, both totals over the hand."""
    return (total - faced) / (2.0 * faced)


@kernel
def same_fraction(total: int, faced: int, own_faced: int) -> int:
    """The raise-to total that has in a pot of `own_faced` each the pot fraction `total` has over `faced`."""
    return own_faced + ((total - faced) * 2 * own_faced + faced) // (2 * faced)
