from __future__ import annotations

from math import comb

import numpy as np
import pytest

from abstraction.menu import parse_menu_book
from abstraction.tables import BucketTables
from game.cards import parse_cards
from game.definition import HUNL
from game.evaluator import NUM_LIVE_HANDS
from game.hands import NUM_HANDS, parse_hand, unblocked
from numeric.arrays import F64
from solver.blueprint.abstract_game import make_training_game
from solver.equity.all_in import (
    NUM_BOARDS,
    FlopTables,
    add_wins,
    all_board_wins,
    count_preflop_wins,
    flop_wins,
    mean_wins,
    pair_wins,
    runout_wins,
)
from solver.equity.beliefs import (
    PlaceValues,
    fill_board_buckets,
    guess_on_board,
    mean_over_cards,
    mean_over_flops,
    pair_mass,
)
from solver.equity.river import (
    Profile,
    RiverWalk,
    board_wins,
    fill_river_buckets,
    fill_river_order,
    mean_over_rivers,
    new_river,
    sampled_wins,
    walk_river,
)
from solver.games.betting_tree import build_hand_tree
from tests.reference import beliefs as slow

# Without JIT, wrapping multiplication is a warning.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")

FLOP, TURN, RIVER = (parse_cards(text) for text in ("7h8hTs", "7h8hTs2c", "7h8hTs2cTd"))


def some_belief(seed: int, board: tuple[int, ...], count: int = 14) -> tuple[F64, slow.Belief]:
    """The same belief for the kernels and the reference. Hands are neighbours, so many share cards."""
    rng = np.random.default_rng(seed)
    live = np.flatnonzero(unblocked(board))
    start = rng.integers(0, len(live) - 3 * count)
    hands = rng.choice(live[start : start + 3 * count], size=count, replace=False)
    weights = np.zeros(NUM_HANDS)
    weights[hands] = rng.random(count) + 0.1
    return weights, {int(h): float(weights[h]) for h in hands}


def some_tables() -> BucketTables:
    """Tables with seven rows for all boards, and no relabelling."""
    rng = np.random.default_rng(3)
    rows = [rng.integers(0, 8, size=(7, NUM_HANDS), dtype=np.uint16) for _ in range(3)]
    locations = [(np.arange(comb(52, n)) % 7 << 5).astype(np.uint32) for n in (3, 4, 5)]
    return BucketTables(*rows, *locations)


def some_place() -> tuple[PlaceValues, tuple[list[float], list[float]], float]:
    values = np.random.default_rng(5).normal(size=(2, 11)).astype(np.float32)
    return PlaceValues(values, 3, 0.25), (values[0, 3:].tolist(), values[1, 3:].tolist()), 0.25


def board_array(board: tuple[int, ...]) -> np.ndarray:
    return np.array(board, dtype=np.uint8)


@pytest.mark.kernel
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mass_and_wins_match_the_reference(seed: int) -> None:
    (first, one), (second, two) = some_belief(seed, RIVER), some_belief(seed + 1, RIVER)
    assert pair_mass(first, second) == pytest.approx(slow.mass(one, two, RIVER))
    assert pair_mass(first, first) == pytest.approx(slow.mass(one, one, RIVER))
    wins = slow.board_wins(one, two, RIVER)
    assert board_wins(board_array(RIVER), first, second) == pytest.approx(wins)
    assert mean_wins(first, second, RIVER) == pytest.approx(wins / slow.mass(one, two, RIVER))


@pytest.mark.kernel
def test_wins_over_rivers_match_the_reference() -> None:
    (first, one), (second, two) = some_belief(7, TURN, 5), some_belief(8, TURN, 5)
    expected = slow.board_wins(one, two, TURN)
    assert board_wins(board_array(TURN), first, second) == pytest.approx(expected)
    a, b, _ = next(slow.pairs(one, two, TURN))
    mean = slow.board_wins({a: 1.0}, {b: 1.0}, TURN)
    assert runout_wins(board_array((*slow.cards_of(a), *slow.cards_of(b), *TURN))) == pytest.approx(mean)
    assert pair_wins(slow.cards_of(a), slow.cards_of(b), TURN) == pytest.approx(mean)


