from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.duplicate.fast_duel import FastDuel, can_play_fast
from arena.duplicate.pairs import PlayedPair, deal_pair, pair_seed, parse_pair, play_pair
from arena.duplicate.results import duplicate_result, estimate
from arena.players.base import PolicyPlayer
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.play_style import PlayStyle
from arena.players.policies import POLICIES
from game.definition import HUNL, LEDUC, NLFH
from game.state import new_hand
from protocol.acpc import parse_betting
from tests.arena.blueprints import NO_ALL_IN, TINY, WIDE, made_up_blueprint, use_made_up_tables
from tests.reference import translation as slow


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    use_made_up_tables(monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("menus", "style"),
    [((WIDE, TINY), PlayStyle("call", 10)), ((NO_ALL_IN, WIDE), PlayStyle(purify=0.2, threshold=0.1))],
)
def test_the_kernel_plays_the_same_pairs_as_the_players(
    tmp_path: Path, tables: None, menus: tuple[str, str], style: PlayStyle
) -> None:
    players = (
        BlueprintPlayer("a", made_up_blueprint(tmp_path, menus[0], seed=1)),
        BlueprintPlayer("b", made_up_blueprint(tmp_path, menus[1], seed=2), style),
    )
    assert can_play_fast(HUNL, players)
    lines = FastDuel(players, seed=5).play(10, 150).splitlines()
    assert lines == [str(play_pair(HUNL, players, 5, number)) for number in range(10, 160)]
    # The sample covers all streets, all-ins and folds.
    text = " ".join(lines)
    assert "/" in text
    assert "f" in text
    assert "r20000" in text


@pytest.mark.kernel
def test_journal_lines_are_legal_hands(tmp_path: Path, tables: None) -> None:
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
            state = new_hand(HUNL, hole, board)._replace(betting=betting)
            assert state.values()[swapped] == hand.chips
            assert min(betting.spent) == hand.stake


@pytest.mark.kernel
def test_cards_are_a_function_of_seed_and_number() -> None:
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


def test_pairs_are_reproducible_for_any_player() -> None:
    players = (PolicyPlayer("random", POLICIES["random"]), PolicyPlayer("odds", POLICIES["pot-odds"]))
    pair = play_pair(NLFH, players, 1, 17)
    assert isinstance(pair, PlayedPair)
    assert pair == play_pair(NLFH, players, 1, 17) == parse_pair(str(pair))
    assert not can_play_fast(HUNL, players)
    with pytest.raises(ValueError, match="not a pair"):
        parse_pair("17 cc/cc 3 4")


@pytest.mark.slow
def test_intervals_cover_the_true_mean(tmp_path: Path, tables: None) -> None:
    """200 matches of a player against itself, whose true win rate is zero."""
    player = BlueprintPlayer("a", made_up_blueprint(tmp_path, TINY))
    lines = FastDuel((player, player), seed=1).play(0, 200 * 500).splitlines()
    samples = duplicate_result(HUNL, ("a", "b"), 1, lines).samples.reshape(200, 500)
    found = [estimate(match) for match in samples]
    covered = np.mean([abs(match.mean) <= match.margin for match in found])
    assert 0.90 <= covered <= 0.99
