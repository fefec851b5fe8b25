from __future__ import annotations

import numpy as np
import pytest

from abstraction import overlap as module
from abstraction.buckets import BLOCKED
from abstraction.isomorphism import board_locations, canonical_boards
from abstraction.overlap import add_overlap, board_counts, bucket_overlaps
from abstraction.tables import BucketTables
from game.hands import NUM_HANDS
from tests.abstraction.test_buckets import some_abstraction

pytestmark = pytest.mark.kernel


def random_table(rng: np.random.Generator, rows: int, buckets: int, blocked: np.ndarray) -> np.ndarray:
    table = rng.integers(0, buckets, size=(rows, NUM_HANDS)).astype(np.uint16)
    table[blocked] = BLOCKED
    return table


def test_pairs_of_buckets_are_counted() -> None:
    rng = np.random.default_rng(4)
    blocked = rng.random((6, NUM_HANDS)) < 0.1
    one, other = random_table(rng, 6, 5, blocked), random_table(rng, 6, 9, blocked)
    counts = rng.integers(1, 24, 6).astype(np.float64)
    overlap = np.zeros((5, 9))
    add_overlap(one, other, counts, overlap)
    for k in range(5):
        for j in range(9):
            assert overlap[k, j] == (((one == k) & (other == j)) * counts[:, None]).sum()


def test_canonical_boards_stand_for_all() -> None:
    counts = board_counts(board_locations(3))
    assert len(counts) == len(canonical_boards(3))
    assert counts.sum() == 22_100
    assert set(counts.tolist()) == {4.0, 12.0, 24.0}


def test_an_abstraction_overlaps_with_itself_in_its_own_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    cards, rng = some_abstraction(), np.random.default_rng(2)
    locations = np.arange(4, dtype=np.uint32) << 5
    tables = [
        random_table(rng, 4, buckets, np.zeros((4, NUM_HANDS), dtype=np.bool_))
        for buckets in cards.num_buckets[1:]
    ]
    made = BucketTables(*tables, locations, locations, locations)
    monkeypatch.setattr(module, "open_tables", lambda *_, **__: made)
    overlaps = bucket_overlaps(cards, cards)
    assert [overlap.shape for overlap in overlaps] == [(size, size) for size in cards.num_buckets]
    for overlap, table in zip(overlaps[1:], tables, strict=True):
        assert np.array_equal(overlap, np.diag(np.bincount(table.ravel(), minlength=len(overlap))))
