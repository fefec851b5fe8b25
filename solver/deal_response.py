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

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from solver.kernels.mccfr import Deals
from solver.layout import F32, F64, I8, I32
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


def respond(
    game: TrainingGame, strategy: F32, deals: Deals, held_out: float = 0.0, threads: int = 1
) -> Response:
    """Best responses to the strategies in a table float32[node][bucket][action].

    held_out  share of the deals, the last ones, on which responses are played but not chosen
    """
    num_deals = len(deals.outcome)
    fit = np.ones(num_deals)
    fit[round(num_deals * (1 - held_out)) :] = 0
    sums = []
    for player in range(2):
        parts = _parts(game, strategy, deals, fit, player)
        with ThreadPoolExecutor(threads) as pool:
            sums.append(np.sum(list(pool.map(_Part.value, parts)), axis=0))
    weights = fit.sum(), num_deals - fit.sum()
    fitted, rest = (tuple(float(sums[p][i] / max(weights[i], 1)) for p in range(2)) for i in range(2))
    return Response((fitted[0], fitted[1]), (rest[0], rest[1]) if weights[1] else None)


def uniform_strategy(game: TrainingGame) -> F32:
    """float32[table size]: all actions alike, to compare with."""
    counts = np.repeat(game.betting.num_actions, game.betting.num_actions * game.node_buckets)
    return (1 / counts).astype(np.float32)


def _parts(game: TrainingGame, strategy: F32, deals: Deals, fit: F64, player: int) -> Iterator[_Part]:
    """The deals by the responder's first bucket, in the order of what he remembers: parts fit a cache."""
    rounds = game.num_rounds
    own = deals.buckets[:, player * rounds : (player + 1) * rounds]
    order = np.lexsort(own.T[::-1])
    edges = np.flatnonzero(np.diff(own[order, 0])) + 1
    for rows in np.split(order, edges):
        yield _Part(game, strategy, player, deals.buckets[rows], deals.outcome[rows], fit[rows])


class _Part:
    """The response of one player on deals sorted by his buckets, first round first."""

    def __init__(
        self, game: TrainingGame, strategy: F32, player: int, buckets: I32, outcome: I8, fit: F64
    ) -> None:
        self.betting, self.strategy, self.player, self.rounds = (
            game.betting,
            strategy,
            player,
            game.num_rounds,
        )
        self.buckets, self.fit = buckets.astype(np.int64), fit
        self.outcome = outcome * (1.0 if player == 0 else -1.0)
        own = buckets[:, player * self.rounds : (player + 1) * self.rounds]
        changes = np.diff(own, axis=0, prepend=own[:1]) != 0
        changes[0] = True
        # Where what he remembers changes, for each round: earlier rounds are remembered.
        self.starts = [np.flatnonzero(changes[:, : r + 1].any(axis=1)) for r in range(self.rounds)]
        self.lengths = [np.diff(starts, append=len(own)) for starts in self.starts]

    def value(self) -> tuple[float, float]:
        """Sum of the response's values over the deals it was chosen for, and over the others."""
        values = self._node_value(0, np.ones(len(self.fit)))
        fitted = float(values @ self.fit)
        return fitted, float(values.sum()) - fitted

    def _node_value(self, n: int, reach: F64) -> F64:
        """Value on each deal times the probability `reach` with which the opponent comes there."""
        betting = self.betting
        num_actions, first = int(betting.num_actions[n]), int(betting.first_entry[n])
        column = int(betting.column[n])
        if betting.player[n] == self.player:
            values = [self._entry_value(first + a, reach) for a in range(num_actions)]
            starts = self.starts[column % self.rounds]
            totals = [np.add.reduceat(value * self.fit, starts) for value in values]
            best = np.repeat(np.argmax(totals, axis=0), self.lengths[column % self.rounds])
            result = values[0]
            for a in range(1, num_actions):
                result = np.where(best == a, values[a], result)
            return result
        where = betting.base[n] + self.buckets[:, column] * num_actions
        total = np.zeros(len(reach))
        for a in range(num_actions):
            chance = self.strategy[where + a]
            if chance.any():
                total += self._entry_value(first + a, reach * chance)
        return total

    def _entry_value(self, entry: int, reach: F64) -> F64:
        betting = self.betting
        following = int(betting.child[entry])
        if following >= 0:
            return self._node_value(following, reach)
        if betting.stake[entry]:
            return np.asarray(float(betting.stake[entry]) * self.outcome * reach)
        return np.asarray(float(betting.fixed[entry]) * (1 if self.player == 0 else -1) * reach)
