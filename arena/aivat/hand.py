"""AIVAT for hands of hold'em: makes the guesses and collects the strategies of the players."""

from __future__ import annotations

import os
from typing import cast

import numpy as np

from abstraction.tables import open_tables
from arena.aivat.aivat import corrected_value, mean_start
from arena.aivat.holdem import HoldemGame, played_hand
from arena.aivat.node_values import cached_node_values
from arena.aivat.solved import SolvedGame, ask_agent
from arena.aivat.translation import TranslatedGame, ask_blueprint
from arena.errors import MatchAborted
from arena.players.agent_player import AgentPlayer
from arena.players.base import HandPlayer, OpenHandPlayer, Player, StrategySource
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.play_style import PlayStyle, style_rows
from game.betting import BettingState, start
from game.cards import Cards
from game.definition import GameDefinition
from game.state import HandState
from numeric.arrays import U8
from solver.blueprint.default import default_blueprint_path
from solver.blueprint.file import FULL, Blueprint, open_blueprint
from solver.decisions.range_strategy import RangeStrategy
from solver.games.tree import DECISION
from solver.training.deals import HoldemDealer


def tells_strategy(player: Player) -> bool:
    """Whether the player's strategy can be queried for hands it does not hold."""
    return isinstance(player.start_hand(0), OpenHandPlayer)


def verify_known(known: tuple[bool, bool]) -> None:
    """Raise `MatchAborted` if neither player's strategy is known."""
    if not any(known):
        raise MatchAborted(
            "AIVAT needs a player whose strategy is known: neither of these reveals its strategy."
            " Use a blueprint or an agent, or leave AIVAT out"
        )


class HandCorrector:
    """Applies AIVAT to the hands of a match, by querying the players' strategies."""

    def __init__(
        self, definition: GameDefinition, games: tuple[HoldemGame, HoldemGame], known: tuple[bool, bool]
    ) -> None:
        """Prepare for a match between players A and B.

        games  guesses: the first for hands with player A in position 0, the second for the others
        known  whether the strategies of A and B are known
        """
        verify_known(known)
        self._games = games
        self._known = (known, (known[1], known[0]))
        root = start(definition)
        self._starts = [
            mean_start(game, game.root(root), seats) for game, seats in zip(games, self._known, strict=True)
        ]

    def __call__(self, hand: HandState, position: int, seats: tuple[HandPlayer, HandPlayer]) -> float:
        """The corrected chips of A in a finished hand.

        position  A's position
        seats     the hand players by position
        """
        plain, known = self._games[position], self._known[position]
        game: HoldemGame | SolvedGame | TranslatedGame
        game = ask_blueprint(plain, seats) if all(known) else ask_agent(plain, seats, known)
        strategies = strategies_of(hand.betting, hand.board, seats, known)
        value = corrected_value(game, played_hand(game, hand, known, strategies), self._starts[position])
        return value if position == 0 else -value


def make_corrector(definition: GameDefinition, players: tuple[Player, Player]) -> HandCorrector:
    """Make a corrector for hands that the same players have just played.

    Blocks for a minute if a blueprint's values are not in the cache.
    """
    known = tells_strategy(players[0]), tells_strategy(players[1])
    verify_known(known)  # fail before the values are computed
    return HandCorrector(definition, make_games(definition, players), known)


def make_games(definition: GameDefinition, players: tuple[Player, Player]) -> tuple[HoldemGame, HoldemGame]:
    """Guesses for both seatings: a blueprint's self-play values, and on rivers these players' own styles."""
    named = [player for player in players if isinstance(player, BlueprintPlayer | AgentPlayer)]
    blueprint = named[0].blueprint if named else open_blueprint(default_blueprint_path())
    if blueprint.definition != definition:
        raise MatchAborted("AIVAT needs a blueprint of the game that is played, not of another game")
    tables = open_tables(blueprint.cards)
    game = blueprint.training_game
    values = cached_node_values(game, blueprint.bytes, HoldemDealer(tables), threads=os.cpu_count() or 1)
    styles = [
        player.style if isinstance(player, BlueprintPlayer) and player.blueprint is blueprint else PlayStyle()
        for player in players
    ]
    thinks = any(isinstance(player, AgentPlayer) for player in players)  # otherwise guesses would dominate
    first, second = (
        HoldemGame(definition, game, play_as(blueprint, seats), values, tables, careful=thinks)
        for seats in ((styles[0], styles[1]), (styles[1], styles[0]))
    )
    return first, second


def play_as(blueprint: Blueprint, styles: tuple[PlayStyle, PlayStyle]) -> U8:
    """uint8[node][action][bucket]: a blueprint's strategy, in 255ths, with a style for each position."""
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


def strategies_of(
    betting: BettingState,
    board: Cards,
    seats: tuple[HandPlayer, HandPlayer],
    known: tuple[bool, bool],
    skip: int = 0,
) -> list[RangeStrategy | None]:
    """The players' strategies for every hand at each action of a finished hand; None for unknown players.

    seats  the hand players by position; those who have just played the hand remember their strategies
    skip   number of actions at the start to leave out
    """
    definition, state = betting.definition, start(betting.definition)
    strategies: list[RangeStrategy | None] = []
    for number, action in enumerate(action for actions in betting.actions for action in actions):
        seat = seats[state.actor]
        if number < skip:
            pass
        elif known[state.actor]:
            source = cast("StrategySource", seat)  # guaranteed by `known`; an isinstance check is slow
            strategies.append(source.strategy(state, board[: definition.board_size(state.round_index)]))
        else:
            strategies.append(None)
        state = state.apply(action)
    return strategies
