"""How the agent plays: menus, time and iterations of each street, and what the opponent may do at leaves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path

from solver.layout import F32
from solver.rollouts import FOUR_STRATEGIES

PREFLOP, FLOP, TURN, RIVER = range(4)

DEFAULT_BUDGET = 2.5
"""Seconds per hand."""

LEARNED, ADAPTED, ROLLOUTS, NET = "learned", "adapted", "rollouts", "net"
LEAF_METHODS = (LEARNED, ADAPTED, ROLLOUTS, NET)
TABLE = "table"
"""What values the end of the first round: the blueprint's table of opponent strategies."""

SOLVE_OFF_TREE, SOLVE, LOOK_UP = "offtree", "solve", "lookup"
PREFLOP_METHODS = (SOLVE_OFF_TREE, SOLVE, LOOK_UP)
FLOP_METHODS = (SOLVE, SOLVE_OFF_TREE)

DEFAULT_BOOK = Path("default")
"""The flop book of the blueprint in Fathom's data folder, if there is one."""

_TURN_ITERATIONS, _RIVER_ITERATIONS = 0.5, 4.0
"""For each one that flops get."""

CHOICES = {1: [0], 2: [0, 1], 4: [0, 1, 2, 3]}
"""Of the four continuations: with two, calls or raises in place of folds lose more (`fathom bench flop`)."""


@dataclass(frozen=True, slots=True)
class StreetSettings:
    """How one street is solved."""

    menu: str
    max_iterations: int
    rare: float = 0.0
    """What a hand does more seldom than that it does not do at all."""
    quick_menu: str = ""
    """Where there is no time for that one; none: there always is."""
    iterations_wanted: int = 80
    """With the menu: less time is for the quick one."""
    rich_menu: str = ""
    """Where there is time for more."""
    rich_iterations: int = 80
    """With the rich menu: less time is for the other ones."""
    own_bets: str = ""
    """Besides those of the rich menu, where it is our turn to bet: a choice of sizes costs least where it is
    ours, and once."""
    own_iterations: int = 0
    """With these, too: less time is for the rich menu alone."""

    @property
    def choices(self) -> list[tuple[str, str, int]]:
        """Menus with bets of our own and the iterations that there must be time for, the largest first."""
        offered = [(self.menu, "", self.iterations_wanted if self.quick_menu else 0)]
        if self.quick_menu:
            offered.append((self.quick_menu, "", 0))
        if self.rich_menu:
            offered.insert(0, (self.rich_menu, "", self.rich_iterations))
        if self.own_bets:
            offered.insert(0, (self.rich_menu or self.menu, self.own_bets, self.own_iterations))
        return offered


@dataclass(frozen=True, slots=True, eq=False)
class AgentSettings:
    """How to play."""

    flop: StreetSettings = StreetSettings(
        "75%, a<100% | 100%, a<250% | a",
        2_000,
        rare=0.1,
        quick_menu="75%, a<100% | a<250%",
        iterations_wanted=50,
        rich_menu="50%, 100%, a<250% | 100%, a<250% | a",
        rich_iterations=600,
    )
    turn: StreetSettings = StreetSettings(
        "75%, a<250% | 100%, a<250% | a",
        1_000,
        quick_menu="75%, a<100% | a<250%",
        iterations_wanted=14,
        own_bets="50%, 100%",
        own_iterations=28,
    )
    river: StreetSettings = StreetSettings(
        "33%, 75%, 150%, a | 75%, a | 100%, a",
        2_000,
        quick_menu="75%, a<250% | 100%, a<250% | a",
        own_bets="50%, 100%",
        own_iterations=300,
    )
    budget: float | None = DEFAULT_BUDGET
    """Seconds for a hand, where nobody else keeps the time; None: iterations end solves."""
    continuations: F32 = field(default_factory=lambda: FOUR_STRATEGIES)
    """float32[K, 3]: the opponent's at the end of the flop, see `solver.rollouts`; ours, too, for
    ADAPTED and ROLLOUTS. Not for LEARNED."""
    leaf: str = LEARNED
    """What values the end of the flop: strategies for turn and river that learn from the blueprint on,
    play-outs of continuations, ADAPTED to the ranges or by the blueprint as it is (ROLLOUTS), or NET, which
    has learned of those."""
    threads: int = 1
    preflop: str = SOLVE_OFF_TREE
    """Whether the first round is solved or looked up: looked up until somebody bets what the blueprint's tree
    does not have, from there on solved; always to SOLVE; always to LOOK_UP. Without a table for it in the
    blueprint's file it is looked up."""
    flop_method: str = SOLVE
    """Whether flops are solved, or looked up until somebody bets what the blueprint's tree does not have."""
    safe: bool = True
    """Whether the opponent keeps what the last solution promised him, once there was one to the end."""
    book: Path | None = DEFAULT_BOOK
    """Folder of a flop book (`solver.flop_book`), by which flops are played that are in it; None: none is."""

    def street(self, round_index: int) -> StreetSettings:
        """Of a round after the flop."""
        return {FLOP: self.flop, TURN: self.turn, RIVER: self.river}[round_index]


