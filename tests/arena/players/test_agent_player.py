"""The agent in play: it answers any opponent action with a solved and legal strategy."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest

from arena.duplicate.flop_lines import find_lines
from arena.errors import MatchAborted, PlayerError
from arena.players.agent_player import AgentHand, AgentPlayer
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.policies import POLICIES
from arena.players.registry import make_player
from game.actions import CALL, raise_to
from game.betting import BettingState
from game.cards import Cards, parse_cards
from game.definition import HUNL
from game.hands import unblocked
from game.state import HandState, new_hand
from protocol.acpc import parse_betting
from solver.agent.agent import Agent
from solver.agent.preflop_solves import SolvedPreflop
from solver.agent.time_bank import MatchClock
from solver.blueprint.file import Blueprint, add_tables, open_blueprint
from solver.decisions.decision import Decision, Method
from solver.decisions.limits import Limits
from solver.decisions.settings import AgentSettings, StreetSettings
from solver.depth_limited.opponent_values import pack_values
from solver.resolving.context import Context
from tests.arena.blueprints import WIDE, made_up_blueprint
from tests.solver.depth_limited.test_opponent_values import even_wins
from tests.solver.depth_limited.test_preflop import made_up_table

QUICK = AgentSettings(
    flop=StreetSettings("100%, a | a", 3),
    turn=StreetSettings("100% | a | -", 3),
    river=StreetSettings("100%, a | a", 5),
    budget=None,
)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    return Agent(made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE), QUICK)


def deal(rng: Random) -> HandState:
    cards = rng.sample(range(52), 9)
    return new_hand(HUNL, (tuple(cards[:2]), tuple(cards[2:4])), tuple(cards[4:]))


def play(agent: Agent, policy: str, seed: int) -> tuple[HandState, AgentHand]:
    rng = Random(seed)
    state, position = deal(rng), seed % 2
    hand = AgentPlayer("agent", agent).start_hand(seed)
    while not state.betting.is_finished:
        if state.betting.actor == position:
            state = state.apply(hand.act(state, position))
        else:
            state = state.apply(POLICIES[policy](state, 1 - position, rng))
    return state, hand


@pytest.mark.parametrize("policy", ["random", "call", "min-raise"])
def test_every_action_is_legal_and_ranges_stay_valid(agent: Agent, policy: str) -> None:
    methods = set()
    for seed in range(48):
        _, hand = play(agent, policy, seed)
        for decision in hand.decisions.values():
            live = unblocked(decision.board)
            chances = decision.strategy.probabilities
            assert np.isfinite(chances).all()
            assert (chances >= 0).all()
            np.testing.assert_allclose(chances.sum(axis=0)[live], 1.0, atol=1e-4)
            assert np.isfinite(decision.ranges).all()
            assert (decision.ranges.max(axis=1) > 0).all()
            for action in decision.strategy.actions:
                decision.betting.verify(action)
            methods.add(decision.method)
    assert Method.EXACT in methods
    assert Method.DEPTH_LIMITED in methods


def test_a_hand_is_reproducible_and_strategies_do_not_depend_on_own_cards(agent: Agent) -> None:
    _, first = play(agent, "call", 5)
    _, again = play(agent, "call", 5)
    assert list(first.decisions) == list(again.decisions)
    for key, decision in first.decisions.items():
        np.testing.assert_array_equal(
            decision.strategy.probabilities, again.decisions[key].strategy.probabilities
        )
    # Queried for the last decision only, a fresh hand makes the earlier ones itself.
    (_, board), last = list(first.decisions.items())[-1]
    fresh = AgentPlayer("agent", agent).start_hand(5)
    found = fresh.strategy(last.betting, board)
    np.testing.assert_array_equal(found.probabilities, last.strategy.probabilities)


@pytest.fixture
def with_table(agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Blueprint:
    """A blueprint that has a table for the first round."""
    monkeypatch.setattr("solver.depth_limited.preflop.class_wins", even_wins)
    monkeypatch.setattr("solver.agent.preflop_solves.writable_cache", lambda: tmp_path)
    monkeypatch.setattr("solver.agent.agent.SolvedPreflop", partial(SolvedPreflop, iterations=10))
    path, plain = tmp_path / "with.blueprint", agent.blueprint
    add_tables(plain.path, path, pack_values((made_up_table(plain, 1), made_up_table(plain, 2))))
    return open_blueprint(path)


@pytest.mark.parametrize(
    ("preflop", "on_tree", "off_tree"),
    [
        ("offtree", Method.BLUEPRINT, Method.DEPTH_LIMITED),
        ("solve", Method.DEPTH_LIMITED, Method.DEPTH_LIMITED),
        ("lookup", Method.BLUEPRINT, Method.BLUEPRINT),
    ],
)
def test_preflop_is_solved_or_looked_up_by_setting(
    agent: Agent, with_table: Blueprint, preflop: str, on_tree: Method, off_tree: Method
) -> None:
    settings = replace(QUICK, preflop=preflop)
    tabled = Agent(with_table, settings)
    for text, method in (("", on_tree), ("r300", on_tree), ("r217", off_tree), ("r217r651", off_tree)):
        betting = parse_betting(HUNL, text)
        assert tabled.decide(betting, (), None, 1).method is method
        plain = Agent(agent.blueprint, settings).decide(betting, (), None, 1)
        assert plain.method is Method.BLUEPRINT  # without a table


def test_unknown_preflop_settings_are_refused(agent: Agent) -> None:
    assert make_player(f"agent:{agent.blueprint.path},preflop=lookup")
    with pytest.raises(PlayerError, match="offtree, solve, lookup"):
        make_player(f"agent:{agent.blueprint.path},preflop=0")


def test_preflop_lookup_plays_the_blueprint(with_table: Blueprint) -> None:
    blueprint = BlueprintPlayer("blueprint", with_table)
    assert find_lines(HUNL, (AgentPlayer("agent", Agent(with_table, QUICK)), blueprint)).lines
    always = AgentPlayer("agent", Agent(with_table, replace(QUICK, preflop="solve")))
    with pytest.raises(MatchAborted, match="alike before the flop"):
        find_lines(HUNL, (always, blueprint))


def test_the_flop_continues_from_the_preflop_solution(with_table: Blueprint) -> None:
    """The opponent's range after a call comes from the solution that our raise was sampled from."""
    tabled = Agent(with_table, QUICK)
    before = parse_betting(HUNL, "r217")
    context = tabled.decide(before, (), None, 1).after(raise_to(651))
    betting, board = parse_betting(HUNL, "r217r651c/"), (0, 1, 2)
    carried = tabled.decide(betting, board, context, 1)
    asked_for = Agent(with_table, QUICK).decide(betting, board, None, 1)
    np.testing.assert_allclose(carried.ranges, asked_for.ranges, rtol=1e-4)
    np.testing.assert_allclose(carried.strategy.probabilities, asked_for.strategy.probabilities, atol=1e-3)
    assert np.ptp(carried.ranges[1][unblocked(board)]) > 0.1


