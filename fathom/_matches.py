"""Measuring players: matches and local best response."""

from __future__ import annotations

from arena.duplicate.duplicate import DuplicateTerms, SlowDuel, play_duplicate
from arena.duplicate.results import MatchResult, duplicate_result
from arena.errors import PlayerError
from arena.lbr.lbr import parse_settings
from arena.lbr.run import LbrResult, LbrTerms, LbrWorker, measure_lbr, prepare, read_chips
from arena.players.base import HANDS_PER_PAIR, Player, PolicyPlayer
from arena.players.policies import Policy
from arena.players.registry import make_match_player, make_player, player_labels
from game.definition import HUNL, NUM_PLAYERS


def play_match(
    first: str | Player | Policy,
    second: str | Player | Policy,
    hands: int = 2000,
    *,
    seed: int = 1,
    workers: int = 1,
) -> MatchResult:
    """Play a duplicate match: every deal twice, the second time with seats changed. Blocks.

    Args:
        first: a player: a name as in `fathom match` (`blueprint`, `agent,budget=1`, `pot-odds`,
            `python:mybot.py:NAME`), a `Player` such as `make_agent` returns, or a function of the state, the
            player's position and a `random.Random` that returns an action
        second: the other player
        hands: number of hands; rounded up to an even number
        seed: seed of the cards and of the players. The same seed gives the same match
        workers: processes; more than one only for players given by name, and in scripts with the guard
            `if __name__ == "__main__":`
    """
    pairs = _rounded_up(hands, HANDS_PER_PAIR)
    if isinstance(first, str) and isinstance(second, str):
        terms = DuplicateTerms(HUNL, (first, second), player_labels((first, second)), seed, pairs)
        return play_duplicate(terms, workers=workers)
    _verify_alone(workers)
    players = _player(first), _player(second)
    names = players[0].name, players[1].name
    duel = SlowDuel(HUNL, players, seed)
    try:
        lines = duel((0, pairs)).splitlines()
    finally:
        duel.close()
    return duplicate_result(
        HUNL, names if names[0] != names[1] else (f"{names[0]}-A", f"{names[1]}-B"), seed, lines
    )


def local_best_response(
    player: str | Player,
    hands: int = 2000,
    *,
    actions: str = "fcpa",
    rounds: str = "3-4",
    seed: int = 1,
    workers: int = 1,
) -> LbrResult:
    """Measure what local best response wins from a player: a lower bound on exploitability. Blocks.

    Args:
        player: a name or an object, as for `play_match`. It must reveal its strategy, as blueprints and
            agents do
        hands: number of hands; rounded up to an even number
        actions: `fc`, `fcpa`, `56bets`, or bet sizes such as `33%, 75%, a`
        rounds: the betting rounds in which it uses them; in the others it checks and calls
        seed: seed of the boards and of sampled actions
        workers: processes, as for `play_match`
    """
    settings, deals = parse_settings(actions, rounds), _rounded_up(hands, NUM_PLAYERS)
    name = player if isinstance(player, str) else player.name
    terms = LbrTerms(HUNL, name, settings, seed, deals)
    if isinstance(player, str):
        if workers > 1:
            return measure_lbr(terms, workers=workers)
        prepare(terms)
        player = make_player(player)
    _verify_alone(workers)
    lines = LbrWorker(HUNL, player, settings, seed)((0, deals)).splitlines()
    return LbrResult(terms, read_chips(lines, deals))


def _player(given: str | Player | Policy) -> Player:
    if isinstance(given, str):
        return make_match_player(given)
    if callable(given):
        return PolicyPlayer(given.__name__, given)
    return given


def _rounded_up(hands: int, step: int) -> int:
    if hands < 1:
        raise ValueError(f"{hands} hands: give at least one")
    return -(-hands // step)


def _verify_alone(workers: int) -> None:
    if workers != 1:
        raise PlayerError("several workers need players by name: leave out `workers`, or give names")
