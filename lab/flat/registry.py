"""The games by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cache
from typing import Any

from lab.flat.compile import compile_game
from lab.flat.game import FlatGame
from lab.games.biased_rps import BiasedRps
from lab.games.drawn import breaks_max_margin, breaks_resolving, coin, pennies, rps_plus, two_boards
from lab.games.goofspiel import Goofspiel
from lab.games.interface import Rules
from lab.games.leduc import Leduc
from lab.games.liars_dice import LiarsDice

GAMES: dict[str, Callable[[], Rules[Any]]] = {
    "leduc": Leduc,
    "goofspiel4": lambda: Goofspiel(4),
    "goofspiel5": lambda: Goofspiel(5),
    "goofspiel6": lambda: Goofspiel(6),
    "liars-dice4": LiarsDice,
    "biased-rps": BiasedRps,
    "coin": coin,
    "breaks-max-margin": breaks_max_margin,
    "breaks-resolving": breaks_resolving,
    "pennies": pennies,
    "rps-plus": rps_plus,
    "two-boards": two_boards,
}


@cache
def game_named(name: str) -> FlatGame:
    """A game, compiled once."""
    if name not in GAMES:
        near = difflib.get_close_matches(name, GAMES, 1)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(GAMES)}"
        raise ValueError(f"unknown game {name!r}: {hint}")
    return compile_game(GAMES[name]())