@pytest.mark.parametrize(("text", "cards"), [("cc/r217", 3), ("cc/cc/r217", 4), ("cc/cc/cc/", 5)])
def test_an_expired_clock_still_gives_a_strategy(agent: Agent, text: str, cards: int) -> None:
    betting = parse_betting(HUNL, text)
    decision = agent.decide(betting, tuple(range(cards)), None, 1, Limits(seconds=0.0))
    assert decision.iterations == 1
    asked = agent.decide(betting, tuple(range(cards)), None, 1, Limits(stop=lambda: True))
    assert asked.iterations == 1


def test_the_clock_is_shared_by_all_hands_of_a_player(agent: Agent) -> None:
    settings = replace(QUICK, budget=60.0)
    player = AgentPlayer("agent", Agent(agent.blueprint, settings))
    hand = player.start_hand(1)
    betting = parse_betting(HUNL, "cc/")
    assert player.clock is not None
    before = player.clock.seconds_for(betting)
    hand.decision(betting, (0, 1, 2))
    assert player.clock.seconds_for(betting) < before
    player.start_hand(2)
    assert player.clock.saved_seconds > 0
    assert AgentPlayer("agent", agent).clock is None


def test_an_action_with_zero_probability_is_answered(agent: Agent) -> None:
    # With one chip behind and an opponent that folds half of its hands, as at first, nobody checks.
    few = StreetSettings("a", 2)
    betting, board = parse_betting(HUNL, "r19999c/cc/cc/c"), tuple(parse_cards("AsKd7h4c2s"))
    decision = Agent(agent.blueprint, AgentSettings(few, few, few, budget=None)).decide(
        betting, board, None, seed=1
    )
    live = unblocked(board)
    assert (decision.ranges[0, live] > 0).all()
    assert decision.strategy.actions == (CALL, raise_to(20_000))
    assert np.ptp(decision.strategy.probabilities[1, live]) > 0.1  # and not all hands alike


@pytest.mark.parametrize(
    ("text", "board"), [("r300c/cc/r20000", "4hJh2h2d"), ("r300c/cc/cr750c/r20000", "4hJh2h2d9s")]
)
def test_few_hands_call_a_bet_of_many_pots(agent: Agent, text: str, board: str) -> None:
    """The bet is in no menu and no solution; the opponent's range must still be believed."""
    small = "75%, a<100% | a<250%"
    settings = replace(
        QUICK, turn=StreetSettings(small, 40), river=StreetSettings(small, 40), flop=StreetSettings(small, 8)
    )
    hand = AgentPlayer("agent", Agent(agent.blueprint, settings)).start_hand(1)
    decision = hand.decision(parse_betting(HUNL, text), parse_cards(board))
    assert 0 < decision.frequencies()[1] < 0.2


def test_every_queried_line_has_the_budget_of_a_hand(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single clock would run out. Time spent earlier on the same line counts."""
    timed = Agent(agent.blueprint, replace(QUICK, budget=1.0))
    allowed: dict[str, float] = {}

    def decide(
        betting: BettingState, board: Cards, context: Context | None, seed: int, limits: Limits
    ) -> Decision:
        assert limits.seconds is not None
        allowed[betting.text] = limits.seconds
        decision = agent.decide(betting, board, context, seed)
        return replace(decision, phases={"solve": limits.seconds})

    monkeypatch.setattr(timed, "decide", decide)
    board = tuple(parse_cards("Th9c2s"))
    hand = AgentPlayer("timed", timed).start_enquiry(seed=1)
    bets = range(500, 1500, 50)
    for bet in bets:
        hand.strategy(parse_betting(HUNL, f"r300c/cr{bet}"), board)
    answers = [allowed[f"r300c/cr{bet}"] for bet in bets]
    assert answers == sorted(answers), "the larger the pot the more"
    first = allowed["r300c/"]
    match = MatchClock(1.0)
    match.start_hand()
    match.spend(allowed["r300"])
    for line, seconds in (("r300c/", first), ("r300c/cr500", answers[0])):
        assert seconds == pytest.approx(match.seconds_for(parse_betting(HUNL, line)))
        match.spend(seconds)
