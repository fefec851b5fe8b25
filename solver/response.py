"""Quality of strategies: values, best responses, exploitability. Exact, in chips.

`nash_conv` is the sum of what both players can gain by a best response, `exploitability` is half of it. Where
nodes are locked (`frozen`), responses keep to the locks: exploitability then measures how far the solve of
the locked game is, not what an opponent without locks could win.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.engine import EVALUATE, RESPOND, Engine
from solver.layout import F32, U8


@dataclass(frozen=True, slots=True)
class Quality:
    """Values to each player, in chips per hand dealt, net of half the pot at the root."""

    values: tuple[float, float]
    """Values of the strategies against each other; they sum to 0."""
    best_responses: tuple[float, float]

    @property
    def nash_conv(self) -> float:
        """Sum of both players' gains by best responses."""
        return sum(self.best_responses)

    @property
    def exploitability(self) -> float:
        """Mean of both players' gains by best responses."""
        return self.nash_conv / 2


def player_value(engine: Engine, table: F32, player: int, mode: int, frozen: U8 | None = None) -> float:
    """One player's value at the root, by mode EVALUATE or RESPOND. NaN if stopped."""
    values = engine.root_values(table, player, mode, frozen=frozen)
    if values is None:
        return float("nan")
    game = engine.game
    return float(values.astype(np.float64) @ game.ranges[player]) / game.pairings()


def measure(engine: Engine, table: F32, frozen: U8 | None = None) -> Quality:
    """Values and best responses of the strategies in a table."""
    first = player_value(engine, table, 0, EVALUATE)
    return Quality((first, -first), _best_responses(engine, table, frozen))


def exploitability(engine: Engine, table: F32, frozen: U8 | None = None) -> float:
    """Mean gain of both players by best responses, in chips."""
    return sum(_best_responses(engine, table, frozen)) / 2


def _best_responses(engine: Engine, table: F32, frozen: U8 | None) -> tuple[float, float]:
    first, second = [player_value(engine, table, player, RESPOND, frozen) for player in range(2)]
    return first, second
