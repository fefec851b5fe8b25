from __future__ import annotations

import pickle

import numpy as np
import pytest

from abstraction import buckets as module
from abstraction.buckets import BLOCKED, CardAbstraction
from abstraction.equity import EQUITY_UNITS, TAIL_UNITS
from abstraction.errors import AbstractionError
from abstraction.isomorphism import HAND_UNDER, RELABELLINGS
from abstraction.opponents import OPPONENT_CLASSES
from abstraction.presets import make_card_abstraction
from game.cards import Cards, parse_cards
from game.errors import CardError
from game.hands import HAND_CARDS, HAND_CLASS, hand_index, unblocked
from tests.abstraction.test_equity import outside_value
from tests.reference.card_abstraction import nearest, relabelled, river_equities, river_score, smooth_tail

# As plain Python, numpy warns when words wrap around.
pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered")]


@pytest.fixture(scope="module")
def coarse() -> CardAbstraction:
    return make_card_abstraction("32", seed=1)


def some_abstraction(num_buckets: int = 20) -> CardAbstraction:
    """Random centroids in sorted order."""
    rng = np.random.default_rng(9)
    tails = np.sort(rng.integers(0, TAIL_UNITS + 1, (num_buckets, 32)), axis=1)[:, ::-1]
    equities = np.clip(
        rng.integers(0, EQUITY_UNITS, (num_buckets, 1)) + rng.integers(-99, 99, (num_buckets, 8)), 0, 1024
    )
    arrays = {"flop": tails, "turn": tails, "river": equities}
    ordered = {name: array[np.argsort(array.sum(axis=1), kind="stable")] for name, array in arrays.items()}
    return CardAbstraction.from_arrays({"opponent_classes": OPPONENT_CLASSES, **ordered})


def check_relabelling(abstraction: CardAbstraction, board: Cards) -> None:
    """Check that every hand keeps its bucket under all relabellings of suits."""
    plain = fresh_buckets(abstraction, board)
    assert np.array_equal(plain, abstraction.buckets(board))
    for relabelling, suits in enumerate(RELABELLINGS.tolist()):
        other = tuple(relabelled(board, suits))
        moved = abstraction.buckets(other)
        assert np.array_equal(moved[HAND_UNDER[relabelling]], plain)
        if relabelling % 11 == 5:
            assert np.array_equal(fresh_buckets(abstraction, other), moved)


def fresh_buckets(abstraction: CardAbstraction, board: Cards) -> module.U16:
    """Compute buckets on the given board itself, without making it canonical."""
    found = np.full(1326, BLOCKED, dtype=np.uint16)
    class_of_hand, search = abstraction.search_inputs(len(board))
    cards = np.array(board, dtype=np.uint8)
    if len(board) == 5:
        module.fill_river_buckets(cards, class_of_hand, search, found)
    else:
        module.fill_tail_buckets(cards, search, found)
    return found


@pytest.mark.parametrize("text", ["2c7d9hKs3d", "AhKhQh2h3h", "9c9d4s4h2c"])
def test_river_buckets_do_not_depend_on_suit_names(text: str) -> None:
    check_relabelling(some_abstraction(), parse_cards(text))


@pytest.mark.slow
def test_buckets_do_not_depend_on_suit_names(coarse: CardAbstraction) -> None:
    rng = np.random.default_rng(4)
    for num_cards, count in ((3, 3), (4, 25), (5, 100)):
        for _ in range(count):
            check_relabelling(coarse, tuple(rng.permutation(52)[:num_cards].tolist()))


def test_preflop_buckets_are_the_classes() -> None:
    assert np.array_equal(some_abstraction().buckets(()), HAND_CLASS)


