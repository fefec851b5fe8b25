"""The three kinds of action: fold, call and raise. A check is a call that costs nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ActionKind(StrEnum):
    """The kind of an action; values are the letters of the ACPC protocol."""

    FOLD = "f"
    CALL = "c"
    RAISE = "r"


class Action(NamedTuple):
    """One action. `raise_to` is the player's total chips over the whole hand; 0 unless a no-limit raise.

    A named tuple for the same reason as `BettingState`.
    """

    kind: ActionKind
    raise_to: int = 0

    def __str__(self) -> str:
        return f"r{self.raise_to}" if self.raise_to else str(self.kind)


FOLD = Action(ActionKind.FOLD)
CALL = Action(ActionKind.CALL)
LIMIT_RAISE = Action(ActionKind.RAISE)
"""The raise of a limit game, where the size is fixed by the round."""


def raise_to(chips: int) -> Action:
    """Raise (or bet) so that the player has put `chips` into the pot over the whole hand."""
    return tuple.__new__(Action, (ActionKind.RAISE, chips))  # see `game.betting` for why not `Action(...)`
