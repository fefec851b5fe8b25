"""Fathom's public interface: solve spots, ask the agent, play matches, talk to a daemon.

    import fathom

    spot = fathom.solve_spot("AsKd7h4c2s", pot=100, stack=200, oop="QQ,JTs,A5s", ip="KQs,TT,99")
    print(spot.look().frequencies)

`docs/library.md` is a guide with examples. The names in `__all__` are public and their meaning is stable. The
other packages (`game`, `solver`, `arena`, `server` and so on) are private and may change with every version.

Invalid input raises a `ValueError` whose message says what to write instead. Modules are imported when a name
is first used, so `import fathom` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.duplicate.results import Estimate, MatchResult
    from arena.lbr.run import LbrResult
    from arena.players.agent_player import AgentHand, AgentPlayer
    from arena.players.base import HandPlayer, Player
    from fathom._decisions import Decision, decide, look_up, make_agent, open_blueprint
    from fathom._matches import local_best_response, play_match
    from fathom._spots import SolvedSpot, SpotNode, open_spot, solve_spot
    from game.actions import CALL, FOLD, Action, raise_to
    from game.cards import cards_text, parse_cards
    from game.evaluator import category, evaluate
    from game.hands import hand_text, parse_hand
    from game.ranges import parse_range, range_text
    from game.state import HandState
    from server.client import FathomClient, FathomError
    from solver.blueprint.file import Blueprint
    from solver.decisions.range_strategy import RangeStrategy
    from solver.version import fathom_version

__all__ = [
    "CALL",
    "FOLD",
    "Action",
    "AgentHand",
    "AgentPlayer",
    "Blueprint",
    "Decision",
    "Estimate",
    "FathomClient",
    "FathomError",
    "HandPlayer",
    "HandState",
    "LbrResult",
    "MatchResult",
    "Player",
    "RangeStrategy",
    "SolvedSpot",
    "SpotNode",
    "cards_text",
    "category",
    "decide",
    "evaluate",
    "fathom_version",
    "hand_text",
    "local_best_response",
    "look_up",
    "make_agent",
    "open_blueprint",
    "open_spot",
    "parse_cards",
    "parse_hand",
    "parse_range",
    "play_match",
    "raise_to",
    "range_text",
    "solve_spot",
]

_NAMES_OF = {
    "arena.players.agent_player": ("AgentHand", "AgentPlayer"),
    "arena.lbr.run": ("LbrResult",),
    "arena.players.base": ("HandPlayer", "Player"),
    "arena.duplicate.results": ("Estimate", "MatchResult"),
    "fathom._decisions": ("Decision", "decide", "look_up", "make_agent", "open_blueprint"),
    "fathom._matches": ("local_best_response", "play_match"),
    "fathom._spots": ("SolvedSpot", "SpotNode", "open_spot", "solve_spot"),
    "game.actions": ("CALL", "FOLD", "Action", "raise_to"),
    "game.cards": ("cards_text", "parse_cards"),
    "game.evaluator": ("category", "evaluate"),
    "game.hands": ("hand_text", "parse_hand"),
    "game.ranges": ("parse_range", "range_text"),
    "game.state": ("HandState",),
    "server.client": ("FathomClient", "FathomError"),
    "solver.blueprint.file": ("Blueprint",),
    "solver.decisions.range_strategy": ("RangeStrategy",),
    "solver.version": ("fathom_version",),
}
"""The public names by the module that defines them."""

_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a name on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'fathom' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
