"""How fast this machine solves, learned from its own solves: which tree there is time for.

A pass over a tree takes time in proportion to its nodes, by street. What a solve really took moves the
estimate, so slow machines and busy ones come to smaller trees by themselves.
"""

from __future__ import annotations

_FIRST = {1: 9e-5, 2: 9e-5, 3: 2e-6}
"""Seconds of one thread per node and iteration, by street: a first guess, which the first solves correct."""
_NEWEST = 0.2
"""What the last solve counts in the estimate."""
_LEAST_ITERATIONS, _LEAST_NODES = 8, 20
"""Smaller solves tell of what it takes to begin one."""


class Pace:
    """Not for concurrent calls."""

    def __init__(self) -> None:
        self._seconds = dict(_FIRST)

    def iterations(self, street: int, nodes: int, seconds: float, threads: int) -> float:
        """How many there is time for."""
        return seconds * threads / (self._seconds[street] * nodes)

    def learn(self, street: int, nodes: int, iterations: int, seconds: float, threads: int) -> None:
        """A solve took so long."""
        if iterations >= _LEAST_ITERATIONS and nodes >= _LEAST_NODES:
            taken = seconds * threads / (nodes * iterations)
            self._seconds[street] += _NEWEST * (taken - self._seconds[street])
