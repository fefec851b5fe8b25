"""Run local best response from its terms to its result, in parallel, with a journal that it can resume from.

A deal is a board played from both positions (`arena.lbr.value`), which together are one sample. The seed and
i determine everything about deal i. A journal line is the deal's number and LBR's chips by position.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from rich.progress import Progress

from abstraction.tables import open_tables
from arena.duplicate.pairs import pair_seed
from arena.duplicate.results import Estimate, estimate
from arena.errors import PlayerError
from arena.lbr.cards import HoldemCards
from arena.lbr.lbr import LbrSettings, LocalResponse
from arena.lbr.value import Sample, deal_board, sampled_value
from arena.players.agent_player import AgentPlayer
from arena.players.base import OpenHandPlayer, Player, PublicPlayer, StrategySource
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.policies import OPEN_POLICIES
from arena.players.registry import make_player, player_identity
from arena.runs.chunks import Chunk, Tick, missing_numbers, play_missing
from arena.runs.journal import Journal
from arena.runs.workers import WorkerPool
from game.definition import NUM_PLAYERS, GameDefinition, definition_text, parse_definition
from numeric.arrays import F64
from solver.equity.all_in import preflop_wins

TABLES_FROM_DEALS = 500
"""For runs of at least this length, bucket tables are built first, which takes a minute."""


@dataclass(frozen=True, slots=True)
class LbrTerms:
    """The terms of a run. The player is a specification of `arena.players.registry`."""

    definition: GameDefinition
    player: str
    settings: LbrSettings
    seed: int
    deals: int

    def to_json(self) -> dict[str, Any]:
        """The terms that must be the same to resume a run. Not its length: more deals may be added."""
        return {
            "game": definition_text(self.definition),
            "lbr": self.settings.actions,
            "rounds": self.settings.rounds,
            "player": self.player,
            "identity": player_identity(self.player),
            "seed": self.seed,
        }


@dataclass(frozen=True, eq=False)
class LbrResult:
    """What LBR won from the player."""

    terms: LbrTerms
    chips: F64
    """float64[deals, 2]: LBR's chips per hand, by its position."""

    @property
    def hands(self) -> int:
        """Hands played: each deal is one hand in each position, played with every hand LBR can hold."""
        return NUM_PLAYERS * len(self.chips)

    @property
    def total(self) -> Estimate:
        """The win rate over both positions, in mbb/hand."""
        return self._estimate(self.chips.mean(axis=1))

    def by_position(self) -> tuple[Estimate, Estimate]:
        """The win rates of LBR in the big blind and on the button."""
        return self._estimate(self.chips[:, 0]), self._estimate(self.chips[:, 1])

    def _estimate(self, chips: F64) -> Estimate:
        return estimate(chips * (1000 / self.terms.definition.big_blind))

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        terms = self.terms
        return {
            "lbr": terms.player,
            "actions": terms.settings.actions,
            "rounds": terms.settings.rounds,
            "hands": self.hands,
            **self.total.to_json(),
            **{f"position_{p}": seat.to_json() for p, seat in enumerate(self.by_position())},
            "seed": terms.seed,
        }


def measure_lbr(
    terms: LbrTerms,
    path: Path | None = None,
    workers: int | None = None,
    tick: Tick | None = None,
    progress: Progress | None = None,
) -> LbrResult:
    """Play the missing deals and return the result; blocks.

    path      the journal; if it exists already, the run resumes where it stopped
    workers   processes (one per core by default)
    tick      called after every chunk that was written to the journal
    progress  shows the building of bucket tables
    """
    prepare(terms, progress)
    journal = Journal(path, terms.to_json())
    try:
        missing = missing_numbers(journal.lines, terms.deals)
        if len(missing):
            count = min(workers or os.cpu_count() or 1, len(missing))
            make = partial(
                make_worker, definition_text(terms.definition), terms.player, terms.settings, terms.seed
            )
            with WorkerPool(make, count) as pool:
                play_missing(missing, pool.run, journal, tick)
    finally:
        journal.close()
    return LbrResult(terms, read_chips(journal.lines, terms.deals))


def prepare(terms: LbrTerms, progress: Progress | None = None) -> None:
    """Refuse players that cannot be measured, and build the tables that all processes share; blocks."""
    player = make_player(terms.player)
    HoldemCards(terms.definition)
    if isinstance(player, BlueprintPlayer | AgentPlayer) and player.blueprint.definition != terms.definition:
        raise PlayerError(
            f"{terms.player} was trained for another game: use a blueprint of the game that is played"
        )
    if isinstance(player, BlueprintPlayer) and terms.deals >= TABLES_FROM_DEALS:
        open_tables(player.blueprint.cards, progress=progress)
    public_strategy(player, 0)
    preflop_wins()


def read_chips(lines: list[str], deals: int) -> F64:
    """float64[deals, 2] by number, from the lines of a journal."""
    chips = np.zeros((deals, NUM_PLAYERS))
    for line in lines:
        number, *values = line.split()
        if int(number) < deals:
            chips[int(number)] = [float(value) for value in values]
    return chips


def public_strategy(player: Player, seed: int) -> StrategySource:
    """A player's strategy as an opponent may know it; refuses players that do not reveal theirs."""
    if isinstance(player, PublicPlayer):
        return player.in_public()
    hand = player.start_enquiry(seed) if isinstance(player, AgentPlayer) else player.start_hand(seed)
    if isinstance(hand, OpenHandPlayer):
        return hand
    measurable = ", ".join(["blueprint", *sorted(OPEN_POLICIES)])
    raise PlayerError(
        f"{player.name} does not reveal its strategy for all hands, which local best response needs:"
        f" measure an agent, or one of {measurable}"
    )


class LbrWorker:
    """Plays deals in a worker process."""

    def __init__(self, definition: GameDefinition, player: Player, settings: LbrSettings, seed: int) -> None:
        self._player, self._settings, self._seed = player, settings, seed
        self._rules = HoldemCards(definition)
        self._response: LocalResponse | None = None

    def __call__(self, chunk: Chunk) -> str:
        """Play a chunk of deals; returns their journal lines."""
        first, count = chunk
        return "".join([self.play(number) for number in range(first, first + count)])

    def play(self, number: int) -> str:
        """Play one deal; returns its journal line."""
        seed = pair_seed(self._seed, number)
        rng = Random(seed)
        board = deal_board(self._rules, rng)
        response = self._respond(seed)
        values = [sampled_value(response, p, Sample(board, rng)) for p in range(NUM_PLAYERS)]
        response.forget()
        return f"{number} {' '.join(map(repr, values))}\n"

    def _respond(self, seed: int) -> LocalResponse:
        """The response to a player; kept between deals if the strategy does not depend on the hand's seed."""
        if self._response is None or not isinstance(self._player, PublicPlayer):
            source = public_strategy(self._player, seed)
            self._response = LocalResponse(self._rules, self._settings, source)
        return self._response


def make_worker(definition: str, player: str, settings: LbrSettings, seed: int) -> LbrWorker:
    """Make an `LbrWorker` from texts, in a worker process."""
    return LbrWorker(parse_definition(definition), make_player(player), settings, seed)
