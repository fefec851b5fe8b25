"""Settings of the agent: menus, time and iterations of each street, and how leaves are valued."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path

from numeric.arrays import F32
from solver.leaves.rollouts import FOUR_STRATEGIES

PREFLOP, FLOP, TURN, RIVER = range(4)

DEFAULT_BUDGET = 2.5
"""Seconds per hand."""

LEARNED, ADAPTED, ROLLOUTS, NET = "learned", "adapted", "rollouts", "net"
LEAF_METHODS = (LEARNED, ADAPTED, ROLLOUTS, NET)
TABLE = "table"
"""Values the end of the first round with the blueprint's table of opponent strategies."""

SOLVE_OFF_TREE, SOLVE, LOOK_UP = "offtree", "solve", "lookup"
PREFLOP_METHODS = (SOLVE_OFF_TREE, SOLVE, LOOK_UP)
FLOP_METHODS = (SOLVE, SOLVE_OFF_TREE)

DEFAULT_BOOK = Path("default")
"""Stands for the blueprint's flop book in Fathom's data folder, if there is one."""

_TURN_ITERATIONS, _RIVER_ITERATIONS = 0.5, 4.0
"""Turn and river iterations per flop iteration."""

CHOICES = {1: [0], 2: [0, 1], 4: [0, 1, 2, 3]}
"""Continuations offered, by their number. With two, calling or raising instead of folding loses more
(`fathom bench flop`)."""


@dataclass(frozen=True, slots=True)
class StreetSettings:
    """How one street is solved."""

    menu: str
    max_iterations: int
    rare: float = 0.0
    """Actions that a hand takes with a smaller probability than this are dropped."""
    quick_menu: str = ""
    """Menu for when there is no time for `menu`; empty: always use `menu`."""
    iterations_wanted: int = 80
    """Use `quick_menu` if there is time for fewer iterations than this with `menu`."""
    rich_menu: str = ""
    """Larger menu for when there is time."""
    rich_iterations: int = 80
    """Use `rich_menu` only if there is time for this many iterations with it."""
    own_bets: str = ""
    """Extra bet sizes where it is our turn to bet, added to the rich menu. Extra sizes cost least here: they
    apply to one player and to one node."""
    own_iterations: int = 0
    """Use `own_bets` only if there is time for this many iterations with them."""

    @property
    def choices(self) -> list[tuple[str, str, int]]:
        """(menu, own bets, iterations there must be time for), the largest tree first."""
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
    """How the agent plays."""

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
    """Seconds per hand if the caller keeps no time; None: solves end by iterations."""
    continuations: F32 = field(default_factory=lambda: FOUR_STRATEGIES)
    """float32[K, 3]: strategies the opponent can choose from at the end of the flop, see `leaves.rollouts`.
    With ADAPTED and ROLLOUTS we choose from them, too. Not used by LEARNED."""
    leaf: str = LEARNED
    """How the end of the flop is valued. LEARNED: turn and river strategies that start from the blueprint and
    learn. ADAPTED: rollouts of continuations adapted to the ranges. ROLLOUTS: rollouts of the blueprint as it
    is. NET: a value net trained on rollouts."""
    threads: int = 1
    preflop: str = SOLVE_OFF_TREE
    """When the first round is solved. SOLVE_OFF_TREE: from the first bet on that is not in the blueprint's
    tree. SOLVE: always. LOOK_UP: never. Without a leaf table in the blueprint's file it is never solved."""
    flop_method: str = SOLVE
    """When flops are solved. SOLVE: always. SOLVE_OFF_TREE: from the first off-tree bet on."""
    safe: bool = True
    """Whether a solve to the end of the hand keeps the values promised to the opponent by the previous
    one."""
    book: Path | None = DEFAULT_BOOK
    """Folder of a flop book (`solver.flop_book.book`) to play from; None: play without a book."""

    def street(self, round_index: int) -> StreetSettings:
        """Settings of a round after the first."""
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
    """Make settings from a few numbers. Raises `ValueError` if they are inconsistent.

    budget      seconds per hand; 0 for the default
    iterations  iterations of flop solves, however long they take; turns, which are exact, get half as many
                and rivers, which are fast, four times as many. 0: as many as the budget allows.
                With a number of iterations, flops are solved even if there is a flop book
    values      continuations to choose from at the end of the flop: 1, 2 or 4 (the default). With rollouts
                both players choose, with the value net only the opponent
    safe        whether solves keep the values that earlier solves promised the opponent
    preflop     when to solve the first round: offtree (from the first off-tree bet on), solve (always) or
                lookup (never)
    flop        when to solve flops: solve or offtree
    leaf        how to value the end of the flop: learned, adapted, rollouts or net (the blueprint's value
                net)
    """
    if budget < 0:
        raise ValueError(f"budget must not be negative, got {budget}")
    if iterations < 0:
        raise ValueError(f"iterations must not be negative, got {iterations}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    if leaf not in LEAF_METHODS:
        raise ValueError(f"unknown leaf method {leaf!r}: choose one of {', '.join(LEAF_METHODS)}")
    if preflop not in PREFLOP_METHODS:
        raise ValueError(f"unknown pre-flop method {preflop!r}: choose one of {', '.join(PREFLOP_METHODS)}")
    if flop not in FLOP_METHODS:
        raise ValueError(f"unknown flop method {flop!r}: choose one of {', '.join(FLOP_METHODS)}")
    if values and leaf == LEARNED:
        raise ValueError("values needs leaves with continuations: also choose leaf=adapted or leaf=rollouts")
    if (values or 4) not in CHOICES:
        raise ValueError(f"values must be one of {', '.join(map(str, CHOICES))}, got {values}")
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
