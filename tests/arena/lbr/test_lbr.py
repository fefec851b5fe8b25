from __future__ import annotations

from random import Random

import numpy as np
import pytest

from arena.lbr.cards import HoldemCards, OneCardHands
from arena.lbr.lbr import ACTION_SETS, LbrSettings, LocalResponse, parse_settings
from arena.lbr.value import Sample, deal_board, exact_value, sampled_value
from arena.players.base import PublicPlayer
from arena.players.registry import make_player
from game.actions import CALL, FOLD, LIMIT_RAISE, raise_to
from game.betting import BettingState, start
from game.cards import Cards, parse_cards
from game.definition import HUNL, KUHN, LEDUC
from game.hands import NUM_HANDS, parse_hand, unblocked
from solver.decisions.range_strategy import RangeStrategy
from solver.exact import schedules
from solver.exact.engine import RESPOND, Engine
from solver.exact.exploitability import player_value
from solver.exact.solver import Solver
from solver.games.toys import kuhn, leduc
from tests.arena.leduc_tables import TablePlayer
from tests.reference.lbr import ReferenceLbr

ALL_ROUNDS = LbrSettings("fcpa", 0, 1)
GAME = leduc()
RULES = OneCardHands(LEDUC)


def random_table(seed: int) -> TablePlayer:
    """Skewed random strategies, some of them nearly pure."""
    rng = np.random.default_rng(seed)
    return TablePlayer(GAME, (rng.random(GAME.table_size) ** (1 + seed % 4)).astype(np.float32))


def cfr_table(iterations: int) -> TablePlayer:
    solver = Solver(GAME, schedules.dcfr())
    solver.run(iterations)
    return TablePlayer(GAME, solver.average)


def lbr_and_best(player: TablePlayer) -> tuple[float, float]:
    """The values of LBR and of the best response, averaged over both positions."""
    engine = Engine(GAME)
    local = [exact_value(RULES, ALL_ROUNDS, player, position) for position in range(2)]
    best = [player_value(engine, player.table, position, RESPOND) for position in range(2)]
    for low, high in zip(local, best, strict=True):
        assert low <= high + 1e-5
    return sum(local) / 2, sum(best) / 2


def test_lbr_is_close_below_best_response_against_weak_players() -> None:
    weak = [lbr_and_best(random_table(seed)) for seed in range(12)]
    assert sum(local for local, _ in weak) > 0.7 * sum(best for _, best in weak)
    uniform, best = lbr_and_best(TablePlayer(GAME, np.ones(GAME.table_size, dtype=np.float32)))
    assert uniform > 0.9 * best
    assert best == pytest.approx(4.747222 / 2, abs=1e-4)  # OpenSpiel's nash_conv of uniform play


def test_lbr_is_at_most_best_response_against_solutions() -> None:
    results = [lbr_and_best(cfr_table(n)) for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)]
    assert all(best > 0 for _, best in results)
    assert results[0][0] > 0.9 * results[0][1]
    assert results[-1][0] < 0.001


@pytest.mark.parametrize("actions", ["fc", "fcpa"])
@pytest.mark.parametrize("first_round", [0, 1])
def test_values_on_leduc_match_the_reference(actions: str, first_round: int) -> None:
    player = random_table(5)
    deck = sorted(LEDUC.deck)

    def chances(betting: BettingState, board: Cards, card: int) -> dict[object, float]:
        strategy = player.strategy(betting, board)
        return dict(zip(strategy.actions, strategy.probabilities[:, deck.index(card)].tolist(), strict=True))

    reference = ReferenceLbr(LEDUC, chances, actions == "fcpa", first_round)  # type: ignore[arg-type]
    for position in range(2):
        found = exact_value(RULES, LbrSettings(actions, first_round, 1), player, position)
        assert found == pytest.approx(reference.value(position), abs=1e-6)


def test_lbr_plays_games_without_public_cards() -> None:
    game = kuhn()
    engine, table = Engine(game), np.ones(game.table_size, dtype=np.float32)

    class Uniform:
        def strategy(self, betting: BettingState, board: Cards) -> RangeStrategy:
            actions = (FOLD, CALL) if betting.to_call else (CALL, LIMIT_RAISE)
            return RangeStrategy(actions, np.full((2, 3), 0.5, dtype=np.float32))

    for position in range(2):
        found = exact_value(OneCardHands(KUHN), LbrSettings("fcpa", 0, 0), Uniform(), position)
        assert found <= player_value(engine, table, position, RESPOND) + 1e-6


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("branches", [1, 3])
def test_sampled_values_are_unbiased(position: int, branches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.lbr.value.LBR_BRANCHES", branches)
    player = random_table(3)
    expected = exact_value(RULES, ALL_ROUNDS, player, position)
    response, rng, values = LocalResponse(RULES, ALL_ROUNDS, player), Random(position), []
    for _ in range(1500):
        values.append(sampled_value(response, position, Sample(deal_board(RULES, rng), rng)))
        response.forget()
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - expected) < 4 * error
    assert error < 0.1


