"""What it takes to correct a hand of hold'em by AIVAT: guesses, and the strategies of those who played it."""

from __future__ import annotations

import os
from typing import cast

import numpy as np

from abstraction.tables import open_tables
from arena.agent_player import AgentPlayer
from arena.aivat import corrected_value, mean_start
from arena.aivat_solved import SolvedGame, ask_agent
from arena.aivat_translation import TranslatedGame, ask_blueprint
from arena.blueprint_player import BlueprintPlayer
from arena.errors import MatchAborted
from arena.holdem_aivat import HoldemGame, played_hand
from arena.play_style import PlayStyle, style_rows
from arena.players import HandPlayer, OpenHandPlayer, Player, StrategySource
from game.betting import BettingState, start
from game.cards import Cards
from game.definition import GameDefinition
from game.state import HandState
from solver.blueprint import FULL, Blueprint, open_blueprint
from solver.default_blueprint import default_blueprint_path
from solver.holdem_deals import HoldemDealer
from solver.layout import U8
from solver.node_values import cached_node_values
from solver.range_strategy import RangeStrategy
from solver.tree import DECISION


def tells_strategy(player: Player) -> bool:
    """Whether the player of a hand can be asked what he would have done with other cards."""
    return isinstance(player.start_hand(0), OpenHandPlayer)


def verify_known(known: tuple[bool, bool]) -> None:
    """Refuse with `MatchAborted` if neither player tells his strategy."""
    if not any(known):
        raise MatchAborted("AIVAT needs a player whose strategy is known: neither of these tells his")


class HandCorrector:
    """Takes luck out of the hands of a match: asks those who played one what else they would have done."""

    def __init__(
        self, definition: GameDefinition, games: tuple[HoldemGame, HoldemGame], known: tuple[bool, bool]
    ) -> None:
        """Player A is the first.

        games  guesses: the first for hands with player A in position 0, the second for others
        known  whether A and B can be asked
        """
        verify_known(known)
        self._games = games
        self._known = (known, (known[1], known[0]))
        root = start(definition)
        self._starts = [
            mean_start(game, game.root(root), seats) for game, seats in zip(games, self._known, strict=True)
        ]

    def __call__(self, hand: HandState, position: int, seats: tuple[HandPlayer, HandPlayer]) -> float:
        """A's chips in a finished hand.

        position  A's
        seats     by position
        """
        plain, known = self._games[position], self._known[position]
        game: HoldemGame | SolvedGame | TranslatedGame
        game = ask_blueprint(plain, seats) if all(known) else ask_agent(plain, seats, known)
        strategies = strategies_of(hand.betting, hand.board, seats, known)
        value = corrected_value(game, played_hand(game, hand, known, strategies), self._starts[position])
        return value if position == 0 else -value


def make_corrector(definition: GameDefinition, players: tuple[Player, Player]) -> HandCorrector:
    """For hands that are corrected by those who have just played them.

    Blocks for a minute if a blueprint's values are not in the cache.
    """
    known = tells_strategy(players[0]), tells_strategy(players[1])
    verify_known(known)  # before the minute
    return HandCorrector(definition, make_games(definition, players), known)


def make_games(definition: GameDefinition, players: tuple[Player, Player]) -> tuple[HoldemGame, HoldemGame]:
    """Guesses for both seatings: a blueprint's values against itself, rivers as these players play them."""
    named = [player for player in players if isinstance(player, BlueprintPlayer | AgentPlayer)]
    blueprint = named[0].blueprint if named else open_blueprint(default_blueprint_path())
    if blueprint.definition != definition:
        raise MatchAborted("AIVAT needs a blueprint of the game that is played")
    tables = open_tables(blueprint.cards)
    game = blueprint.training_game
    values = cached_node_values(game, blueprint.bytes, HoldemDealer(tables), threads=os.cpu_count() or 1)
    styles = [
        player.style if isinstance(player, BlueprintPlayer) and player.blueprint is blueprint else PlayStyle()
        for player in players
    ]
    thinks = any(isinstance(player, AgentPlayer) for player in players)  # else guessing would take longest
    first, second = (
        HoldemGame(definition, game, play_as(blueprint, seats), values, tables, careful=thinks)
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


def strategies_of(
    betting: BettingState,
    board: Cards,
    seats: tuple[HandPlayer, HandPlayer],
    known: tuple[bool, bool],
    skip: int = 0,
) -> list[RangeStrategy | None]:
    """What the players of a finished hand would have done with every hand, action by action.

    seats  by position; those who have just played the hand remember
    skip   so many actions are not asked about
    """
    definition, state = betting.definition, start(betting.definition)
    strategies: list[RangeStrategy | None] = []
    for number, action in enumerate(action for actions in betting.actions for action in actions):
        seat = seats[state.actor]
        if number < skip:
            pass
        elif known[state.actor]:
            source = cast("StrategySource", seat)  # as `known` says; asking every time takes long
            strategies.append(source.strategy(state, board[: definition.board_size(state.round_index)]))
        else:
            strategies.append(None)
        state = state.apply(action)
    return strategies
