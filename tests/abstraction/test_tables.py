from __future__ import annotations

import errno
import re
from pathlib import Path

import numpy as np
import pytest

from abstraction import tables as module
from abstraction.errors import AbstractionError
from abstraction.isomorphism import board_locations, canonical_boards
from abstraction.tables import (
    BucketTables,
    board_buckets,
    build_table,
    fill_deal_buckets,
    locate_board,
    table_bucket,
    tables_are_built,
)
from game.hands import HAND_CARDS, HAND_CLASS, NUM_HANDS, unblocked
from tests.abstraction.test_buckets import some_abstraction

# As plain Python, numpy warns when words wrap around.
pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered")]


def test_rows_are_the_buckets_of_the_board(tmp_path: Path) -> None:
    abstraction, rivers = some_abstraction(), np.array([[0, 5, 17, 33, 50], [1, 2, 3, 4, 8]], dtype=np.uint8)
    build_table(tmp_path / "river.npy", abstraction, rivers)
    table = np.load(tmp_path / "river.npy")
    for row, board in zip(table, rivers.tolist(), strict=True):
        assert np.array_equal(row, abstraction.buckets(tuple(board)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["river.lock", "river.npy"]


def test_a_killed_run_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    abstraction = some_abstraction()
    rivers = np.array([rng.permutation(52)[:5] for _ in range(7)], dtype=np.uint8)
    build_table(tmp_path / "whole.npy", abstraction, rivers)
    monkeypatch.setattr(module, "_CHUNKS_PER_STEP", 1)
    monkeypatch.setattr(module, "BOARDS_PER_CHUNK", {5: 2})
    done: list[int] = []

    def fill_until_killed(boards: np.ndarray, *rest: np.ndarray) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(len(boards))
        fill(boards, *rest)

    fill = module._fill_rows
    monkeypatch.setattr(module, "_fill_rows", fill_until_killed)
    path = tmp_path / "river.npy"
    with pytest.raises(KeyboardInterrupt):
        build_table(path, abstraction, rivers)
    assert not path.exists()
    done.clear()

    def fill_and_count(boards: np.ndarray, *rest: np.ndarray) -> None:
        done.append(len(boards))
        fill(boards, *rest)

    monkeypatch.setattr(module, "_fill_rows", fill_and_count)
    build_table(path, abstraction, rivers)
    assert done == [2, 1]  # four of the seven rows were kept
    assert path.read_bytes() == (tmp_path / "whole.npy").read_bytes()
    build_table(path, abstraction, rivers)
    assert done == [2, 1]


def test_a_full_disk_is_reported_before_building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(_: int, start: int, size: int) -> None:
        assert (start, size) == (0, 128 + 2 * NUM_HANDS)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", no_room)
    rivers = np.array([[0, 5, 17, 33, 50]], dtype=np.uint8)
    with pytest.raises(AbstractionError, match=rf"2,780 bytes are needed in {re.escape(str(tmp_path))}"):
        build_table(tmp_path / "river.npy", some_abstraction(), rivers)
    assert [path.name for path in tmp_path.iterdir()] == ["river.lock"]
    monkeypatch.undo()
    build_table(tmp_path / "river.npy", some_abstraction(), rivers)


def test_rows_of_a_deleted_file_are_filled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed; refused on a full disk, which deletes the file; killed in its first step; then completed."""
    abstraction = some_abstraction()
    rivers = np.array([np.random.default_rng(i).permutation(52)[:5] for i in range(5)], dtype=np.uint8)
    build_table(tmp_path / "whole.npy", abstraction, rivers)
    monkeypatch.setattr(module, "_CHUNKS_PER_STEP", 1)
    monkeypatch.setattr(module, "BOARDS_PER_CHUNK", {5: 2})
    path, fill, calls = tmp_path / "river.npy", module._fill_rows, 0

    def fill_until_killed(*arguments: np.ndarray) -> None:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise KeyboardInterrupt
        fill(*arguments)

    def no_room(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(module, "_fill_rows", fill_until_killed)
        with pytest.raises(KeyboardInterrupt):
            build_table(path, abstraction, rivers)
        with patched.context() as full:
            full.setattr("os.posix_fallocate", no_room)
            with pytest.raises(AbstractionError, match="no room"):
                build_table(path, abstraction, rivers)
        with pytest.raises(KeyboardInterrupt):
            build_table(path, abstraction, rivers)
    build_table(path, abstraction, rivers)
    assert path.read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_damaged_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.npy").write_bytes(b"")
    with pytest.raises(AbstractionError, match="delete it"):
        module._open(tmp_path / "empty.npy", 1755)
    for name in ("flop", "turn", "river"):
        (tmp_path / f"{name}.npy").write_bytes(b"not an array")
    assert tables_are_built(some_abstraction(), tmp_path)
    assert not tables_are_built(some_abstraction(), tmp_path / "elsewhere")
    with pytest.raises(AbstractionError, match="delete it"):
        module._open(tmp_path / "flop.npy", 1755)
    np.save(tmp_path / "flop.npy", np.zeros((3, NUM_HANDS), dtype=np.uint16))
    with pytest.raises(AbstractionError, match="delete it"):
        module._open(tmp_path / "flop.npy", 1755)


def test_flops_are_looked_up_in_their_table() -> None:
    """Entries encode row and hand, so that a lookup shows where it read."""
    locations, rows = board_locations(3), canonical_boards(3)
    table = np.arange(NUM_HANDS, dtype=np.uint16)[None].repeat(len(rows), axis=0)
    rng = np.random.default_rng(3)
    for _ in range(50):
        board = rng.permutation(52)[:3].astype(np.uint8)
        location = locate_board(board, locations)
        canonical = set(rows[int(location) >> 5].tolist())
        for hand in rng.choice(np.flatnonzero(unblocked(tuple(board.tolist()))), 5):
            moved = int(table_bucket(table, location, int(hand)))
            # Relative to the board, the hand is the same: same ranks, same suits in common with it.
            assert not canonical & set(cards_of(moved))
            assert HAND_CLASS[moved] == HAND_CLASS[hand]
            shared = suits_shared(cards_of(int(hand)), set(board.tolist()))
            assert suits_shared(cards_of(moved), canonical) == shared


def cards_of(hand: int) -> tuple[int, int]:
    low, high = HAND_CARDS[hand].tolist()
    return low, high


def suits_shared(hand: tuple[int, int], board: set[int]) -> list[list[int]]:
    """For each hole card, the ranks of its suit on the board."""
    return sorted(
        [[card // 4, *sorted(other // 4 for other in board if other % 4 == card % 4)] for card in hand]
    )


@pytest.mark.slow
def test_deal_buckets_agree_with_the_board() -> None:
    """Only the rows of three deals are filled, since full tables would take a minute."""
    abstraction, rng = some_abstraction(), np.random.default_rng(6)
    deals = [rng.permutation(52)[:9].astype(np.uint8) for _ in range(3)]
    filled = {}
    for num_cards in (3, 4, 5):
        locations = board_locations(num_cards)
        table = np.zeros((len(canonical_boards(num_cards)), NUM_HANDS), dtype=np.uint16)
        for deal in deals:
            row = int(locate_board(deal[:num_cards], locations)) >> 5
            table[row] = abstraction.buckets(tuple(canonical_boards(num_cards)[row].tolist()))
        filled[num_cards] = table
    tables = BucketTables(*filled.values(), *[board_locations(num_cards) for num_cards in filled])
    for deal in deals:
        board = deal[:5]
        hands = np.flatnonzero(unblocked(tuple(board.tolist())))[::100]
        out = np.empty((len(hands), 4), dtype=np.uint16)
        fill_deal_buckets(tables, board, hands, out)
        for round_, num_cards in enumerate((0, 3, 4, 5)):
            visible = tuple(board[:num_cards].tolist())
            assert np.array_equal(out[:, round_], abstraction.buckets(visible)[hands])
            assert np.array_equal(board_buckets(tables, visible), abstraction.buckets(visible))