def holdem_value(player: str, actions: str, position: int, seed: int) -> float:
    named = make_player(player)
    assert isinstance(named, PublicPlayer)
    rules, rng = HoldemCards(HUNL), Random(seed)
    response = LocalResponse(rules, parse_settings(actions, "3-4"), named.in_public())
    return sampled_value(response, position, Sample(deal_board(rules, rng), rng))


@pytest.mark.parametrize(("actions", "button"), [("fcpa", 100), ("56bets", 100), ("fc", 0)])
def test_always_folding_loses_the_blinds(actions: str, button: int) -> None:
    # Without bets, the folder checks in the big blind, to a showdown with mean value 0.
    assert holdem_value("fold", actions, 0, 1) == 50
    assert holdem_value("fold", actions, 1, 1) == pytest.approx(button, abs=0.1)


def test_always_calling_loses_more_than_folding() -> None:
    assert holdem_value("call", "fcpa", 0, 1) > 1000
    assert holdem_value("call", "fc", 0, 1) == pytest.approx(0, abs=1e-9)


def test_utilities_follow_the_papers_formula() -> None:
    """Computed by hand: the nuts and the worst hand on a river against one hand that folds 30 %."""
    board = parse_cards("AsKsQsJs2d")
    nuts, nothing, other = parse_hand("Ts3c"), parse_hand("4c3c"), parse_hand("9c9d")
    betting = start(HUNL)
    for action in (raise_to(300), CALL, CALL, CALL, CALL, CALL, raise_to(500)):
        betting = betting.apply(action)
    asked_for = []

    class Folds:
        def strategy(self, after: BettingState, _: Cards) -> RangeStrategy:
            asked_for.append(after.text)
            live = unblocked(board).astype(np.float32)
            return RangeStrategy((FOLD, CALL), np.stack([0.3 * live, 0.7 * live]).astype(np.float32))

    weights = np.zeros(NUM_HANDS)
    weights[other] = 1.0
    response = LocalResponse(HoldemCards(HUNL), parse_settings("fcpa", "1-4"), Folds())
    actions, rows = response.utilities(betting, board, weights)
    pot, asked = 800, 200
    assert actions == [FOLD, CALL, raise_to(1500), raise_to(20000)]
    assert rows[:2, nuts].tolist() == [0, pot]
    assert rows[:2, nothing].tolist() == [0, -asked]
    for a, total in ((2, 1500), (3, 20000)):
        extra = total - 500
        assert rows[a, nuts] == pytest.approx(0.3 * pot + 0.7 * (pot + extra), rel=1e-6)
        assert rows[a, nothing] == pytest.approx(0.3 * pot - 0.7 * (asked + extra), rel=1e-6)
    decisions = dict(response.decide(betting, board, weights))
    assert decisions[raise_to(20000)][nuts]
    assert decisions[FOLD][nothing]
    assert len(asked_for) == 2 == response.questions  # each bet is queried once, though it is needed twice


def test_lbr_calls_before_its_first_round() -> None:
    player = make_player("call")
    assert isinstance(player, PublicPlayer)
    response = LocalResponse(HoldemCards(HUNL), parse_settings("fcpa", "2-3"), player.in_public())
    ((action, mask),) = response.decide(start(HUNL), (), np.ones(NUM_HANDS))
    assert action == CALL
    assert mask.all()
    assert response.questions == 0


def test_action_sets() -> None:
    assert [len(sizes) for sizes in ACTION_SETS.values()] == [0, 2, 56]
    assert parse_settings("56bets", "3").rounds == "3-3"
    assert len(parse_settings("33%, a", "1-4").sizes) == 2
    for actions, rounds in (("pots", "1-4"), ("300c", "1-4"), ("fc", "0-4"), ("fc", "4-3"), ("fc", "1-5")):
        with pytest.raises(ValueError, match=r"actions|rounds"):
            parse_settings(actions, rounds)
