"""Solves of one street: the opponent's action narrows the range, unless no hand takes it; in both seats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from game.cards import parse_cards
from game.definition import HUNL
from game.hands import NUM_HANDS, unblocked
from game.ranges import parse_range
from numeric.arrays import F32
from protocol.acpc import parse_betting
from solver.agent.street_solves import StreetSolves, _DepthLimited, _ToTheEnd
from solver.blueprint.file import Blueprint
from solver.blueprint.walk import BlueprintWalk
from solver.decisions.decision import Decision
from solver.decisions.limits import UNLIMITED, Countdown, Limits
from solver.decisions.settings import AgentSettings, StreetSettings
from solver.leaves.rollouts import BlueprintRollouts
from solver.resolving.context import Context
from solver.resolving.ranges import LEAST_SHARE, full_ranges
from solver.resolving.root import find_root
from tests.arena.blueprints import NO_ALL_IN, WIDE, made_up_blueprint

HOPELESS, SETS, STRAIGHT = parse_range("93o,83o"), parse_range("AA,KK"), parse_range("5h3h")
BOARD = parse_cards("AsKd7h4c2s")
MENU = StreetSettings("100% | a", 30)
SOLVES = {"flop": 3, "turn": 4, "safe turn": 4, "cold turn": 4, "exact": 5, "safe": 5}
"""With so many cards."""


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)


@pytest.fixture(scope="module")
def without_all_ins(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    """A blueprint that never goes all-in on flops: the warm start of flop solves follows it."""
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), NO_ALL_IN)


def facing_all_in(blueprint: Blueprint, kind: str, opponent: int, theirs: F32) -> Decision:
    """Sets against a bet of 33 pots, from before that bet.

    The cold turn is off the blueprint's tree, and the bet is smaller than the pot there.
    """
    board = BOARD[: SOLVES[kind]]
    before = ("r300r900r2700r8100c/" if kind == "cold turn" else "r300c/") + "cc/" * (len(board) - 3)
    checked = before + ("" if opponent == 0 else "c")
    betting = parse_betting(HUNL, checked + "r20000")
    root = find_root(betting, board, Context(before, full_ranges(), {}))
    ranges = np.where(root.ranges > 0, np.stack([theirs, SETS] if opponent == 0 else [SETS, theirs]), 0)
    root = replace(root, ranges=ranges.astype(np.float32))
    solves = StreetSolves(
        blueprint,
        BlueprintWalk(blueprint.tree, HUNL),
        AgentSettings(MENU, MENU, MENU, budget=None),
    )
    if kind == "flop":
        return solves.flop(betting, root, 1, Countdown(UNLIMITED))
    promised = np.zeros(NUM_HANDS, dtype=np.float32) if "safe" in kind else None
    return solves.to_the_end(betting, root, promised, 1, Countdown(UNLIMITED))


@pytest.mark.parametrize(
    ("kind", "opponent"), [("cold turn", 1), ("exact", 0), ("exact", 1), ("safe", 0), ("safe", 1)]
)
def test_actions_never_taken_leave_an_empty_range_after_a_cold_start(
    without_all_ins: Blueprint, kind: str, opponent: int
) -> None:
    decision = facing_all_in(without_all_ins, kind, opponent, HOPELESS)
    assert not decision.ranges[opponent].any()
    assert decision.ranges[1 - opponent].any()


@pytest.mark.parametrize("opponent", [0, 1], ids=["big blind", "button"])
@pytest.mark.parametrize("kind", ["flop", "turn", "safe turn"])
def test_actions_never_taken_leave_the_range_as_it_was_after_a_warm_start(
    without_all_ins: Blueprint, kind: str, opponent: int
) -> None:
    """The answer is the one that deters every hand. Against the whole range most of our hands would call."""
    decision = facing_all_in(without_all_ins, kind, opponent, HOPELESS)
    theirs, before = decision.ranges[opponent], HOPELESS * unblocked(BOARD[: SOLVES[kind]])
    assert (theirs[before > 0] == before[before > 0]).all()
    assert decision.values() is None  # nobody is there to win from, or to lose to


@pytest.mark.parametrize("opponent", [0, 1], ids=["big blind", "button"])
@pytest.mark.parametrize("kind", ["exact", "safe"])
def test_action_of_a_single_rare_hand_counts_as_taken(blueprint: Blueprint, kind: str, opponent: int) -> None:
    rare = np.float32(LEAST_SHARE) * STRAIGHT
    decision = facing_all_in(blueprint, kind, opponent, HOPELESS + rare)
    theirs = decision.ranges[opponent]
    assert theirs[STRAIGHT > 0].sum() > 0.9 * theirs.sum()


def test_first_iteration_leaves_player_1s_uniform_strategy_in_the_average(blueprint: Blueprint) -> None:
    """Why reach alone is no test: this much of an action that is never taken again stays in the average."""
    decision = facing_all_in(blueprint, "exact", 1, HOPELESS)
    assert isinstance(decision.solved, _ToTheEnd)
    solver = decision.solved.solver
    reach, weights = solver.solution().reach(1, decision.node), solver.game.ranges[1]
    left = solver.schedule.first_share(solver.iterations) / 3  # three actions: check, pot, all-in
    assert reach[weights > 0] == pytest.approx(left * weights[weights > 0], rel=1e-3)


def test_short_decisions_reduce_variance_only_with_a_table_of_their_own(blueprint: Blueprint) -> None:
    walk = BlueprintWalk(blueprint.tree, HUNL)
    solves, others = [StreetSolves(blueprint, walk, AgentSettings(MENU, MENU, MENU)) for _ in range(2)]
    betting, board = parse_betting(HUNL, "r300c/"), parse_cards("Ts6d3c")
    root = find_root(betting, board, Context("r300c/", full_ranges(), {}))

    def takes_luck_out(limits: Limits, solves: StreetSolves = solves) -> bool:
        solved = solves.flop(betting, root, 1, Countdown(limits)).solved
        assert isinstance(solved, _DepthLimited)
        assert isinstance(solved.solver.leaves, BlueprintRollouts)
        return solved.solver.leaves._tiles is not None

    short = Limits(seconds=0.01)
    assert not takes_luck_out(short)
    assert takes_luck_out(UNLIMITED)
    assert takes_luck_out(short)
    assert not takes_luck_out(short, others)


def test_menus_follow_the_time_there_is(blueprint: Blueprint) -> None:
    """With much time the rich menu with own bets is used, with little the quick one."""
    street = StreetSettings(
        "100% | a", 30, quick_menu="100% | -", iterations_wanted=50, rich_menu="50%, 100% | a",
        rich_iterations=50, own_bets="30%", own_iterations=100,
    )  # fmt: skip
    walk = BlueprintWalk(blueprint.tree, HUNL)
    solves = StreetSolves(blueprint, walk, AgentSettings(turn=street))
    betting = parse_betting(HUNL, "r300c/cc/")
    root = find_root(betting, BOARD[:4], Context("r300c/", full_ranges(), {}))
    seen = []
    for seconds in np.geomspace(1e3, 1e-3, 100):
        tree = solves._tree(2, street, root, float(seconds), 1)
        choice = tree.num_nodes, tree.actions_of(0)
        if choice not in seen:
            seen.append(choice)
    assert [actions for _, actions in seen] == [(0, 480, 600, 900), (0, 600, 900), (0, 900), (0, 900)]
    assert seen == sorted(seen, reverse=True)  # each menu smaller than the one before
    assert solves._tree(2, street, root, None, 1).actions_of(0) == (0, 900)
