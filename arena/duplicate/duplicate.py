"""Run a duplicate match from its terms to its result, in parallel, with a journal that it can resume from."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.progress import Progress

from abstraction.tables import tables_are_built
from arena.aivat.hand import make_corrector
from arena.duplicate.fast_duel import FastDuel, can_play_fast
from arena.duplicate.pairs import Correct, play_pair
from arena.duplicate.results import MatchResult, duplicate_result
from arena.errors import MatchAborted
from arena.players.agent_player import AgentPlayer
from arena.players.base import Player
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.external_player import ExternalPlayer
from arena.players.registry import external_command, make_match_player, player_identity
from arena.runs.chunks import LARGEST_CHUNK, Chunk, PlayedChunks, Tick, missing_numbers, play_missing
from arena.runs.journal import Journal
from arena.runs.workers import WorkerPool
from game.definition import GameDefinition, definition_text, parse_definition

TABLES_FROM_PAIRS = 5_000
"""For matches of at least this length, bucket tables are built first, which takes a minute."""


@dataclass(frozen=True, slots=True)
class DuplicateTerms:
    """The terms of a match. Players are specifications of `arena.players.registry`."""

    definition: GameDefinition
    players: tuple[str, str]
    names: tuple[str, str]
    seed: int
    pairs: int
    aivat: bool = False
    """Apply AIVAT while hands are played; for two blueprints `duplicate.aivat_match` does it afterwards."""

    def to_json(self) -> dict[str, Any]:
        """The terms that must be the same to resume a match. Not its length: more pairs may be added."""
        return {
            "game": definition_text(self.definition),
            "players": list(self.players),
            "identities": [player_identity(text) for text in self.players],
            "seed": self.seed,
            **({"aivat": True} if self.aivat else {}),
        }


def play_duplicate(
    terms: DuplicateTerms,
    path: Path | None = None,
    workers: int | None = None,
    tick: Tick | None = None,
    progress: Progress | None = None,
) -> MatchResult:
    """Play the missing pairs and return the result; blocks.

    path      the journal; if it exists already, the match resumes where it stopped
    workers   processes or threads (one per core by default; one for external programs, which run in each)
    tick      called after every chunk that was written to the journal
    progress  shows the building of bucket tables
    """
    journal = Journal(path, terms.to_json())
    try:
        missing = missing_numbers(journal.lines, terms.pairs)
        if len(missing):
            count = min(workers or default_workers(terms), len(missing))
            play = _player_of_chunks(terms, count, progress)
            play_missing(missing, play, journal, tick, 1 if _has_programs(terms) else LARGEST_CHUNK)
    finally:
        journal.close()
    wanted = [line for line in journal.lines if int(line.split(" ", 1)[0]) < terms.pairs]
    return duplicate_result(terms.definition, terms.names, terms.seed, wanted)


def default_workers(terms: DuplicateTerms) -> int:
    """One with external programs, which may not support several copies at once; else one per core."""
    return 1 if _has_programs(terms) else os.cpu_count() or 1


class SlowDuel:
    """Plays chunks of pairs with any two players."""

    def __init__(
        self,
        definition: GameDefinition,
        players: tuple[Player, Player],
        seed: int,
        correct: Correct | None = None,
    ) -> None:
        self._definition, self._players, self._seed, self._correct = definition, players, seed, correct

    def close(self) -> None:
        """End the external programs."""
        for player in self._players:
            if isinstance(player, ExternalPlayer):
                player.close()

    def __call__(self, chunk: Chunk) -> str:
        """Play a chunk and return its journal lines; blocks while the players think."""
        first, count = chunk
        pairs = range(first, first + count)
        return "".join(
            f"{play_pair(self._definition, self._players, self._seed, number, self._correct)}\n"
            for number in pairs
        )


def make_slow_duel(definition: str, texts: tuple[str, str], seed: int, aivat: bool) -> SlowDuel:
    """Make a `SlowDuel` from texts, in a worker process."""
    game, players = parse_definition(definition), (make_match_player(texts[0]), make_match_player(texts[1]))
    return SlowDuel(game, players, seed, make_corrector(game, players) if aivat else None)


def corrects_on_the_way(terms: DuplicateTerms) -> bool:
    """Whether AIVAT is applied while the match is played: always, except between two blueprints."""
    return not can_play_fast(
        terms.definition, (make_match_player(terms.players[0]), make_match_player(terms.players[1]))
    )


def _has_programs(terms: DuplicateTerms) -> bool:
    return any(map(external_command, terms.players))


def _player_of_chunks(
    terms: DuplicateTerms, workers: int, progress: Progress | None
) -> Callable[[Iterator[Chunk]], PlayedChunks]:
    players = make_match_player(terms.players[0]), make_match_player(terms.players[1])
    first, second = players
    if can_play_fast(terms.definition, players) and not terms.aivat:
        assert isinstance(first, BlueprintPlayer)
        assert isinstance(second, BlueprintPlayer)
        built = all(tables_are_built(player.blueprint.cards) for player in (first, second))
        if built or terms.pairs >= TABLES_FROM_PAIRS:
            return partial(_in_threads, FastDuel((first, second), terms.seed, progress), workers)
    for player in players:
        if (
            isinstance(player, BlueprintPlayer | AgentPlayer)
            and player.blueprint.definition != terms.definition
        ):
            raise MatchAborted(
                f"{player.name} was trained for another game: use a blueprint of the game that is played"
            )
    # Raises errors and fills the cache of values once, before the workers start.
    correct = make_corrector(terms.definition, players) if terms.aivat else None
    if workers == 1:
        return partial(_here, SlowDuel(terms.definition, players, terms.seed, correct))
    make = partial(make_slow_duel, definition_text(terms.definition), terms.players, terms.seed, terms.aivat)
    return partial(_in_processes, make, workers)


def _here(duel: SlowDuel, chunks: Iterator[Chunk]) -> PlayedChunks:
    try:
        for chunk in chunks:
            started = time.monotonic()
            yield chunk, duel(chunk), time.monotonic() - started
    finally:
        duel.close()


def _in_processes(make: Callable[[], SlowDuel], workers: int, chunks: Iterator[Chunk]) -> PlayedChunks:
    with WorkerPool(make, workers) as pool:
        yield from pool.run(chunks)


def _in_threads(duel: FastDuel, workers: int, chunks: Iterator[Chunk]) -> PlayedChunks:
    def play(chunk: Chunk) -> tuple[Chunk, str, float]:
        started = time.monotonic()
        text = duel.play(*chunk)
        return chunk, text, time.monotonic() - started

    with ThreadPoolExecutor(workers) as pool:
        running: set[Future[tuple[Chunk, str, float]]] = set()
        left = True
        while left or running:
            while left and len(running) < workers:
                chunk = next(chunks, None)
                left = chunk is not None
                if chunk is not None:
                    running.add(pool.submit(play, chunk))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
