"""How fast this machine solves, learned from its own solves: which tree there is time for.

A pass over a tree takes time in proportion to the actions of its last round, by street. What a solve
really took moves the estimate, so slow machines and busy ones come to smaller trees by themselves. The first
solve of a street, for which an agent that warms up sees to, counts alone: the first decision of a process is
as good as any.
"""

from __future__ import annotations

_FIRST = {1: 9e-5, 2: 9e-5, 3: 2e-6}
"""Seconds of one thread per action and iteration, by street: a guess until the first solve."""
_NEWEST = 0.3
"""What the last solve counts in the estimate."""
_LEAST_ITERATIONS, _LEAST_ACTIONS = 8, 20
"""Smaller solves tell of what it takes to begin one."""


class Pace:
    """Not for concurrent calls."""

    def __init__(self) -> None:
        self._seconds = dict(_FIRST)
        self._known: set[int] = set()

    def iterations(self, street: int, actions: int, seconds: float, threads: int) -> float:
        """How many there is time for."""
        return seconds * threads / (self._seconds[street] * actions)

    def learn(self, street: int, actions: int, iterations: int, seconds: float, threads: int) -> None:
        """A solve took so long."""
        if iterations >= _LEAST_ITERATIONS and actions >= _LEAST_ACTIONS:
            taken = seconds * threads / (actions * iterations)
            share = _NEWEST if street in self._known else 1.0
            self._seconds[street] += share * (taken - self._seconds[street])
            self._known.add(street)
