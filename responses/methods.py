"""The responses by name. They differ in the trust p, in the gadget, and in whether the model acts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from responses.dial import checked_dial


class Gadget(Enum):
    """How the opponent, where it is free, gets to the part that is being solved."""

    FULL = "full"
    """By playing all that comes before (Milec, Kubicek and Lisy, section 5).

    It measures exactly what the opponent wins if all that was solved before is fixed (by level, or in one
    growing trunk); not if each subgame is solved on its own way only.
    """
    RESOLVING = "resolving"
    """With each private state it enters or takes its value of the step before (Burch et al., 2014).

    What all private states win is added up, which is at least what the opponent wins: so the bound of theorem
    5.3 holds on ways of their own, too.
    """
    MAX_MARGIN = "max-margin"
    """It chooses one private state; values count from those of the step before (Moravcik et al., 2016)."""
    REACH_MAX_MARGIN = "reach-max-margin"
    """The same, with what it gave up on the way there added (Brown and Sandholm, 2017)."""


@dataclass(frozen=True, slots=True)
class Method:
    """A response."""

    p: float
    """Probability that the opponent plays the model."""
    gadget: Gadget = Gadget.FULL
    model_acts: bool = True
    """Whether the model also plays in the part that is being solved, or is only asked how it got there."""

    def __post_init__(self) -> None:
        checked_dial(self.p)


def cdbr() -> Method:
    """Continual depth-limited best response."""
    return Method(1.0)


def cdrnr(p: float, gadget: Gadget = Gadget.FULL) -> Method:
    """Continual depth-limited restricted Nash response; without trust it is continual resolving.

    That is safe with the full gadget by level or in a growing trunk, and with the resolving
    and the max-margin one on ways of their own, too.
    """
    return Method(p, gadget)


def ses(p: float) -> Method:
    """Safe exploitation search (Liu et al., 2022): the model only sets reaches of the max-margin gadget."""
    return Method(p, Gadget.MAX_MARGIN, model_acts=False)
