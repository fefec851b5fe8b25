"""What is asked of a worker, and what it answers: plain values that travel between processes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from game.actions import CALL, FOLD, Action, raise_to
from game.cards import Cards
from game.errors import IllegalAction
from solver.layout import F32

_RAISE = re.compile(r"r([1-9][0-9]{0,8})")


class Rung(Enum):
    """How far down the ladder of fallbacks an answer comes from."""

    SOLVED = "solved"
    BEST_SO_FAR = "best_so_far"
    """The deadline or a stop cut the solve off early."""
    BLUEPRINT = "blueprint"
    CHECK_FOLD = "check_fold"


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """One decision of one hand. Whoever answers keeps nothing of it."""

    match: str
    """Whose turn it is among many: matches share the workers fairly."""
    betting: str
    """All betting of the hand so far, as ACPC writes it: `r300c/cr450`."""
    board: Cards
    hand: int
    """The two cards we hold, as `game.hands.hand_index` numbers them."""
    context: bytes | None
    """Of our last decision in this hand (`solver.nested.Context`), None before the first."""
    seed: int
    """Of all that is random in the solve and in drawing the action."""
    seconds: float
    """To think."""
    played: str | None = None
    """What was done here in fact, if it is known: then the answer's context is of that."""
    explain: bool = False
    """Whether the answer tells all about itself; takes up to a tenth of a second more."""


@dataclass(frozen=True, slots=True, eq=False)
class DecisionAnswer:
    """An action, what the next decision must know, and how it came about."""

    action: str
    """`f`, `c` or `r713`."""
    context: bytes | None
    actions: tuple[str, ...]
    probabilities: F32
    """float32[A, 1326]: what every hand of ours would do."""
    ranges: F32
    """float32[2, 1326]: both players' weights before the action."""
    method: str
    """`solver.decision.Method`'s value, or of the rung."""
    iterations: int
    seconds: float
    rung: Rung
    explanation: bytes | None = None
    """JSON of `solver.explanation`, if it was asked for and somebody solved."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a solve is."""

    iterations: int
    most_iterations: int
    """It ends there, if its time does not end before."""


class Decider(Protocol):
    """Somebody who answers: the dispatcher of the worker pool, or a stand-in in a test."""

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        """Answer in time, always, with a legal action."""


@runtime_checkable
class Watchable(Protocol):
    """A decider that tells how far it is."""

    def progress(self, request: DecisionRequest) -> Progress | None:
        """Of a decision that was asked for by this very request; None if nobody has begun to count."""


def parse_action(text: str) -> Action:
    """`f`, `c` or `r300`, as the ACPC writes them; raises `IllegalAction`."""
    if text == "f":
        return FOLD
    if text == "c":
        return CALL
    chips = _RAISE.fullmatch(text)
    if chips is None:
        raise IllegalAction(f"{text[:20]!r} is no action: write f, c, or r and a total of the hand, as r300")
    return raise_to(int(chips[1]))
