"""Synthetic tables and values for tests of AIVAT in hold'em, made in milliseconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.aivat import hand as aivat_hand
from arena.aivat.node_values import NodeValues, compute_node_values
from numeric.arrays import U8
from solver.blueprint.abstract_game import Dealer, TrainingGame
from tests.arena.blueprints import made_up_tables, use_made_up_tables

LATE = "preflop: 2x, 3x | 100% | -; 50%, 100%, a | 100%, a | a"
"""Menus without all-in before the flop, whose table takes long to count."""


def use_quick_values(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use synthetic tables, few deals for values, and a separate cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    use_made_up_tables(monkeypatch)

    def values(game: TrainingGame, strategy: U8, dealer: Dealer, threads: int) -> NodeValues:
        return compute_node_values(game, strategy, dealer, deals=4_096)

    monkeypatch.setattr(aivat_hand, "cached_node_values", values)
    monkeypatch.setattr(aivat_hand, "open_tables", lambda cards: made_up_tables())