@pytest.mark.slow
def test_wins_over_turns_and_rivers_match_pairwise_results() -> None:
    (first, one), (second, two) = some_belief(7, FLOP), some_belief(8, FLOP)
    expected = sum(
        weight * pair_wins(slow.cards_of(a), slow.cards_of(b), FLOP)
        for a, b, weight in slow.pairs(one, two, FLOP)
    )
    assert board_wins(board_array(FLOP), first, second) == pytest.approx(expected)


def test_sampled_wins_are_near_the_mean() -> None:
    for board in (FLOP, TURN):
        everything = unblocked(board).astype(np.float64)
        weights = everything * np.random.default_rng(1).random(NUM_HANDS) ** 3
        exact = mean_wins(weights, everything, board)
        assert sampled_wins(board_array(board), weights, everything) == pytest.approx(exact, abs=0.05)


@pytest.mark.slow
def test_preflop_all_in_odds_match_published_values() -> None:
    """The published odds of aces against kings with shared suits: 82.6366 %."""
    aces, kings = parse_cards("AsAh"), parse_cards("KsKh")
    assert (pair_wins(aces, kings, ()) + 1) / 2 == pytest.approx(0.826366, abs=1e-6)
    assert all_board_wins(board_array((*kings, *aces))) == -pair_wins(aces, kings, ())


@pytest.mark.kernel
@pytest.mark.slow
def test_counts_of_wins_match_the_reference() -> None:
    wins = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.uint16)
    add_wins(np.array([RIVER], dtype=np.uint8), np.array([3], dtype=np.uint16), wins)
    rng = np.random.default_rng(2)
    for a, b in rng.integers(0, NUM_HANDS, size=(60, 2)).tolist():
        blocked = {*slow.cards_of(a), *slow.cards_of(b)} & set(RIVER)
        expected = 0 if blocked else 3 * (slow.wins_of(a, b, RIVER) > 0)
        assert wins[a, b] == expected


@pytest.mark.slow
def test_win_counts_do_not_depend_on_suits() -> None:
    """A few boards without a flush draw are enough: they are unchanged by all relabellings."""
    boards = np.array([parse_cards(text) for text in ("2c3d4h9sKc", "AcAdAhKsKc")], dtype=np.uint8)
    counts = count_preflop_wins(boards, np.array([24, 12]))
    assert (counts == -counts.T).all()
    assert abs(counts).max() <= NUM_BOARDS
    suited = [parse_cards(text) for text in ("QcJc", "QdJd", "QhJh", "QsJs")]
    rows = {int(counts[hand_of(cards)].sum()) for cards in suited}
    assert len(rows) == 1


def hand_of(cards: tuple[int, ...]) -> int:
    low, high = sorted(cards)
    return high * (high - 1) // 2 + low


@pytest.mark.kernel
@pytest.mark.parametrize("board", [FLOP, TURN])
def test_value_estimates_match_the_reference(board: tuple[int, ...]) -> None:
    (first, one), (second, two) = some_belief(4, board, 6), some_belief(5, board, 6)
    tables, (place, values, mean) = some_tables(), some_place()

    def buckets(cards: tuple[int, ...]) -> dict[int, int]:
        out = np.empty(NUM_HANDS, dtype=np.uint16)
        fill_board_buckets(tables, board_array(cards), out)
        return dict(enumerate(out.tolist()))

    expected = slow.added(one, two, board, buckets(board), values, mean)
    assert guess_on_board(tables, board_array(board), first, second, place) == pytest.approx(
        expected, rel=1e-6
    )
    total = weight = 0.0
    for card in set(range(52)) - set(board):
        after = (*board, card)
        left = slow.mass(one, two, after)
        if left:
            total += left * slow.added(one, two, after, buckets(after), values, mean)
            weight += left
    assert mean_over_cards(tables, board_array(board), first, second, place) == pytest.approx(total / weight)


