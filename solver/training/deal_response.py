"""Exact best responses to bucket strategies, on a list of deals.

The list defines the game: its deals are equally likely, and there are no others. If the list holds every deal
of a small game, values are exact. If it is a sample, the response is fitted to the sample, and by Jensen's
inequality its mean value is at least the value over all deals: an upper bound.

The responder has perfect recall of their buckets since the start of the hand, while the strategies they
answer only see the current bucket. With imperfect recall a best response with the strategies' information is
NP-hard to find; one with perfect recall is easy and never weaker: again an upper bound.

To see how much of a sampled value is overfitting, choose the response on one part of the list and evaluate it
on the other: a lower bound, up to the noise of the second part.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from numeric.arrays import F32, I32
from solver.blueprint.abstract_game import TrainingGame
from solver.blueprint.layout import Deals
from solver.training.kernels.deal_values import add_best, add_ends, follow_action


@dataclass(frozen=True, slots=True)
class Response:
    """Values of both players' best responses, in the game's units per hand."""

    fitted: tuple[float, float]
    """On the deals they were fitted to."""
    held_out: tuple[float, float] | None
    """On the held-out deals."""

    @property
    def exploitability(self) -> float:
        """Mean of both players' gains; the game is zero-sum, so the players' values cancel."""
        return sum(self.fitted) / 2

    @property
    def held_out_exploitability(self) -> float:
        """The same on held-out deals."""
        if self.held_out is None:
            raise ValueError("no deals were held out: call respond with held_out > 0")
        return sum(self.held_out) / 2


def respond(
    game: TrainingGame, strategy: F32, deals: Deals, held_out: float = 0.0, threads: int = 1
) -> Response:
    """Best responses to the strategies in a table float32[node][bucket][action].

    held_out  share of the deals, at the end of the list, on which responses are evaluated but not fitted
    """
    num_deals = len(deals.outcome)
    fit = np.ones(num_deals, dtype=np.float32)
    fit[round(num_deals * (1 - held_out)) :] = 0
    sums = []
    for player in range(2):
        parts = _parts(game, strategy, deals, fit, player)
        with ThreadPoolExecutor(threads) as pool:
            sums.append(np.sum(list(pool.map(_Part.value, parts)), axis=0))
    weights = float(fit.sum(dtype=np.float64)), num_deals - float(fit.sum(dtype=np.float64))
    fitted, rest = (tuple(float(sums[p][i] / max(weights[i], 1)) for p in range(2)) for i in range(2))
    return Response((fitted[0], fitted[1]), (rest[0], rest[1]) if weights[1] else None)


def uniform_strategy(game: TrainingGame) -> F32:
    """float32[table size]: the uniform strategy, for comparison."""
    counts = np.repeat(game.betting.num_actions, game.betting.num_actions * game.node_buckets)
    return (1 / counts).astype(np.float32)


def _parts(game: TrainingGame, strategy: F32, deals: Deals, fit: F32, player: int) -> Iterator[_Part]:
    """The deals by the responder's first bucket, sorted by bucket history; parts fit a cache."""
    rounds = game.num_rounds
    own = deals.buckets[:, player * rounds : (player + 1) * rounds]
    order = np.lexsort(own.T[::-1])
    edges = np.flatnonzero(np.diff(own[order, 0])) + 1
    for rows in np.split(order, edges):
        yield _Part(game, strategy, player, deals.buckets[rows], deals.outcome[rows], fit[rows])


class _Part:
    """The response of one player on deals sorted by their buckets, first round first."""

    def __init__(
        self, game: TrainingGame, strategy: F32, player: int, buckets: I32, outcome: F32, fit: F32
    ) -> None:
        self.betting, self.strategy, self.player = game.betting, strategy, player
        self.rounds = game.num_rounds
        self.columns, self.fit = np.ascontiguousarray(buckets.T), fit
        self.sign = 1 if player == 0 else -1
        self.outcome = np.ascontiguousarray(outcome.T * np.float32(self.sign))  # [round, deal]
        own = buckets[:, player * self.rounds : (player + 1) * self.rounds]
        changes = np.diff(own, axis=0, prepend=own[:1]) != 0
        changes[0] = True
        # Deals at which the bucket history up to each round changes.
        self.starts = [np.flatnonzero(changes[:, : r + 1].any(axis=1)) for r in range(self.rounds)]

    def value(self) -> tuple[float, float]:
        """Sum of the response's values over the deals it was fitted to, and over the others."""
        values = np.zeros(len(self.fit), dtype=np.float32)
        self._add_node(0, np.ones(len(self.fit), dtype=np.float32), values)
        fitted = float(values.astype(np.float64) @ self.fit)
        return fitted, float(values.sum(dtype=np.float64)) - fitted

    def _add_node(self, n: int, reach: F32, out: F32) -> None:
        """Add the value on each deal, times the opponent's reach."""
        betting = self.betting
        num_actions, first = int(betting.num_actions[n]), int(betting.first_entry[n])
        column = int(betting.column[n])
        if betting.player[n] == self.player:
            values = np.zeros((num_actions, len(reach)), dtype=np.float32)
            for a in range(num_actions):
                self._add_entry(first + a, column % self.rounds, reach, values[a])
            add_best(values, self.fit, self.starts[column % self.rounds], out)
            return
        below = np.empty_like(reach)
        for a in range(num_actions):
            start = int(betting.base[n]) + a
            if follow_action(self.strategy, start, num_actions, self.columns[column], reach, below):
                self._add_entry(first + a, column % self.rounds, below, out)

    def _add_entry(self, entry: int, round_index: int, reach: F32, out: F32) -> None:
        betting = self.betting
        following = int(betting.child[entry])
        if following >= 0:
            self._add_node(following, reach, out)
        else:
            fixed = np.float32(self.sign * betting.fixed[entry])
            add_ends(fixed, betting.stake[entry], self.outcome[round_index], reach, out)
