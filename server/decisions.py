"""Decision requests and answers: plain values that are sent between processes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from game.actions import CALL, FOLD, Action, raise_to
from game.cards import Cards
from game.errors import IllegalAction
from numeric.arrays import F32

_RAISE = re.compile(r"r([1-9][0-9]{0,8})")


class Rung(Enum):
    """The rung of the ladder of fallbacks that an answer comes from, best first."""

    SOLVED = "solved"
    BEST_SO_FAR = "best_so_far"
    """The solve was cut short by its deadline or a stop."""
    BLUEPRINT = "blueprint"
    CHECK_FOLD = "check_fold"


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """One decision of one hand. Self-contained: deciders keep nothing of a hand between requests."""

    match: str
    """Key of the fair queue: matches share the workers fairly."""
    betting: str
    """All betting of the hand so far, in ACPC notation: `r300c/cr450`."""
    board: Cards
    hand: int
    """Our hole cards as a `game.hands.hand_index`."""
    context: bytes | None
    """Context of our last decision in this hand (`resolving.context.Context`); None before the first."""
    seed: int
    """Random seed of the solve and of drawing the action."""
    seconds: float
    """Thinking time."""
    played: str | None = None
    """The action actually taken here, if known: the answer's context then follows it."""
    explain: bool = False
    """Whether to include an explanation; takes up to a tenth of a second more."""


@dataclass(frozen=True, slots=True, eq=False)
class DecisionAnswer:
    """An action, the context for the next decision, and how the action was found."""

    action: str
    """`f`, `c` or `r713`."""
    context: bytes | None
    actions: tuple[str, ...]
    probabilities: F32
    """float32[A, 1326]: the strategy of every hand we may hold."""
    ranges: F32
    """float32[2, 1326]: both players' weights before the action."""
    method: str
    """A value of `solver.decisions.decision.Method`, or of the rung."""
    iterations: int
    seconds: float
    rung: Rung
    explanation: bytes | None = None
    """JSON of `solver.decisions.explanation`, if requested and the decision was solved."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a solve."""

    iterations: int
    most_iterations: int
    """The solve ends there, unless its time runs out first."""


class Decider(Protocol):
    """Makes decisions: the dispatcher of the worker pool, or a stand-in in tests."""

    async def decide(self, request: DecisionRequest) -> DecisionAnswer:
        """Always answer in time with a legal action."""


@runtime_checkable
class Watchable(Protocol):
    """A decider that reports progress."""

    def progress(self, request: DecisionRequest) -> Progress | None:
        """Progress of this very request object; None if it has not started iterating."""


def parse_action(text: str) -> Action:
    """Parse `f`, `c` or `r300` (ACPC notation); raises `IllegalAction`."""
    if text == "f":
        return FOLD
    if text == "c":
        return CALL
    chips = _RAISE.fullmatch(text)
    if chips is None:
        raise IllegalAction(f"{text[:20]!r} is not an action: write f, c, or r and the total, e.g. r300")
    return raise_to(int(chips[1]))
