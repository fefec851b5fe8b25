from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.aivat.hand import play_as
from arena.duplicate.flop_lines import FlopLine, find_lines
from arena.duplicate.line_duel import LineDuel, MatchTime, line_seed, parse_line_hand
from arena.duplicate.pairs import play_pair
from arena.errors import MatchAborted
from arena.players.base import Player
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.play_style import PlayStyle
from arena.players.registry import make_player
from game.betting import start
from game.definition import HUNL
from game.hands import NUM_HANDS, hand_index
from solver.blueprint.file import Blueprint, add_tables, open_blueprint
from solver.games.tree import DECISION
from tests.arena.aivat_setups import LATE, use_quick_values
from tests.arena.blueprints import TINY, made_up_blueprint


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_quick_values(tmp_path, monkeypatch)


def biased_after_the_flop(blueprint: Blueprint, style: PlayStyle) -> Blueprint:
    """A blueprint that plays like another one before the flop and with its own style from there on."""
    strategy, tree = play_as(blueprint, (style, style)), blueprint.tree
    for node in np.flatnonzero((tree.kind == DECISION) & (tree.round == 0)).tolist():
        at, rows = int(blueprint.base[node]), blueprint.rows(node)
        strategy[at : at + rows.size] = rows.reshape(-1)
    path = blueprint.path.with_name("biased.blueprint")
    add_tables(blueprint.path, path, {"strategy": strategy})
    return open_blueprint(path)


def test_line_probabilities_match_played_hands(tmp_path: Path, quick: None) -> None:
    player = BlueprintPlayer("a", made_up_blueprint(tmp_path, LATE))
    found = find_lines(HUNL, (player, player))
    pairs = [play_pair(HUNL, (player, player), 1, number) for number in range(1000)]
    texts = [hand.betting for pair in pairs for hand in pair.hands]
    assert found.seconds_before < 0.1
    for line in found.lines:
        share = np.mean([text.startswith(line.text) for text in texts])
        assert share == pytest.approx(line.probability, abs=5 * np.sqrt(line.probability / len(texts)))


def test_hands_are_dealt_from_the_beliefs_of_the_line(tmp_path: Path) -> None:
    """Both players hold one of a few hands that block each other."""
    first, second = np.zeros(NUM_HANDS), np.zeros(NUM_HANDS)
    first[[hand_index(0, 1), hand_index(2, 3)]] = 1.0, 3.0
    second[[hand_index(0, 4), hand_index(5, 6)]] = 2.0, 1.0
    line = FlopLine(start(HUNL), (first, second), 1.0)
    rng = np.random.default_rng(1)
    deals = [line.deal(rng) for _ in range(2000)]
    assert all(len({*hole[0], *hole[1], *board}) == 9 for hole, board in deals)
    counts = {hole: sum(dealt == hole for dealt, _ in deals) for hole in {dealt for dealt, _ in deals}}
    weights = {1: 3.0 * 2.0, 2: 3.0 * 1.0, 3: 1.0 * 1.0}  # (2 3, 0 4), (2 3, 5 6), (0 1, 5 6)
    assert sorted(counts.values(), reverse=True) == pytest.approx(
        [2000 * weight / 10 for weight in weights.values()], abs=100
    )


def test_players_that_differ_before_the_flop_are_refused(tmp_path: Path, quick: None) -> None:
    path = made_up_blueprint(tmp_path).path
    plain, biased = make_player(f"blueprint:{path}"), make_player(f"blueprint:{path},bias=call")
    with pytest.raises(MatchAborted, match="alike before the flop"):
        find_lines(HUNL, (plain, biased))
    with pytest.raises(MatchAborted, match="does not reveal"):
        find_lines(HUNL, (plain, make_player("random")))


