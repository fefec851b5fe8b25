from __future__ import annotations

import numpy as np
import pytest

from numeric import simd
from solver.exact.kernels.terminal import (
    add_lanes,
    card_totals,
    card_totals_of_difference,
    fold_lanes,
    lanes_to_rows,
    rows_to_lanes,
    scale_totals,
    sweep_showdown,
)
from solver.exact.kernels.walk import evaluate_group
from solver.exact.program import compile_tree
from solver.games.layout import Scratch, Shape, aligned
from tests.reference.cfr import ReferenceGame
from tests.solver.small_games import holdem, holdem_strength

pytestmark = pytest.mark.kernel

HANDS = ["AsKs", "AdKh", "QhQc", "QdJd", "JhTh", "7s7c", "4d4h", "2c2d", "3h3d", "KcQs", "AcQd", "9s8s"]


def scratch_for(stride: int, num_cards: int, reach_rows: int, value_rows: int) -> Scratch:
    lanes = (stride + 1) * 8
    return Scratch(
        aligned(reach_rows * stride), aligned(value_rows * stride), aligned(lanes), aligned(lanes),
        aligned(lanes), aligned((num_cards + 1) * 8),
    )  # fmt: skip


@pytest.mark.parametrize("traverser", [0, 1])
@pytest.mark.parametrize(
    ("board", "menu"), [("AhKd7h4c2s", "50%, a | a"), ("AhKd7h4c2s", "a"), ("7d6d5c4s8h", "100% | -")]
)
def test_terminals_match_pairwise_comparison(board: str, menu: str, traverser: int) -> None:
    game = holdem(board, 100, 300, menu, HANDS)
    reference = ReferenceGame(game, lambda cards, hand: holdem_strength(game, cards, hand))
    compiled = compile_tree(game.tree, game.chance)
    program, rng = compiled.program, np.random.default_rng(3)
    scratch = scratch_for(game.stride, game.num_cards, compiled.reach_rows, compiled.value_rows)
    reach = scratch.reach.reshape(-1, game.stride)
    reach[:, : game.num_hands] = rng.random((len(reach), game.num_hands))
    shape = Shape(game.stride, game.num_cards, 1)
    showdown = int(np.flatnonzero(game.tree.kind == 2)[0])
    fold = int(np.flatnonzero(game.tree.kind == 1)[0])
    folder = int(game.tree.player[fold])
    segment = traverser
    for g in range(program.segments[segment, 2], program.segments[segment, 3]):
        evaluate_group(g, 0, shape, game.boards, program, scratch.reach, scratch.value, scratch)
        for lane in range(8):
            expected = np.zeros(game.num_hands)
            for amount, row, node, player in (
                (program.lane_win[g, lane], program.lane_showdown[g, lane], showdown, traverser),
                (program.lane_gain[g, lane], program.lane_fold[g, lane], fold, 1 - folder),
            ):
                values = reference.terminal(node, 0, player, dict(enumerate(reach[row].astype(float))))
                unit = np.array(list(values.values())) / game.tree.amount[node]
                expected += amount * unit
            if expected.any():
                got = scratch.value.reshape(-1, game.stride)[program.lane_out[g, lane], : game.num_hands]
                np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-3)


def test_blocked_and_padding_hands_get_zero() -> None:
    game = holdem("AhKd7h4c", 100, 300, "a", HANDS)
    board = int(game.boards.live[1:].argmin()) + 1
    live = int(game.boards.live[board])
    assert live < game.num_hands
    lanes, totals, out = (
        aligned((game.stride + 1) * 8),
        aligned((game.num_cards + 1) * 8),
        aligned((game.stride + 1) * 8),
    )
    rows = aligned(8 * game.stride)
    rows[:] = 1.0
    row, scale = np.arange(8, dtype=np.int32)[None], np.ones((1, 8), dtype=np.float32)
    position, pair = game.boards.position[board], game.boards.pair[board]
    rows_to_lanes(rows, row, scale, 0, game.stride, position, lanes)
    card_totals(lanes, pair, live, game.num_cards, totals)
    assert totals.reshape(-1, 8)[-1] == pytest.approx(live)
    fold_lanes(lanes, pair, live, game.num_cards, totals, out)
    lanes_to_rows(out, position, game.stride, rows, row, scale, 0, False)
    blocked = position == game.stride
    assert (rows.reshape(8, -1)[:, blocked] == 0).all()
    for h in np.flatnonzero(~blocked):
        cards = set(game.hands[h].tolist())
        free = [k for k in np.flatnonzero(~blocked) if not cards & set(game.hands[k].tolist())]
        assert rows.reshape(8, -1)[:, h] == pytest.approx(len(free))


