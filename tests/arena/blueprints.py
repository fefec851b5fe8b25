"""Blueprints for tests: any menus, random strategies, eight buckets per round; made in milliseconds."""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
import pytest

from abstraction.buckets import CardAbstraction
from abstraction.menu import parse_menu_book
from abstraction.tables import BucketTables
from arena.duplicate import duplicate, fast_duel
from arena.players import blueprint_player
from game.definition import HUNL, GameDefinition
from game.hands import NUM_CLASSES, NUM_HANDS
from solver.blueprint.abstract_game import make_training_game
from solver.blueprint.file import Blueprint, open_blueprint, quantise, write_blueprint
from solver.blueprint.provenance import Provenance
from solver.games.betting_tree import build_hand_tree
from tests.solver.training_setups import small_cards

TINY = "preflop: 3x | a; 100% | a"
WIDE = "preflop: 2x, 3x | 100%, a | a; 50%, 100%, a | 100%, a | a"
NO_ALL_IN = "50%, 100% | 100% | -"


def made_up_blueprint(
    folder: Path,
    menus: str = TINY,
    seed: int = 1,
    definition: GameDefinition = HUNL,
    spread: float = 0.5,
    buckets: tuple[int, ...] = (NUM_CLASSES, 8, 8, 8),
) -> Blueprint:
    """A blueprint with random strategies; a small `spread` makes them purer."""
    tree = build_hand_tree(definition, parse_menu_book(menus))
    game = make_training_game(tree, buckets, float(definition.big_blind))
    rng = np.random.default_rng(seed)
    parts = [
        rng.dirichlet(np.full(num_actions, spread), size=num_buckets).ravel()
        for num_actions, num_buckets in zip(game.betting.num_actions, game.node_buckets, strict=True)
    ]
    path = folder / f"made-up-{seed}.blueprint"
    provenance = Provenance("made-up", seed, 0, {}, 1, "test", None, None)
    strategy = quantise(game, np.concatenate(parts).astype(np.float32))
    write_blueprint(path, definition, menus, game, strategy, small_cards().to_arrays(), provenance)
    return open_blueprint(path)


def made_up_tables() -> BucketTables:
    """Random buckets, the same on all boards."""
    rng = np.random.default_rng(4)
    few = [rng.integers(0, 8, size=NUM_HANDS, dtype=np.uint16) for _ in range(3)]
    rounds = [np.broadcast_to(row, (n, NUM_HANDS)) for row, n in zip(few, (1755, 16432, 134459), strict=True)]
    locations = [np.zeros(comb(52, n), dtype=np.uint32) for n in (3, 4, 5)]
    return BucketTables(*rounds, *locations)


def use_made_up_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace bucket tables, which take a minute to build, by random ones."""
    tables = made_up_tables()

    def opened(abstraction: CardAbstraction, progress: object = None) -> BucketTables:
        return tables

    for module in (fast_duel, blueprint_player):
        monkeypatch.setattr(module, "open_tables", opened)
    for module in (duplicate, blueprint_player):
        monkeypatch.setattr(module, "tables_are_built", lambda abstraction: True)
