"""The lower rungs of the ladder of fallbacks, used when no worker answers in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property, lru_cache
from random import Random

import numpy as np

from arena.players.blueprint_player import BlueprintPlayer
from game.actions import CALL, FOLD
from game.betting import BettingState
from game.cards import Cards
from game.definition import GameDefinition
from game.hands import unblocked
from numeric.arrays import F32, U16
from protocol.acpc import parse_betting
from server.decisions import DecisionAnswer, DecisionRequest, Rung
from server.pool.rehearsal import rehearsal
from solver.blueprint.file import Blueprint
from solver.resolving.context import Context
from solver.resolving.ranges import full_ranges

_BOARDS_REMEMBERED = 256


class BlueprintFallback:
    """Looks up decisions in the blueprint. Thread-safe; calls block for milliseconds."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self._player = _RememberingPlayer("fallback", blueprint)

    @property
    def definition(self) -> GameDefinition:
        """The game it plays."""
        return self.blueprint.definition

    def warm_up(self) -> None:
        """Load the kernels."""
        for request in rehearsal(self.definition):
            self.answer(request)

    def answer(self, request: DecisionRequest) -> DecisionAnswer:
        """Play the blueprint's strategy. The context is kept: it remains valid, though less complete."""
        started = time.monotonic()
        betting = parse_betting(self.definition, request.betting)
        strategy = self._player.start_hand(request.seed).strategy(betting, request.board)
        action = strategy.draw(request.hand, Random(f"{request.seed} {request.betting}"))
        return DecisionAnswer(
            action=str(action),
            context=request.context,
            actions=tuple([str(choice) for choice in strategy.actions]),
            probabilities=strategy.probabilities,
            ranges=_ranges(request),
            method=Rung.BLUEPRINT.value,
            iterations=0,
            seconds=time.monotonic() - started,
            rung=Rung.BLUEPRINT,
        )


def check_or_fold(request: DecisionRequest, betting: BettingState) -> DecisionAnswer:
    """The last rung: always legal, needs no computation."""
    action = FOLD if betting.can_fold() else CALL
    return DecisionAnswer(
        action=str(action),
        context=request.context,
        actions=(str(action),),
        probabilities=unblocked(request.board).astype(np.float32)[None, :],
        ranges=_ranges(request),
        method=Rung.CHECK_FOLD.value,
        iterations=0,
        seconds=0.0,
        rung=Rung.CHECK_FOLD,
    )


class _RememberingPlayer(BlueprintPlayer):
    """Caches the buckets of a board: computing them takes milliseconds, and a hand needs them repeatedly."""

    @cached_property
    def _remembered(self) -> Callable[[Cards], U16]:
        return lru_cache(maxsize=_BOARDS_REMEMBERED)(super().buckets)

    def buckets(self, board: Cards) -> U16:
        return self._remembered(board)


def _ranges(request: DecisionRequest) -> F32:
    return full_ranges() if request.context is None else Context.from_bytes(request.context).ranges
