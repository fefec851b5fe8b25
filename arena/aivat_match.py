"""AIVAT of a duplicate match: plays every hand again in mind, on all cores.

Needs nothing but the match's terms and bettings: cards and seeds follow from the number of a pair, and an
open player asked again says the same. Guesses are those of the first blueprint that a player uses, or the
default one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

import numpy as np

from abstraction.tables import open_tables
from arena.agent_player import AgentPlayer
from arena.aivat import corrected_value, mean_start
from arena.blueprint_player import BlueprintPlayer
from arena.duplicate import DuplicateTerms
from arena.errors import MatchAborted
from arena.holdem_aivat import HoldemGame, played_hand
from arena.pairs import HAND_KEY, HANDS_PER_PAIR, deal_pair, pair_seed
from arena.play_style import PlayStyle, style_rows
from arena.players import HandPlayer, OpenHandPlayer, Player, StrategySource
from arena.registry import make_player
from arena.results import MatchResult
from arena.workers import WorkerPool
from game.betting import BettingState, start
from game.cards import Cards
from game.definition import NUM_PLAYERS, GameDefinition, definition_text, parse_definition
from game.state import hand_state
from protocol.acpc import parse_betting
from solver.blueprint import FULL, Blueprint, open_blueprint
from solver.default_blueprint import default_blueprint_path
from solver.holdem_deals import HoldemDealer
from solver.kernels.draws import seed_at
from solver.layout import F64, U8
from solver.node_values import cached_node_values
from solver.range_strategy import RangeStrategy
from solver.training_game import make_training_game
from solver.tree import DECISION

_CHUNK = 64

Task = tuple[int, tuple[str, ...]]
"""The first pair of a chunk, and the bettings of its hands."""


def aivat_chips(
    terms: DuplicateTerms,
    result: MatchResult,
    workers: int | None = None,
    tick: Callable[[int], None] | None = None,
) -> F64:
    """float64[H]: chips of player A, corrected; blocks. Refuses with `MatchAborted` where it cannot be done.

    tick  called with the hands done so far
    """
    make = partial(make_evaluator, definition_text(terms.definition), terms.players, terms.seed)
    evaluator = make()  # refuses, and fills the cache of values, before the work is spread
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


def verify_known(players: tuple[Player, Player]) -> tuple[bool, bool]:
    """Which players tell their strategy; refuses with `MatchAborted` if neither does."""
    known = is_open(players[0]), is_open(players[1])
    if not any(known):
        raise MatchAborted(
            "AIVAT needs a player whose strategy is known: neither of these tells his"
            " (an agent does if it is given iterations=N instead of time)"
        )
    return known


class Evaluator:
    """Corrects the hands of one match."""

    def __init__(
        self,
        definition: GameDefinition,
        players: tuple[Player, Player],
        seed: int,
        games: tuple[HoldemGame, HoldemGame],
    ) -> None:
        """The games hold guesses: the first for hands with player A in position 0, the second for others."""
        self._definition, self._players, self._seed, self._games = definition, players, seed, games
        known = verify_known(players)
        self._known = (known, (known[1], known[0]))
        root = start(definition)
        self._starts = [
            mean_start(game, game.root(root), seats) for game, seats in zip(games, self._known, strict=True)
        ]

    def __call__(self, task: Task) -> F64:
        """Player A's chips in the hands of a chunk."""
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
        by_position = (seats[swapped], seats[1 - swapped])
        strategies = _strategies(betting, board, by_position, self._known[swapped])
        game = self._games[swapped]
        hand = played_hand(game, hand_state(betting, hole, board), self._known[swapped], strategies)
        value = corrected_value(game, hand, self._starts[swapped])
        return value if swapped == 0 else -value


def make_evaluator(definition: str, players: tuple[str, str], seed: int) -> Evaluator:
    """From texts: for worker processes. Blocks for a minute if a blueprint's values are not in the cache."""
    game = parse_definition(definition)
    made = make_player(players[0]), make_player(players[1])
    return Evaluator(game, made, seed, make_games(game, made))


def is_open(player: Player) -> bool:
    """Whether a player tells the strategy he played by."""
    if isinstance(player, AgentPlayer) and player.agent.settings.budget is not None:
        return False  # solved again it comes out different, and AIVAT with another strategy is biased
    return isinstance(player.start_hand(0), OpenHandPlayer)


def make_games(definition: GameDefinition, players: tuple[Player, Player]) -> tuple[HoldemGame, HoldemGame]:
    """Guesses for both seatings: a blueprint's values against itself, rivers as these players play them."""
    named = [player for player in players if isinstance(player, BlueprintPlayer | AgentPlayer)]
    blueprint = named[0].blueprint if named else open_blueprint(default_blueprint_path())
    if blueprint.definition != definition:
        raise MatchAborted("AIVAT needs a blueprint of the game that is played")
    tables = open_tables(blueprint.cards)
    game = make_training_game(blueprint.tree, blueprint.num_buckets, float(definition.big_blind))
    values = cached_node_values(game, blueprint.bytes, HoldemDealer(tables), threads=os.cpu_count() or 1)
    styles = [
        player.style if isinstance(player, BlueprintPlayer) and player.blueprint is blueprint else PlayStyle()
        for player in players
    ]
    first, second = (
        HoldemGame(definition, game, play_as(blueprint, seats), values, tables)
        for seats in ((styles[0], styles[1]), (styles[1], styles[0]))
    )
    return first, second


def play_as(blueprint: Blueprint, styles: tuple[PlayStyle, PlayStyle]) -> U8:
    """uint8[node][action][bucket]: a blueprint's strategy, in 255ths, with a style for either position."""
    if styles == (PlayStyle(), PlayStyle()):
        return blueprint.bytes
    strategy = np.array(blueprint.bytes)
    tree = blueprint.tree
    for node in np.flatnonzero(tree.kind == DECISION):
        style = styles[tree.player[node]]
        if style == PlayStyle():
            continue
        rows = blueprint.rows(int(node))
        weights = np.empty(rows.shape, dtype=np.int64)
        style_rows(
            style.numbers(), tree.action[tree.children_of(int(node))], np.ascontiguousarray(rows), weights
        )
        shares = weights * FULL // weights.sum(axis=0)
        likeliest = shares.argmax(axis=0), np.arange(shares.shape[1])
        shares[likeliest] += FULL - shares.sum(axis=0)
        start_at = int(blueprint.base[node])
        strategy[start_at : start_at + rows.size] = shares.reshape(-1)
    return strategy


def _strategies(
    betting: BettingState, board: Cards, seats: tuple[HandPlayer, HandPlayer], known: tuple[bool, bool]
) -> list[RangeStrategy | None]:
    """What the players of a finished hand would have done with every hand, action by action."""
    definition, state = betting.definition, start(betting.definition)
    strategies: list[RangeStrategy | None] = []
    for action in [action for actions in betting.actions for action in actions]:
        seat = seats[state.actor]
        if known[state.actor]:
            source = cast("StrategySource", seat)  # as `known` says; asking every time takes long
            strategies.append(source.strategy(state, board[: definition.board_size(state.round_index)]))
        else:
            strategies.append(None)
        state = state.apply(action)
    return strategies


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