@pytest.mark.parametrize("text", ["2c7d9hKs3d", "AhKhQh2h"])
def test_buckets_are_the_nearest_centroids(text: str) -> None:
    abstraction, board = some_abstraction(), parse_cards(text)
    found = abstraction.buckets(board)
    assert np.array_equal(found == BLOCKED, ~unblocked(board))
    classes = OPPONENT_CLASSES[HAND_CLASS]
    for hand in (hand_index(*parse_cards("AcAd")), hand_index(*parse_cards("8d6s"))):
        low, high = HAND_CARDS[hand].tolist()
        if len(board) == 5:
            scores = [
                river_score(
                    (low, high),
                    board,
                    plays=lambda pair, k=k: classes[hand_index(*pair)] == k,
                    value=outside_value,
                )
                for k in range(8)
            ]
            point = [round(EQUITY_UNITS * score / (2 * count)) for score, count in scores]
            expected = nearest(point, abstraction.river.tolist(), power=2)
        else:
            tail = smooth_tail(river_equities((low, high), board, outside_value))
            point = [int(TAIL_UNITS * level + 0.5) for level in tail]
            expected = nearest(point, abstraction.turn.tolist(), power=1)
        assert found[hand] == expected == abstraction.bucket(board, hand)


def test_blocked_hand_has_no_bucket() -> None:
    with pytest.raises(CardError, match="shares a card"):
        some_abstraction().bucket(parse_cards("2c7d9hKs3d"), hand_index(*parse_cards("2cAs")))


def test_buckets_are_cached_and_read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHED_BOARDS", 1)
    abstraction = some_abstraction()
    first = abstraction.buckets(parse_cards("2c7d9hKs3d"))
    monkeypatch.setattr(module, "fill_river_buckets", lambda *_: pytest.fail("computed again"))
    again = abstraction.buckets(parse_cards("2s7h9dKc3h"))  # the same board, relabelled
    assert np.array_equal(np.sort(first), np.sort(again))
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0
    monkeypatch.undo()
    monkeypatch.setattr(module, "CACHED_BOARDS", 1)
    abstraction.buckets(parse_cards("2c7d9hKs4d"))
    assert len(abstraction._cache._boards) == 1


def test_round_trip_through_arrays() -> None:
    abstraction = some_abstraction()
    copy = CardAbstraction.from_arrays(abstraction.to_arrays())
    assert copy.digest == abstraction.digest != some_abstraction(21).digest
    assert copy.num_buckets == (169, 20, 20, 20)
    assert pickle.loads(pickle.dumps(abstraction)).digest == abstraction.digest


def test_invalid_arrays_are_refused() -> None:
    good = some_abstraction().to_arrays()
    for name, array, words in (
        ("flop", good["flop"][:, :31], "rows of 32"),
        ("flop", good["flop"][::-1], "sorted"),
        ("river", good["river"][:0], "0 river buckets"),
        ("river", good["river"] + 900, "0..1024"),
        ("opponent_classes", good["opponent_classes"] + 1, "below 8"),
    ):
        with pytest.raises(AbstractionError, match=words):
            CardAbstraction.from_arrays({**good, name: array})
    with pytest.raises(AbstractionError, match="needs the array 'turn'"):
        CardAbstraction.from_arrays({name: good[name] for name in ("opponent_classes", "flop", "river")})


@pytest.mark.slow
def test_the_preset_of_32_buckets(coarse: CardAbstraction) -> None:
    assert coarse.num_buckets == (169, 32, 32, 32)
    assert coarse.digest == make_card_abstraction("32", seed=1).digest
    # The nuts are in the top bucket and the worst hand is in the bottom one.
    river = parse_cards("AcKcQc2d3h")
    assert coarse.bucket(river, hand_index(*parse_cards("JcTc"))) == 31
    assert coarse.bucket(river, hand_index(*parse_cards("4s5d"))) > coarse.bucket(
        river, hand_index(*parse_cards("6s7d"))
    )
    with pytest.raises(AbstractionError, match="no card preset 'huge'"):
        make_card_abstraction("huge", seed=1)
