"""Speed of this machine, measured on its own solves, to choose a tree that there is time for.

A pass over a tree takes time in proportion to the actions of its last round, by street. The time of every
solve updates the estimate, so slow and busy machines use smaller trees. The first solve of a street, which
`warm_up` of an agent makes, replaces the initial estimate, so that the first decision of a process is as good
as any.
"""

from __future__ import annotations

_FIRST = {1: 9e-5, 2: 9e-5, 3: 2e-6}
"""Seconds of one thread per action and iteration, by street: the initial estimate."""
_NEWEST = 0.3
"""Weight of the last solve in the estimate."""
_LEAST_ITERATIONS, _LEAST_ACTIONS = 8, 20
"""Smaller solves mostly measure their set-up."""


class Pace:
    """Estimates iterations from time. Not for concurrent calls."""

    def __init__(self) -> None:
        self._seconds = dict(_FIRST)
        self._known: set[int] = set()

    def iterations(self, street: int, actions: int, seconds: float, threads: int) -> float:
        """Number of iterations that there is time for."""
        return seconds * threads / (self._seconds[street] * actions)

    def learn(self, street: int, actions: int, iterations: int, seconds: float, threads: int) -> None:
        """Update the estimate by the time of a solve."""
        if iterations >= _LEAST_ITERATIONS and actions >= _LEAST_ACTIONS:
            taken = seconds * threads / (actions * iterations)
            share = _NEWEST if street in self._known else 1.0
            self._seconds[street] += share * (taken - self._seconds[street])
            self._known.add(street)
