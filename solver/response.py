"""How good a strategy is: values, best responses, exploitability. Exact, in chips.

`nash_conv` is the sum of what both players could gain by a best response, `exploitability` its half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.engine import EVALUATE, RESPOND, Engine
from solver.layout import F32


@dataclass(frozen=True, slots=True)
class Quality:
    """Values to each player, in chips per hand dealt, net of half the pot at the root."""

    values: tuple[float, float]
    """Of the strategies against each other; they sum to 0."""
    best_responses: tuple[float, float]

    @property
    def nash_conv(self) -> float:
        """Sum of both players' gains by best responses."""
        return sum(self.best_responses)

    @property
    def exploitability(self) -> float:
        """Mean of both players' gains by best responses."""
        return self.nash_conv / 2


def player_value(engine: Engine, table: F32, player: int, mode: int) -> float:
    """One player's value at the root: mode EVALUATE or RESPOND. NaN if stopped."""
    values = engine.root_values(table, player, mode)
    if values is None:
        return float("nan")
    game = engine.game
    return float(values.astype(np.float64) @ game.ranges[player]) / game.pairings()


def measure(engine: Engine, table: F32) -> Quality:
    """Values and best responses of the strategies in a table; the values are of player 0's side."""
    first = player_value(engine, table, 0, EVALUATE)
    return Quality((first, -first), _best_responses(engine, table))


def exploitability(engine: Engine, table: F32) -> float:
    """What an opponent of unknown seat gains on average by a best response, in chips."""
    return sum(_best_responses(engine, table)) / 2


def _best_responses(engine: Engine, table: F32) -> tuple[float, float]:
    return player_value(engine, table, 0, RESPOND), player_value(engine, table, 1, RESPOND)
