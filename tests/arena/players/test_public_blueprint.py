from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from arena.players.base import PublicPlayer
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.play_style import PlayStyle, fill_probabilities
from game.actions import CALL, Action, raise_to
from game.betting import BettingState, start
from game.cards import parse_cards
from game.definition import HUNL, LIMIT_HOLDEM
from game.hands import NUM_HANDS, unblocked
from tests.arena.blueprints import WIDE, made_up_blueprint

BOARD = parse_cards("Qd8s3h4c5d")
SEEDS = 4000


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> BlueprintPlayer:
    return BlueprintPlayer("ours", made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE))


def after(*actions: Action) -> BettingState:
    betting = start(HUNL)
    for action in actions:
        betting = betting.apply(action)
    return betting


def visible(betting: BettingState) -> tuple[int, ...]:
    return BOARD[: HUNL.board_size(betting.round_index)]


@pytest.mark.parametrize("line", [(), (raise_to(300),), (raise_to(200), CALL), (CALL, CALL, raise_to(200))])
def test_bets_in_the_tree_need_no_mixture(player: BlueprintPlayer, line: tuple[Action, ...]) -> None:
    assert isinstance(player, PublicPlayer)
    betting = after(*line)
    shown = player.start_hand(5).strategy(betting, visible(betting))
    public = player.in_public().strategy(betting, visible(betting))
    assert public.actions == shown.actions
    np.testing.assert_allclose(public.probabilities, shown.probabilities, atol=1e-6)


def test_the_mixture_gives_every_line_its_average_probability(player: BlueprintPlayer) -> None:
    # The small blind raises between two sizes, then again on the flop: two translations, three decisions.
    decisions = [after(raise_to(250))]
    decisions.append(decisions[0].apply(CALL))
    (_, bet) = (player.in_public().strategy(decisions[1], visible(decisions[1])).actions)[:2]
    decisions.append(decisions[1].apply(bet).apply(raise_to(4000)))
    taken = [CALL, bet, CALL]
    nodes = Counter(
        tuple(hand.node(betting) for betting in decisions)
        for hand in (player.start_hand(seed) for seed in range(SEEDS))
    )
    assert len(nodes) > 2
    expected = np.zeros(NUM_HANDS)
    for seed in range(SEEDS):
        hand = player.start_hand(seed)
        way = tuple(hand.node(betting) for betting in decisions)
        if way in nodes:
            chance = nodes.pop(way) / SEEDS
            expected += chance * line_probability(hand, decisions, taken)
    found = line_probability(player.in_public(), decisions, taken)
    live = unblocked(BOARD[:3])
    np.testing.assert_allclose(found[live], expected[live], atol=0.02)
    assert found[live].max() > 0.1


def line_probability(source: object, decisions: list[BettingState], taken: list[Action]) -> np.ndarray:
    chances = np.ones(NUM_HANDS)
    for betting, action in zip(decisions, taken, strict=True):
        chances *= source.strategy(betting, visible(betting)).probability(action)  # type: ignore[attr-defined]
    return chances


def test_the_mixture_is_a_valid_strategy(player: BlueprintPlayer) -> None:
    public = player.in_public()
    betting = after(raise_to(250), CALL, CALL, raise_to(410), raise_to(1111))
    for _ in range(2):  # the second time from the cache
        strategy = public.strategy(betting, visible(betting))
        live = unblocked(visible(betting))
        np.testing.assert_allclose(strategy.probabilities.sum(axis=0), live, atol=1e-5)
        for action in strategy.actions:
            betting.verify(action)
    with pytest.raises(ValueError, match="another game"):
        public.strategy(start(LIMIT_HOLDEM), ())


@pytest.mark.kernel
@pytest.mark.parametrize("style", [PlayStyle(), PlayStyle(bias="call", factor=10), PlayStyle(purify=0.2)])
def test_fill_probabilities_applies_the_style(style: PlayStyle, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 80, (3, 5), dtype=np.uint8)
    codes = np.array([-1, 0, 300], dtype=np.int32)
    buckets = np.array([4, 0xFFFF, 0, 2, 2], dtype=np.uint16)
    out = np.zeros((3, 5), dtype=np.float32)
    fill_probabilities(style.numbers(), codes, rows, buckets, out)
    for h, bucket in enumerate(buckets.tolist()):
        expected = np.zeros(3)
        if bucket != 0xFFFF:
            expected = rows[:, bucket].astype(np.float64)
            expected[1] *= style.factor
            if style.purify is not None:
                fold, call, bet = expected.tolist()
                chosen = (
                    0 if fold > 0.2 * expected.sum() or fold >= max(call, bet) else 1 if call >= bet else 2
                )
                expected = np.eye(3)[chosen]
            expected /= expected.sum()
        np.testing.assert_allclose(out[:, h], expected, atol=1e-6)
