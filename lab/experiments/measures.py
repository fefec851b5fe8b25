"""What the experiments measure of a strategy, and the engine and opponents they share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lab.exact.programs import best_equilibrium, equilibrium, solve_saddle
from lab.flat.game import FlatGame
from lab.flat.plans import best_response, expected, plan_of, strategy_of, worst_case
from lab.flat.saddle import Answer, Saddle
from numeric.arrays import F64
from responses.dial import blend


def exactly(problem: Saddle) -> F64:
    """The engine of exact experiments: linear programs, so that the value function is optimal."""
    return solve_saddle(problem).strategy


@dataclass(frozen=True)
class Duel:
    """A game and an opponent in it."""

    game: FlatGame
    model: F64

    @cached_property
    def nash(self) -> Answer:
        """The value and an equilibrium."""
        return equilibrium(self.game)

    @cached_property
    def most(self) -> float:
        """The gain of the best response."""
        return best_response(self.game, self.model)[0] - self.nash.value

    @cached_property
    def safest(self) -> F64:
        """The equilibrium that gains most (BNE)."""
        return best_equilibrium(self.game, self.model).strategy

    def blended(self, exploiting: F64, p: float) -> F64:
        """CDBR-NE: the best equilibrium with probability 1 - p, and else this strategy."""
        side = self.game.sides[0]
        return strategy_of(side, blend(plan_of(side, self.safest), plan_of(side, exploiting), p))

    def gain(self, ours: F64) -> float:
        """What a strategy wins from the opponent above the value of the game."""
        return expected(self.game, ours, self.model) - self.nash.value

    def exploitability(self, ours: F64) -> float:
        """What it wins less than the value in the worst case."""
        return self.nash.value - worst_case(self.game, ours)

    def point(self, ours: F64) -> tuple[float, float]:
        """Exploitability and gain."""
        return self.exploitability(ours), self.gain(ours)
