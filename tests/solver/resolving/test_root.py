"""Roots and ranges of nested solves."""

from __future__ import annotations

import numpy as np
import pytest

from game.actions import CALL, raise_to
from game.definition import HUNL
from game.hands import NUM_HANDS, unblocked
from protocol.acpc import parse_betting
from solver.games.tree import CALL_ACTION
from solver.resolving.alternatives import Alternatives
from solver.resolving.context import Context
from solver.resolving.ranges import LEAST_SHARE, NEVER, full_ranges, narrowed_range
from solver.resolving.root import find_root

FLOP, TURN = (0, 13, 26), (0, 13, 26, 39)


def context(text: str, call: float = 1.0) -> Context:
    """Ranges with only the first half of the hands, of which those with odd numbers call less often."""
    ranges = full_ranges()
    ranges[:, NUM_HANDS // 2 :] = 0
    calls = np.ones(NUM_HANDS, dtype=np.float32)
    calls[1::2] = call
    return Context(text, ranges, {CALL_ACTION: calls})


def test_a_subgame_starts_before_the_opponents_last_action() -> None:
    found = find_root(parse_betting(HUNL, "r300c/cr777"), FLOP, context("r300c/c"))
    assert found.path == (raise_to(777),)
    assert found.extra == {(): (777,)}
    assert found.betting.text == "r300c/c"
    assert found.root.actor == 1
    assert found.root.opened
    assert found.root.spent == (300, 300)
    assert found.root.last_raise == 100


def test_subgame_can_start_after_the_opponents_action() -> None:
    found = find_root(parse_betting(HUNL, "r300c/r777"), FLOP, context("r300c/"), at_decision=True)
    assert found.path == ()
    assert found.root.actor == 1
    assert found.root.spent == (777, 300)
    assert found.root.last_raise == 477


def test_subgame_starts_at_the_start_of_the_round() -> None:
    found = find_root(parse_betting(HUNL, "r300c/"), FLOP, context("r300c/"))
    assert found.path == ()
    assert found.extra == {}
    assert found.root.actor == 0
    assert not found.root.opened
    assert find_root(parse_betting(HUNL, "r300c/c"), FLOP, context("r300c/")).path == (CALL,)


def test_bet_faced_at_the_root_keeps_its_size() -> None:
    found = find_root(parse_betting(HUNL, "r300c/r700r20000"), FLOP, context("r300c/r700"))
    assert found.root.spent == (700, 300)
    assert found.root.last_raise == 400
    assert found.root.round_start == 300
    assert found.root.raises == 1
    assert found.path == (raise_to(20_000),)


@pytest.mark.parametrize(
    ("betting", "before", "counts"),
    [
        ("r300c/cc/", "r300c/c", True),  # the opponent checked behind
        ("r300c/cr700c/c", "r300c/cr700", True),  # the opponent called, then acted
        ("r300c/cr700c/", "r300c/cr700c/", False),  # we called
        ("r300c/cc/c", "r300c/cc/", False),  # we checked behind
    ],
)
def test_a_call_that_closes_the_round_counts_once(betting: str, before: str, counts: bool) -> None:
    state = parse_betting(HUNL, betting)
    found = find_root(state, TURN, context(before, call=0.5))
    live = unblocked(TURN) & (np.arange(NUM_HANDS) < NUM_HANDS // 2)
    odd = live & (np.arange(NUM_HANDS) % 2 == 1)
    theirs, ours = found.ranges[1 - state.actor], found.ranges[state.actor]
    assert (theirs[odd] == (0.5 if counts else 1.0)).all()
    assert (ours[live] == 1).all()


def test_ranges_are_not_empty_and_have_no_blocked_hands() -> None:
    nothing = Context("r300c/", np.zeros((2, NUM_HANDS), dtype=np.float32), {})
    live = unblocked(FLOP)
    for given in (nothing, context("r300c/")):
        ranges = find_root(parse_betting(HUNL, "r300c/"), FLOP, given).ranges
        assert (ranges[:, live] >= np.float32(LEAST_SHARE)).all()
        assert (ranges[:, ~live] == 0).all()


def test_context_survives_a_round_trip() -> None:
    rng = np.random.default_rng(1)
    rows = rng.random((5, NUM_HANDS), dtype=np.float32)
    promised = Alternatives(rows[2], {7: rows[3], 51: rows[4]})
    before = Context("r300c/", rows[:2], {CALL_ACTION: rows[3], 900: rows[4]}, promised)
    again = Context.from_bytes(before.to_bytes())
    assert again.text == before.text
    assert np.array_equal(again.ranges, before.ranges)
    assert again.replies.keys() == before.replies.keys()
    assert np.array_equal(again.replies[900], rows[4])
    assert again.alternatives is not None
    assert again.alternatives.here is not None
    assert np.array_equal(again.alternatives.here, rows[2])
    assert np.array_equal(again.alternatives.by_card[51], rows[4])
    assert Context.from_bytes(Context("c", rows[:2], {}).to_bytes()).alternatives is None


def test_promises_are_found_by_street_and_card() -> None:
    rows = np.arange(3 * NUM_HANDS, dtype=np.float32).reshape(3, NUM_HANDS)
    given = Context("cc/cc/r300", full_ranges(), {}, Alternatives(rows[0], {40: rows[1]}))
    here = given.promised(parse_betting(HUNL, "cc/cc/r300r900"), TURN)
    assert here is not None
    assert here[5] == rows[0][5]
    later = given.promised(parse_betting(HUNL, "cc/cc/r300c/"), (*TURN, 40))
    assert later is not None
    assert later[5] == rows[1][5]
    assert given.promised(parse_betting(HUNL, "cc/cc/r300c/"), (*TURN, 41)) is None
    closed = Context("cc/cr300c/", full_ranges(), {}, Alternatives(None, {40: rows[1]}))
    assert closed.promised(parse_betting(HUNL, "cc/cr300c/"), (*TURN, 40)) is not None


def test_promise_is_void_if_we_acted_without_a_solve() -> None:
    rows = np.ones((2, NUM_HANDS), dtype=np.float32)
    given = Context("cc/cc/r300", full_ranges(), {}, Alternatives(rows[0], {40: rows[1]}))
    # They raised, somebody else called for us: the pot differs from the one the promises were made for.
    assert given.promised(parse_betting(HUNL, "cc/cc/r300r900c/"), (*TURN, 40)) is None


def test_context_knows_the_flop_if_it_covers_the_preflop_betting() -> None:
    ones = np.ones(NUM_HANDS, dtype=np.float32)
    later = Context("cc/cc/r300", full_ranges(), {})
    assert later.knows_flop(parse_betting(HUNL, "cc/cc/r300r900c/"))
    assert not later.knows_flop(parse_betting(HUNL, "cc/cc/r3000"))  # another hand
    at_flop = parse_betting(HUNL, "r300c/r600")
    assert Context("r300c/", full_ranges(), {}).knows_flop(at_flop)
    assert Context("r300", full_ranges(), {CALL_ACTION: ones}).knows_flop(at_flop)
    assert not Context("r300", full_ranges(), {900: ones}).knows_flop(at_flop)
    # Somebody else called for us.
    assert not Context("r300", full_ranges(), {CALL_ACTION: ones}).knows_flop(
        parse_betting(HUNL, "r300r900c/")
    )


def test_last_opponent_action_does_not_narrow_the_root_range() -> None:
    """The root is before that action. A call that ended a round is read from the last solution."""
    ones = np.ones(NUM_HANDS, dtype=np.float32)
    replies = {CALL_ACTION: 0.5 * ones, 600: 0.2 * ones}
    replies[CALL_ACTION][:100] = 0.1
    live, given = unblocked(FLOP), Context("r300c/c", full_ranges(), replies)
    for text in ("r300c/cr600", "r300c/cr900"):
        state = parse_betting(HUNL, text)
        for at_decision in (False, True):
            ranges = find_root(state, FLOP, given, at_decision).ranges
            assert (ranges[1 - state.actor][live] == 1).all()
    called = parse_betting(HUNL, "r300c/cc/")
    ranges = find_root(called, TURN, given).ranges
    live = unblocked(TURN)
    assert ranges[1][live][:50] == pytest.approx(0.2)


def test_actions_never_taken_do_not_narrow_the_range() -> None:
    weights, taken = full_ranges()[0], np.zeros(NUM_HANDS, dtype=np.float32)
    np.testing.assert_array_equal(narrowed_range(weights, taken), weights)
    taken[:6] = 0.5
    np.testing.assert_array_equal(narrowed_range(weights, taken), taken)
    np.testing.assert_array_equal(narrowed_range(weights, taken * NEVER), weights)
    nobody = context("r300c/c")
    nobody.replies[CALL_ACTION][:] = 0
    kept = find_root(parse_betting(HUNL, "r300c/cc/"), TURN, nobody).ranges
    live = unblocked(TURN)
    np.testing.assert_array_equal(kept[1][live], kept[0][live])
