"""Synthetic requests that warm up every kernel."""

from __future__ import annotations

from game.actions import CALL, raise_to
from game.betting import BettingState, start
from game.definition import GameDefinition
from game.hands import NUM_HANDS
from server.decisions import DecisionRequest

_OFF_MENU = 37
"""Chips on top of the minimum raise: a size that no menu has, so that it must be translated."""


def rehearsal(definition: GameDefinition) -> list[DecisionRequest]:
    """Two requests per street: facing no bet, and facing a raise of an unusual size."""
    requests = []
    betting = start(definition)
    while not betting.is_finished:
        requests.append(_request(betting))
        bounds = betting.raise_bounds()
        if bounds is not None and bounds[0] + _OFF_MENU < bounds[1]:
            betting = betting.apply(raise_to(bounds[0] + _OFF_MENU))
            requests.append(_request(betting))
        round_index = betting.round_index
        while not betting.is_finished and betting.round_index == round_index:
            betting = betting.apply(CALL)
    return requests


def _request(betting: BettingState) -> DecisionRequest:
    board = tuple(range(betting.definition.board_size(betting.round_index)))
    return DecisionRequest("", betting.text, board, NUM_HANDS - 1, None, 1, 0.0)
