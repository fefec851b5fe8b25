"""Responding step by step, as the game goes on (Milec, Kubicek and Lisy, algorithm 1).

Nothing here knows games, trees or arrays. What is asked of a solver is `StepSolver`; the lab's solvers over
flat games implement it, and a solver of public betting trees with ranges can.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

Place = TypeVar("Place")
Step = TypeVar("Step")
Answer = TypeVar("Answer")


Place_contra = TypeVar("Place_contra", contravariant=True)
Step_contra = TypeVar("Step_contra", contravariant=True)


class Steps(Protocol[Place_contra, Step]):
    """The order in which parts of a game are solved. Steps are hashable."""

    def at(self, place: Place_contra) -> Step:
        """The step that decides how we play at a place."""

    def before(self, step: Step) -> Step | None:
        """The step whose answer is fixed when this one is solved; None for the first."""


class StepSolver(Protocol[Step_contra, Answer]):
    """Solves one step.

    An answer has what is needed to go on from it: our strategy in all steps so far, and how we would go on
    below (the values promised to the opponent follow from it).
    """

    def begin(self) -> Answer:
        """The answer before the first step, in which nothing is fixed."""

    def solve(self, step: Step_contra, before: Answer) -> Answer:
        """The answer of a step with all earlier steps fixed as in the answer before it."""


class ContinualResponse(Generic[Place, Step, Answer]):
    """A response that is solved where it is needed: along one way at a table, everywhere in the lab."""

    def __init__(self, steps: Steps[Place, Step], solver: StepSolver[Step, Answer]) -> None:
        self._steps, self._solver = steps, solver
        self._answers: dict[Step, Answer] = {}

    def at(self, place: Place) -> Answer:
        """The answer that decides at a place. Solves the steps up to it that were not solved before."""
        missing = []
        step: Step | None = self._steps.at(place)
        while step is not None and step not in self._answers:
            missing.append(step)
            step = self._steps.before(step)
        answer = self._solver.begin() if step is None else self._answers[step]
        for new in reversed(missing):
            answer = self._answers[new] = self._solver.solve(new, answer)
        return answer