@pytest.mark.kernel
def test_means_over_flops_match_the_reference() -> None:
    (first, one), (second, two) = some_belief(4, (), 6), some_belief(5, (), 6)
    tables, (place, values, mean) = some_tables(), some_place()
    flops = np.array([FLOP, parse_cards("2c2d2h"), parse_cards("AsKs3d")], dtype=np.uint8)
    times = np.array([1, 4, 2])
    out = np.empty(NUM_HANDS, dtype=np.uint16)
    total = weight = 0.0
    for flop, count in zip(flops, times.tolist(), strict=True):
        fill_board_buckets(tables, flop, out)
        board = tuple(flop.tolist())
        left = count * slow.mass(one, two, board)
        total += left * slow.added(one, two, board, dict(enumerate(out.tolist())), values, mean)
        weight += left
    assert mean_over_flops(tables, flops, times, first, second, place) == pytest.approx(total / weight)


@pytest.mark.kernel
def test_river_walks_match_the_reference() -> None:
    (first, one), (second, two) = some_belief(11, TURN, 4), some_belief(12, TURN, 4)
    tree = build_hand_tree(HUNL, parse_menu_book("preflop: -; flop: -; turn: -; river: 100% | a"))
    game = make_training_game(tree, (169, 8, 8, 8), 100.0)
    rng = np.random.default_rng(6)
    strategy = np.zeros(game.table_size, dtype=np.uint8)
    betting, tables = game.betting, some_tables()
    for n in range(len(betting.base)):
        count, at, buckets = int(betting.num_actions[n]), int(betting.base[n]), int(game.node_buckets[n])
        rows = rng.multinomial(255, rng.dirichlet(np.full(count, 0.6)), size=buckets).T
        strategy[at : at + rows.size] = rows.reshape(-1)
    root = int(np.flatnonzero(betting.column % 4 == 3)[0])
    profile = Profile(betting, strategy, 8)
    walk = RiverWalk(np.zeros((12, 2, NUM_LIVE_HANDS)), np.zeros((12, 2), dtype=np.int64))
    out = np.empty(NUM_HANDS, dtype=np.uint16)

    def chances(n: int, hand: int) -> list[float]:
        at, count = int(betting.base[n]), int(betting.num_actions[n])
        rows = strategy[at : at + 8 * count].reshape(count, 8)
        return [float(p) / 255 for p in rows[:, out[hand]]]

    total = weight = 0.0
    for card in set(range(52)) - set(TURN):
        board = (*TURN, card)
        fill_board_buckets(tables, board_array(board), out)
        left = slow.mass(one, two, board)
        if left:
            value = slow.river_value(game, chances, root, one, two, board)
            total += left * value
            weight += left
            if board == RIVER:
                river = new_river()
                fill_river_order(board_array(RIVER), river)
                fill_river_buckets(tables, board_array(RIVER), river)
                mass, found = walk_river(profile, root, river, first, second, walk)
                assert mass == pytest.approx(left)
                assert found / mass == pytest.approx(value)
    mean = mean_over_rivers(profile, root, tables, board_array(TURN), first, second, walk)
    assert mean == pytest.approx(total / weight)


def test_flop_wins_match_pairwise_results() -> None:
    flop = tuple(parse_cards("7h8hTs"))
    texts = ("AsAh", "KdKc", "9h6h", "2c3d", "As2c")
    hands = np.array([parse_hand(text) for text in texts], dtype=np.int64)
    wins = flop_wins(flop, hands)
    for i, first in enumerate(texts):
        for j, second in enumerate(texts):
            one, two = tuple(parse_cards(first)), tuple(parse_cards(second))
            expected = 0.0 if set(one) & set(two) else pair_wins(one, two, flop)
            assert wins[i, j] == pytest.approx(expected, abs=1e-6)


def test_flop_tables_remember_two_flops() -> None:
    hands = np.array([parse_hand("AsAh"), parse_hand("KdKc")], dtype=np.int64)
    tables = FlopTables()
    first, second, third = (tuple(parse_cards(text)) for text in ("7h8hTs", "2c3d4h", "QcQdQh"))
    tables.wins(first, hands)
    tables.wins(second, hands)
    assert tables.wins(first, hands) is tables.wins(first, hands)
    tables.wins(third, hands)
    assert [tables.has(flop, hands) for flop in (first, second, third)] == [True, False, True]
    assert not tables.has(first, hands[:1])
    assert not FlopTables().has(first, hands)
