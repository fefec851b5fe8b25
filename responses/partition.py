"""Steps of a public tree that is known as a whole.

A step looks ahead from a decision of ours: at this action and at `depth` more actions, by whomever, chance
included. Steps overlap: the next decision is solved anew and looks further. That this is meant by "the
number of actions CDBR was allowed to look at in the future" (Milec, Kubicek and Lisy) is told by their
table 1, which comes out so and not with steps that follow each other without overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numeric.arrays import I32, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One step. Masks are over public states."""

    decided: Mask
    """Where our strategy of this step is kept."""
    solved: Mask
    """Where it is fixed by the steps before."""
    seen: Mask
    """What comes before the depth limit, in this step and in those before it."""
    before: Part | None
    root: int | None
    """The public state that is decided, if it is one."""


class Partition:
    """The steps of a public tree, found by public state."""

    def __init__(self, parts: dict[int, Part]) -> None:
        self._parts = parts

    def at(self, place: int) -> Part:
        """The step that decides a public state of ours."""
        return self._parts[place]

    def before(self, step: Part) -> Part | None:
        """The step that is fixed when this one is solved."""
        return step.before

    @property
    def places(self) -> list[int]:
        """Our public states."""
        return sorted(self._parts)


def _checked_depth(depth: int) -> None:
    if depth < 0:
        raise ValueError(f"depth {depth}: a step looks at 0 actions or more after the own one")


def by_subgame(parent: I32, level: I32, ours: Mask, depth: int, growing: bool = False) -> Partition:
    """Every decision by itself, as at a table: only its own way from the start is fixed, and seen.

    If our first decision may be in one of several public states, a first step decides nothing: the others go
    on from the values of this step.

    parent   int32[P]: the public state before, which has a lower number; -1 at the start
    level    int32[P]: number of actions before
    ours     bool[P]: where we act
    growing  whether one trunk grows instead: then all decisions with lower numbers are fixed and seen, on the
             way or not. At a table nobody has solved them
    """
    _checked_depth(depth)
    parts: dict[int, Part] = {}
    ways = {place: _way(parent, place) for place in np.flatnonzero(ours).tolist()}
    starts = [way for way in ways.values() if not (way & ours).any()]
    trunk = None
    if len(starts) > 1:
        nothing = np.zeros(len(parent), dtype=np.bool_)
        trunk = Part(nothing, nothing, np.any(starts, axis=0), None, None)
    last: Part | None = None
    for place, way in ways.items():
        near = np.zeros_like(way)
        near[place] = True
        for other in range(place + 1, len(parent)):
            near[other] = parent[other] >= 0 and near[parent[other]] and level[other] <= level[place] + depth
        earlier = np.flatnonzero(way & ours)
        before = parts[int(earlier[-1])] if len(earlier) else trunk
        solved = way & ours
        if growing and last is not None:
            before, solved = last, last.solved | last.decided
        seen = way | near if before is None else way | near | before.seen
        decided = np.zeros_like(way)
        decided[place] = True
        last = parts[place] = Part(decided, solved, seen, before, place)
    return Partition(parts)


def _way(parent: I32, place: int) -> Mask:
    """bool[P]: what comes before a public state."""
    way = np.zeros(len(parent), dtype=np.bool_)
    at = int(parent[place])
    while at >= 0:
        way[at] = True
        at = int(parent[at])
    return way


def by_level(level: I32, ours: Mask, depth: int, overlap: bool = True) -> Partition:
    """All decisions of a level at once.

    Then the bound on exploitability (theorem 5.3) holds, as it does for one trunk that grows by subgames. If
    each subgame is solved on its own way only, each may give away what the opponent lacks to reach it, and if
    chance leads to several of them these gifts add up without having been counted (`fathom lab two-boards`).

    overlap  whether the next step begins at the next decision, or at the depth limit
    """
    _checked_depth(depth)
    parts: dict[int, Part] = {}
    before: Part | None = None
    start, end = 0, int(level.max()) + 1
    while start < end:
        mine = ours & (level >= start)
        if not mine.any():
            break
        start = int(level[mine].min()) if overlap else start
        limit = start + depth + 1
        decided = ours & (level >= start) & (level < (start + 1 if overlap else limit))
        if decided.any():
            before = Part(decided, ours & (level < start), level < limit, before, None)
            parts |= dict.fromkeys(np.flatnonzero(decided).tolist(), before)
        start = start + 1 if overlap else limit
    return Partition(parts)


def by_stage(parent: I32, stage: I32, ours: Mask, together: bool) -> Partition:
    """Whole stages of a game, such as betting rounds: a step ends where its stage does, and is kept whole.

    stage     int32[P]: the stage of each public state; it does not fall on the way
    together  whether all subgames of a stage are one step, or each is one
    """
    parts: dict[int, Part] = {}
    before: Part | None = None
    if together:
        for each in np.unique(stage):
            here = stage == each
            before = Part(ours & here, ours & (stage < each), stage <= each, before, None)
            parts |= dict.fromkeys(np.flatnonzero(here).tolist(), before)
    else:
        entry = np.arange(len(parent))
        for place, above in enumerate(parent.tolist()):
            entry[place] = entry[above] if above >= 0 and stage[above] == stage[place] else place
        for place in np.unique(entry).tolist():
            here = entry == place
            before = parts[int(parent[place])] if parent[place] >= 0 else None
            # What the step before decided and saw off the way stays so, as in its values.
            solved = np.zeros_like(here) if before is None else before.solved | before.decided
            part = Part(ours & here, solved, here if before is None else before.seen | here, before, place)
            parts |= dict.fromkeys(np.flatnonzero(here).tolist(), part)
    return Partition({place: parts[place] for place in np.flatnonzero(ours).tolist()})