def make_settings(
    budget: float = 0.0,
    iterations: int = 0,
    values: int = 0,
    threads: int = 1,
    safe: bool = True,
    preflop: str = SOLVE_OFF_TREE,
    flop: str = SOLVE,
    leaf: str = LEARNED,
) -> AgentSettings:
    """Settings from a few numbers; refuses what makes no sense with `ValueError`.

    budget      seconds for a hand; 0 for the default
    iterations  of flop solves, whatever time they take; turns, which are exact, get half as many, rivers,
                which are quick, four times; 0 for as many as the budget allows.
                With a number of them flops are solved even where there is a book
    values      continuations to choose from at the end of the flop: 1, 2 or 4 (the default); for both players
                if they are played out, for the opponent if they are valued by the net
    safe        whether later solves keep what earlier ones promised the opponent
    preflop     when the first round is solved: offtree, as soon as somebody bets what the blueprint does not
                have; solve, always; lookup, never
    flop        likewise: solve or offtree
    leaf        what values the end of the flop: learned, adapted, rollouts, or the blueprint's value net
    """
    if budget < 0 or iterations < 0 or threads < 1:
        raise ValueError("budget and iterations must not be negative, and it takes a thread to think")
    if leaf not in LEAF_METHODS:
        raise ValueError(f"{leaf!r} values no leaves: choose one of {', '.join(LEAF_METHODS)}")
    if preflop not in PREFLOP_METHODS:
        raise ValueError(f"{preflop!r} is no way to play the first round: {', '.join(PREFLOP_METHODS)} are")
    if flop not in FLOP_METHODS:
        raise ValueError(f"{flop!r} is no way to play flops: {' and '.join(FLOP_METHODS)} are")
    if values and leaf == LEARNED:
        raise ValueError(
            "learned leaves adapt and have no continuations to count: choose leaf=adapted or rollouts, too"
        )
    if (values or 4) not in CHOICES:
        raise ValueError(f"{values} continuations: choose one of {', '.join(map(str, CHOICES))}")
    plain = AgentSettings()

    def street(settings: StreetSettings, times: float = 1.0) -> StreetSettings:
        return replace(settings, max_iterations=ceil(times * iterations)) if iterations else settings

    return AgentSettings(
        flop=street(plain.flop),
        turn=street(plain.turn, _TURN_ITERATIONS),
        river=street(plain.river, _RIVER_ITERATIONS),
        budget=None if iterations else budget or DEFAULT_BUDGET,
        continuations=FOUR_STRATEGIES[CHOICES[values or 4]],
        leaf=leaf,
        threads=threads,
        safe=safe,
        preflop=preflop,
        flop_method=flop,
        book=None if iterations else DEFAULT_BOOK,
    )