def test_a_pair_is_a_function_of_seed_line_and_number(tmp_path: Path, quick: None) -> None:
    player = BlueprintPlayer("a", made_up_blueprint(tmp_path))
    duel = LineDuel(HUNL, (player, player), 1)
    texts = [duel((0, number)) for number in (0, 1, 0)]
    first, second, again = ([parse_line_hand(line) for line in text.splitlines()] for text in texts)
    assert [(hand.seat, hand.betting, hand.value) for hand in first] == [
        (hand.seat, hand.betting, hand.value) for hand in again
    ]
    assert first[0].cards == first[1].cards != second[0].cards
    for hand in first + second:
        assert hand.value == pytest.approx(sum(hand.parts.values()), abs=0.01)
        assert set(hand.parts) <= {"deal3", "act3", "deal4", "act4", "deal5", "act5", "payoff"}
    with pytest.raises(ValueError, match="not a hand"):
        parse_line_hand('{"line": "cc/"}')
    assert line_seed(1, "cc/", 0) != line_seed(1, "r300c/", 0)


def mean_of(duel: LineDuel, pairs: int) -> tuple[float, float]:
    """Chips per hand over all lines, weighted by probability, and the standard error."""
    mean = variance = 0.0
    for index, line in enumerate(duel.found.lines):
        hands = [[parse_line_hand(x).value for x in duel((index, n)).splitlines()] for n in range(pairs)]
        values = np.array(hands).mean(axis=1)
        mean += line.probability * values.mean()
        variance += line.probability**2 * values.var(ddof=1) / pairs
    return float(mean), float(np.sqrt(variance))


@pytest.mark.slow
def test_stratified_means_agree_with_whole_matches(tmp_path: Path, quick: None) -> None:
    """Zero against itself; against a biased twin the plain match's result, with a smaller interval."""
    blueprint = made_up_blueprint(tmp_path, LATE, spread=1.0)
    twin = biased_after_the_flop(blueprint, PlayStyle("call", 10))
    players: tuple[Player, Player] = BlueprintPlayer("a", twin), BlueprintPlayer("b", blueprint)
    itself, error = mean_of(LineDuel(HUNL, (players[1], players[1]), 1), 40)
    assert abs(itself) < 3.5 * error
    mean, error = mean_of(LineDuel(HUNL, players, 1), 60)
    pairs = [play_pair(HUNL, players, 1, number) for number in range(4000)]
    chips = np.array([[hand.chips for hand in pair.hands] for pair in pairs]).mean(axis=1)
    plain, plain_error = chips.mean(), chips.std() / np.sqrt(len(chips))
    assert abs(mean - plain) < 3.5 * np.hypot(error, plain_error)
    assert error < plain_error


def test_an_agent_with_a_time_budget_is_corrected(tmp_path: Path, quick: None) -> None:
    path = made_up_blueprint(tmp_path, TINY).path
    players = make_player(f"agent:{path},budget=0.2"), make_player(f"blueprint:{path}")
    duel = LineDuel(HUNL, players, 1)
    hands = [parse_line_hand(line) for line in duel((0, 0)).splitlines()]
    assert all(np.isfinite(hand.value) and hand.think >= 0 for hand in hands)
    assert all(hand.think == pytest.approx(sum(hand.decisions), abs=1e-3) for hand in hands)


def test_simulated_clocks_have_the_saved_time_of_a_match(tmp_path: Path, quick: None) -> None:
    """Hands that end early leave time to later hands, as much as in a match."""
    player = BlueprintPlayer("a", made_up_blueprint(tmp_path))
    lines = find_lines(HUNL, (player, player)).lines
    betting = lines[0].betting
    rng = np.random.default_rng(1)
    times = MatchTime(1.0, lines)
    for line in lines:
        times.note(line, 0.0)
    rich = np.mean([times.clock(rng).seconds_for(betting) for _ in range(20)])
    times = MatchTime(1.0, lines)
    for line in lines:
        times.note(line, 3.0)
    poor = np.mean([times.clock(rng).seconds_for(betting) for _ in range(20)])
    assert poor < rich
