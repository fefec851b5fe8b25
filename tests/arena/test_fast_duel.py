from __future__ import annotations

from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pytest

from abstraction.buckets import CardAbstraction
from abstraction.tables import BucketTables
from arena import blueprint_player, fast_duel
from arena.blueprint_player import BlueprintPlayer
from arena.fast_duel import FastDuel, can_play_fast
from arena.pairs import PlayedPair, deal_pair, pair_seed, parse_pair, play_pair
from arena.play_style import PlayStyle
from arena.players import PolicyPlayer
from arena.policies import POLICIES
from game.definition import HUNL, LEDUC, NLFH
from game.hands import NUM_HANDS
from game.state import new_hand
from protocol.acpc import parse_betting
from tests.arena.blueprints import NO_ALL_IN, TINY, WIDE, made_up_blueprint
from tests.reference import translation as slow


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> BucketTables:
    """Made-up buckets, the same on all boards, which both kinds of players look up."""
    rng = np.random.default_rng(4)
    few = [rng.integers(0, 8, size=NUM_HANDS, dtype=np.uint16) for _ in range(3)]
    rounds = [np.broadcast_to(row, (n, NUM_HANDS)) for row, n in zip(few, (1755, 16432, 134459), strict=True)]
    locations = [np.zeros(comb(52, n), dtype=np.uint32) for n in (3, 4, 5)]
    made_up = BucketTables(*rounds, *locations)

    def opened(abstraction: CardAbstraction, progress: object = None) -> BucketTables:
        return made_up

    monkeypatch.setattr(fast_duel, "open_tables", opened)
    monkeypatch.setattr(blueprint_player, "open_tables", opened)
    monkeypatch.setattr(blueprint_player, "tables_are_built", lambda abstraction: True)
    return made_up


@pytest.mark.slow
@pytest.mark.parametrize(
    ("menus", "style"),
    [((WIDE, TINY), PlayStyle("call", 10)), ((NO_ALL_IN, WIDE), PlayStyle(purify=0.2, threshold=0.1))],
)
def test_the_kernel_plays_as_the_players_do(
    tmp_path: Path, tables: BucketTables, menus: tuple[str, str], style: PlayStyle
) -> None:
    players = (
        BlueprintPlayer("a", made_up_blueprint(tmp_path, menus[0], seed=1)),
        BlueprintPlayer("b", made_up_blueprint(tmp_path, menus[1], seed=2), style),
    )
    assert can_play_fast(HUNL, players)
    lines = FastDuel(players, seed=5).play(10, 150).splitlines()
    assert lines == [str(play_pair(HUNL, players, 5, number)) for number in range(10, 160)]
    # Not vacuous: all streets, all-ins and folds are there.
    text = " ".join(lines)
    assert "/" in text
    assert "f" in text
    assert "r20000" in text


@pytest.mark.kernel
def test_lines_are_hands_by_the_rules(tmp_path: Path, tables: BucketTables) -> None:
    player = BlueprintPlayer("a", made_up_blueprint(tmp_path, TINY))
    text = FastDuel((player, player), seed=2**64 + 3).play(0, 20)
    assert text == FastDuel((player, player), seed=3).play(0, 20)
    assert FastDuel((player, player), seed=3).play(7, 2).splitlines() == text.splitlines()[7:9]
    for number, line in enumerate(text.splitlines()):
        pair = parse_pair(line)
        assert str(pair) == line
        assert pair.number == number
        hole, board = deal_pair(HUNL, 3, number)
        for swapped, hand in enumerate(pair.hands):
            betting = parse_betting(HUNL, hand.betting)
            state = replace(new_hand(HUNL, hole, board), betting=betting)
            assert state.values()[swapped] == hand.chips
            assert min(betting.spent) == hand.stake


@pytest.mark.kernel
def test_cards_follow_from_seed_and_number() -> None:
    for number in range(3):
        seed = pair_seed(9, number)
        assert seed == slow.hash32(9, 2 * number) << 32 | slow.hash32(9, 2 * number + 1)
        deck = list(range(52))
        for i in range(9):
            j = i + slow.hash32(seed, 65536 + i) * (52 - i) // 2**32
            deck[i], deck[j] = deck[j], deck[i]
        hole, board = deal_pair(HUNL, 9, number)
        assert (*hole[0], *hole[1], *board) == tuple(deck[:9])
    assert deal_pair(LEDUC, 9, 1) == deal_pair(LEDUC, 9, 1)


def test_any_player_plays_pairs_that_can_be_played_again() -> None:
    players = (PolicyPlayer("random", POLICIES["random"]), PolicyPlayer("odds", POLICIES["pot-odds"]))
    pair = play_pair(NLFH, players, 1, 17)
    assert isinstance(pair, PlayedPair)
    assert pair == play_pair(NLFH, players, 1, 17) == parse_pair(str(pair))
    assert not can_play_fast(HUNL, players)
    with pytest.raises(ValueError, match="not a pair"):
        parse_pair("17 cc/cc 3 4")
