"""AIVAT for a finished duplicate match: replays every hand, on all cores.

Needs only the match's terms and bettings: cards and seeds follow from the number of a pair, and an open
player returns the same strategy when queried again. This is for matches between blueprints, where AIVAT
during play would slow them down; other matches are corrected while they are played
(`arena.duplicate.duplicate`). Guesses come from the first blueprint that a player uses, or from the default
one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from arena.aivat.hand import HandCorrector, make_games, tells_strategy
from arena.aivat.holdem import HoldemGame
from arena.duplicate.duplicate import DuplicateTerms
from arena.duplicate.pairs import HAND_KEY, deal_pair, pair_seed
from arena.duplicate.results import MatchResult
from arena.players.agent_player import AgentPlayer
from arena.players.base import HANDS_PER_PAIR, Player
from arena.players.registry import make_player
from arena.runs.workers import WorkerPool
from game.definition import NUM_PLAYERS, GameDefinition, definition_text, parse_definition
from game.state import hand_state
from numeric.arrays import F64
from numeric.draws import seed_at
from protocol.acpc import parse_betting

_CHUNK = 64

Task = tuple[int, tuple[str, ...]]
"""The first pair of a chunk, and the bettings of its hands."""


def aivat_chips(
    terms: DuplicateTerms,
    result: MatchResult,
    workers: int | None = None,
    tick: Callable[[int], None] | None = None,
) -> F64:
    """float64[H]: corrected chips of player A; blocks. Raises `MatchAborted` if AIVAT is not possible.

    tick  called with the number of hands done so far
    """
    make = partial(make_evaluator, definition_text(terms.definition), terms.players, terms.seed)
    evaluator = make()  # raises errors and fills the cache of values before the workers start
    bettings = tuple(result.betting)
    step = _CHUNK * HANDS_PER_PAIR
    tasks = iter([(at // HANDS_PER_PAIR, bettings[at : at + step]) for at in range(0, len(bettings), step)])
    chips = np.empty(len(bettings))
    done = 0
    count = min(workers or os.cpu_count() or 1, -(-len(bettings) // step))
    for (first, texts), values in _run(evaluator, make, count, tasks):
        at = HANDS_PER_PAIR * first
        chips[at : at + len(texts)] = values
        done += len(texts)
        if tick is not None:
            tick(done)
    return chips


class Evaluator:
    """Corrects the hands of one match by querying open players again."""

    def __init__(
        self,
        definition: GameDefinition,
        players: tuple[Player, Player],
        seed: int,
        games: tuple[HoldemGame, HoldemGame],
    ) -> None:
        """Prepare for a match.

        games  guesses: the first for hands with player A in position 0, the second for the others
        """
        self._definition, self._players, self._seed = definition, players, seed
        self._correct = HandCorrector(definition, games, (is_open(players[0]), is_open(players[1])))

    def __call__(self, task: Task) -> F64:
        """The corrected chips of player A in the hands of a chunk."""
        first, texts = task
        return np.array(
            [
                self._hand(first + at // HANDS_PER_PAIR, at % HANDS_PER_PAIR, text)
                for at, text in enumerate(texts)
            ]
        )

    def _hand(self, number: int, swapped: int, text: str) -> float:
        hole, board = deal_pair(self._definition, self._seed, number)
        seed = np.uint64(pair_seed(self._seed, number))
        betting = parse_betting(self._definition, text)
        seats = [
            player.start_hand(int(seed_at(seed, HAND_KEY + NUM_PLAYERS * swapped + p)))
            for p, player in enumerate(self._players)
        ]
        return self._correct(hand_state(betting, hole, board), swapped, (seats[swapped], seats[1 - swapped]))


def make_evaluator(definition: str, players: tuple[str, str], seed: int) -> Evaluator:
    """Make an `Evaluator` from texts. Blocks for a minute if a blueprint's values are not in the cache."""
    game = parse_definition(definition)
    made = make_player(players[0]), make_player(players[1])
    return Evaluator(game, made, seed, make_games(game, made))


def is_open(player: Player) -> bool:
    """Whether a player reports the strategy it played by when queried again after the match."""
    if isinstance(player, AgentPlayer) and player.agent.settings.budget is not None:
        return False  # a timed solve is not reproducible, and AIVAT with another strategy is biased
    return tells_strategy(player)


def _run(
    evaluator: Evaluator, make: Callable[[], Evaluator], workers: int, tasks: Iterator[Task]
) -> Iterator[tuple[Task, F64]]:
    if workers == 1:
        for task in tasks:
            yield task, evaluator(task)
    else:
        with WorkerPool[Task, F64](make, workers) as pool:
            for task, values, _ in pool.run(tasks):
                yield task, values
