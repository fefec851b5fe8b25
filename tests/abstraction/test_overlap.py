from __future__ import annotations

import numpy as np
import pytest

from abstraction import overlap as module
from abstraction.buckets import BLOCKED
from abstraction.overlap import add_overlap, bucket_overlaps
from abstraction.tables import BucketTables
from game.hands import NUM_HANDS
from tests.solver.training_setups import small_cards

pytestmark = pytest.mark.kernel


def random_table(rng: np.random.Generator, rows: int, buckets: int, blocked: np.ndarray) -> np.ndarray:
    table = rng.integers(0, buckets, size=(rows, NUM_HANDS)).astype(np.uint16)
    table[blocked] = BLOCKED
    return table


def test_pairs_of_buckets_are_counted() -> None:
    rng = np.random.default_rng(4)
    blocked = rng.random((6, NUM_HANDS)) < 0.1
    one, other = random_table(rng, 6, 5, blocked), random_table(rng, 6, 9, blocked)
    counts = rng.integers(1, 24, 6)
    overlap = np.zeros((5, 9))
    add_overlap(one, other, counts, overlap)
    for k in range(5):
        for j in range(9):
            assert overlap[k, j] == (((one == k) & (other == j)) * counts[:, None]).sum()


def test_every_round_is_counted_by_its_own_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    one, other = small_cards(3), small_cards(5)
    open_ = np.zeros((4, NUM_HANDS), dtype=np.bool_)
    counts = [rng.integers(1, 24, 4) for _ in range(3)]
    nowhere = [np.zeros(0, dtype=np.uint32)] * 3
    made = {
        cards.digest: BucketTables(*[random_table(rng, 4, size, open_) for _ in range(3)], *nowhere)
        for cards, size in ((one, 3), (other, 5))
    }
    monkeypatch.setattr(module, "open_tables", lambda cards, **_: made[cards.digest])
    monkeypatch.setattr(module, "board_multiplicities", lambda num_cards: counts[num_cards - 3])
    overlaps = bucket_overlaps(one, other)
    assert np.array_equal(overlaps[0], np.eye(169))
    for round_, overlap in enumerate(overlaps[1:]):
        expected = np.zeros((3, 5))
        for row, count in enumerate(counts[round_].tolist()):
            for hand in range(NUM_HANDS):
                expected[made[one.digest][round_][row, hand], made[other.digest][round_][row, hand]] += count
        assert np.array_equal(overlap, expected)
