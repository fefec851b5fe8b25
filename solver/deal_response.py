"""Exact best responses to bucket strategies, on a list of deals.

The list is the game: its deals are all that can happen, equally likely. Where the list holds every deal of a
small game, values are exact. Where it is a sample, the game is the sample's, and by Jensen's inequality the
response's value is at least, on average, what it would be over all deals: a bound from above.

The responder remembers all his buckets since the start of the hand, while the strategies he answers see the
current one only. With imperfect recall (buckets that forget) a best response restricted to what the
strategies see is NP-hard to find; the responder who remembers is easy and never weaker: again a bound from
above.

To see how much of a sampled value is knowledge of the sample, choose the response on one part of the list and
play it on the other: a bound from below, up to the noise of the second part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solver.kernels.mccfr import Deals
from solver.layout import F32, F64, I64
from solver.training_game import TrainingGame


@dataclass(frozen=True, slots=True)
class Response:
    """Values of best responses by both players, in the game's units per hand."""

    fitted: tuple[float, float]
    """On the deals they were chosen for."""
    held_out: tuple[float, float] | None
    """On the other deals."""

    @property
    def exploitability(self) -> float:
        """Mean of both players' gains; the game is zero-sum, so values need not be taken off."""
        return sum(self.fitted) / 2

    @property
    def held_out_exploitability(self) -> float:
        """The same on deals the responses have not seen."""
        if self.held_out is None:
            raise ValueError("no deals were held out")
        return sum(self.held_out) / 2


def respond(game: TrainingGame, strategy: F32, deals: Deals, held_out: float = 0.0) -> Response:
    """Best responses to the strategies in a table float32[node][bucket][action].

    held_out  share of the deals, the last ones, on which responses are played but not chosen
    """
    num_fit = round(len(deals.outcome) * (1 - held_out))
    values = [_Responder(game, strategy, deals, player, num_fit).root_values() for player in range(2)]
    fitted = [float(value[:num_fit].mean()) for value in values]
    rest = None
    if num_fit < len(deals.outcome):
        rest = (float(values[0][num_fit:].mean()), float(values[1][num_fit:].mean()))
    return Response((fitted[0], fitted[1]), rest)


class _Responder:
    def __init__(self, game: TrainingGame, strategy: F32, deals: Deals, player: int, num_fit: int) -> None:
        self.betting, self.strategy, self.deals = game.betting, strategy, deals
        self.player, self.num_fit, self.num_rounds = player, num_fit, game.num_rounds
        self.sign = 1.0 if player == 0 else -1.0
        self.memory = [self._remembered(r) for r in range(game.num_rounds)]

    def root_values(self) -> F64:
        """float64[deals]: value of the response on each deal."""
        return self._value(0, np.ones(len(self.deals.outcome)))

    def _remembered(self, round_index: int) -> I64:
        """int64[deals]: a number for each sequence of the player's buckets up to a round."""
        columns = slice(self.player * self.num_rounds, self.player * self.num_rounds + round_index + 1)
        _, numbers = np.unique(self.deals.buckets[:, columns], axis=0, return_inverse=True)
        return np.asarray(numbers.reshape(-1), dtype=np.int64)

    def _value(self, n: int, reach: F64) -> F64:
        """Value on each deal times the probability `reach` with which the opponent comes there."""
        betting = self.betting
        num_actions, first = int(betting.num_actions[n]), int(betting.first_entry[n])
        if betting.player[n] == self.player:
            values = [self._entry_value(first + a, reach) for a in range(num_actions)]
            memory = self.memory[betting.column[n] % self.num_rounds]
            fit, size = memory[: self.num_fit], int(memory.max()) + 1
            totals = [np.bincount(fit, value[: self.num_fit], size) for value in values]
            best: npt.NDArray[np.intp] = np.argmax(totals, axis=0)
            return np.asarray(np.choose(best[memory], values))
        where = betting.base[n] + self.deals.buckets[:, betting.column[n]].astype(np.int64) * num_actions
        total = np.zeros(len(reach))
        for a in range(num_actions):
            total += self._entry_value(first + a, reach * self.strategy[where + a])
        return total

    def _entry_value(self, entry: int, reach: F64) -> F64:
        betting = self.betting
        following = int(betting.child[entry])
        if following >= 0:
            return self._value(following, reach)
        payoff = betting.fixed[entry] + betting.stake[entry] * self.deals.outcome.astype(np.float64)
        return np.asarray(self.sign * payoff * reach)