def test_accumulating_lanes_add_to_their_rows() -> None:
    stride, lanes, rows = 8, aligned(9 * 8), aligned(8 * 8)
    lanes[:64] = np.arange(64)
    rows[:] = 100.0
    row = np.arange(8, dtype=np.int32)[None]
    keep = np.array([[1, 0, 1, 0, 1, 0, 1, 0]], dtype=np.float32)
    lanes_to_rows(lanes, np.arange(8, dtype=np.uint16), stride, rows, row, keep, 0, True)
    expected = np.arange(64).reshape(8, 8).T + 100.0 * keep[0][:, None]
    np.testing.assert_array_equal(rows.reshape(8, 8), expected)


def test_totals_of_a_difference() -> None:
    game = holdem("AhKd7h4c2s", 100, 300, "a", HANDS)
    live, num_cards = int(game.boards.live[0]), game.num_cards
    rng = np.random.default_rng(0)
    plus, minus = aligned((game.stride + 1) * 8), aligned((game.stride + 1) * 8)
    plus[:], minus[:] = rng.random(plus.size), rng.random(minus.size)
    both, first, second = (aligned((num_cards + 1) * 8) for _ in range(3))
    pair = game.boards.pair[0]
    card_totals_of_difference(plus, minus, pair, live, num_cards, both)
    card_totals(plus, pair, live, num_cards, first)
    card_totals(minus, pair, live, num_cards, second)
    np.testing.assert_allclose(both, first - second, atol=1e-5)
    scale_totals(both, num_cards, -2.0)
    np.testing.assert_allclose(both, -2 * (first - second), atol=1e-5)
    out = aligned((game.stride + 1) * 8)
    add_lanes(plus, live, out)
    np.testing.assert_array_equal(out[: live * 8], plus[: live * 8])


def test_equal_hands_split_the_pot() -> None:
    game = holdem("AhKhQhJhTh", 100, 300, "a", HANDS)
    assert game.boards.groups[0] == 1
    live, num_cards = int(game.boards.live[0]), game.num_cards
    lanes, totals, out = (
        aligned((game.stride + 1) * 8),
        aligned((num_cards + 1) * 8),
        aligned((game.stride + 1) * 8),
    )
    lanes[: live * 8] = 1.0
    card_totals(lanes, game.boards.pair[0], live, num_cards, totals)
    scale_totals(totals, num_cards, -0.5)
    sweep_showdown(lanes, game.boards.pair[0], game.boards.ends[0], 1, num_cards, totals, out)
    np.testing.assert_allclose(out, 0.0, atol=1e-5)


def test_simd_primitives_behave_as_numpy() -> None:
    from numeric.jit import kernel

    @kernel
    def exercise(a: np.ndarray, out: np.ndarray, index: np.ndarray) -> None:
        x, y = simd.load8(a, 0), simd.load8(a, 8)
        simd.store8(out, 0, x + y)
        simd.store8(out, 8, x - y)
        simd.store8(out, 16, x * y)
        simd.store8(out, 24, x / y)
        simd.store8(out, 32, simd.maximum8(x, y))
        simd.store8(out, 40, simd.where_positive8(x, y, simd.splat(np.float32(7.0))))
        rows = simd.transpose8((x, y, x, y, x, y, x, y))
        simd.store8(out, 48, rows[0])
        simd.store8(out, 56, rows[7])
        out[64] = simd.at(index, 1)
        out[65] = simd.least_of8(x)

    a = np.array([1, -2, 3, -4, 5, -6, 7, -8, 2, 2, -2, 4, 4, 4, 1, 1], dtype=np.float32)
    out = np.zeros(66, dtype=np.float32)
    exercise(a, out, np.array([5, 65535], dtype=np.uint16))
    x, y = a[:8], a[8:]
    pairs = [x[0], y[0]] * 4, [x[7], y[7]] * 4
    expected = [x + y, x - y, x * y, x / y, np.maximum(x, y), np.where(x > 0, y, 7), *pairs]
    np.testing.assert_allclose(out[:64], np.concatenate(expected), rtol=1e-6)
    assert out[64] == 65535
    assert out[65] == -8
