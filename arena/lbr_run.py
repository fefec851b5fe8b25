"""Local best response from terms to result: on all cores, written down as it goes, continued after a kill.

A deal is a board played in both seats (`arena.lbr_value`). Everything of deal i follows from the seed and i.
Both seats of a deal are one sample. A line of the journal is the deal's number and LBR's chips by position.
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
from arena.agent_player import AgentPlayer
from arena.blueprint_player import BlueprintPlayer
from arena.chunks import Chunk, Tick, missing_numbers, play_missing
from arena.errors import PlayerError
from arena.journal import Journal
from arena.lbr import LbrSettings, LocalResponse
from arena.lbr_cards import HoldemCards
from arena.lbr_value import Sample, deal_board, sampled_value
from arena.pairs import pair_seed
from arena.players import OpenHandPlayer, Player, PublicPlayer, StrategySource
from arena.policies import OPEN_POLICIES
from arena.registry import make_player, player_identity
from arena.results import Estimate, estimate
from arena.workers import WorkerPool
from game.definition import NUM_PLAYERS, GameDefinition, definition_text, parse_definition
from solver.allin_equity import preflop_wins
from solver.layout import F64

TABLES_FROM_DEALS = 500
"""Runs this long are worth a minute of building bucket tables."""


@dataclass(frozen=True, slots=True)
class LbrTerms:
    """What is measured. The player is a text of `arena.registry`."""

    definition: GameDefinition
    player: str
    settings: LbrSettings
    seed: int
    deals: int

    def to_json(self) -> dict[str, Any]:
        """What must agree for a run to go on. Not its length: more deals may be added."""
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
    """What LBR won of the player."""

    terms: LbrTerms
    chips: F64
    """float64[deals, 2]: LBR's, per hand, by its position."""

    @property
    def hands(self) -> int:
        """A deal is a hand in each seat, played with all cards LBR can hold."""
        return NUM_PLAYERS * len(self.chips)

    @property
    def total(self) -> Estimate:
        """Over both seats, in mbb/hand."""
        return self._estimate(self.chips.mean(axis=1))

    def by_position(self) -> tuple[Estimate, Estimate]:
        """LBR as the big blind, and on the button."""
        return self._estimate(self.chips[:, 0]), self._estimate(self.chips[:, 1])

    def _estimate(self, chips: F64) -> Estimate:
        return estimate(chips * (1000 / self.terms.definition.big_blind))

    def to_json(self) -> dict[str, Any]:
        """What a program wants to know."""
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
    """Play what is missing and return the result; blocks.

    path      the journal: the run goes on where it ended, if it has one already
    workers   processes (one per core by default)
    tick      called after every chunk that was written down
    progress  for the building of bucket tables
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
    """Refuse what cannot be measured, and make what all processes share; blocks when that is missing."""
    player = make_player(terms.player)
    HoldemCards(terms.definition)
    if isinstance(player, BlueprintPlayer | AgentPlayer) and player.blueprint.definition != terms.definition:
        raise PlayerError(f"{terms.player} was trained for another game than the one played")
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
    """A player's strategy as anybody may know it; refuses players that do not tell."""
    if isinstance(player, PublicPlayer):
        return player.in_public()
    hand = player.start_enquiry(seed) if isinstance(player, AgentPlayer) else player.start_hand(seed)
    if isinstance(hand, OpenHandPlayer):
        return hand
    measurable = ", ".join(["blueprint", *sorted(OPEN_POLICIES)])
    raise PlayerError(
        f"{player.name} does not tell what it does with hands that it does not hold:"
        f" measure an agent, or one of {measurable}"
    )


class LbrWorker:
    """Plays deals."""

    def __init__(self, definition: GameDefinition, player: Player, settings: LbrSettings, seed: int) -> None:
        self._player, self._settings, self._seed = player, settings, seed
        self._rules = HoldemCards(definition)
        self._response: LocalResponse | None = None

    def __call__(self, chunk: Chunk) -> str:
        """A chunk of deals, as lines of the journal."""
        first, count = chunk
        return "".join([self.play(number) for number in range(first, first + count)])

    def play(self, number: int) -> str:
        """One deal, as a line of the journal."""
        seed = pair_seed(self._seed, number)
        rng = Random(seed)
        board = deal_board(self._rules, rng)
        response = self._respond(seed)
        values = [sampled_value(response, p, Sample(board, rng)) for p in range(NUM_PLAYERS)]
        response.forget()
        return f"{number} {' '.join(map(repr, values))}\n"

    def _respond(self, seed: int) -> LocalResponse:
        """Where the strategy does not depend on a seed, what was asked before the flop is kept."""
        if self._response is None or not isinstance(self._player, PublicPlayer):
            source = public_strategy(self._player, seed)
            self._response = LocalResponse(self._rules, self._settings, source)
        return self._response


def make_worker(definition: str, player: str, settings: LbrSettings, seed: int) -> LbrWorker:
    """From texts: for worker processes."""
    return LbrWorker(parse_definition(definition), make_player(player), settings, seed)
