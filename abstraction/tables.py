"""Whole-board tables for training: the bucket of every hand on every canonical board.

1. One .npy file per round, uint16[canonical boards, 1326], 65535 for blocked hands: 4.7, 44 and 357 MB. They
   are in a folder named by the abstraction's digest and are mapped into memory, so processes share them.
2. A file is written in steps under a temporary name, with a note beside it that counts the finished rows. If
   the process is killed, building resumes from there. The file is renamed when complete, so files under the
   final name are always complete.
3. The tables pay off for training and long matches. To play a hand, `CardAbstraction.buckets` computes the
   buckets of the board.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rich.progress import Progress

from abstraction.buckets import BLOCKED, CardAbstraction, fill_river_buckets, fill_tail_buckets
from abstraction.errors import AbstractionError
from abstraction.features import BOARDS_PER_CHUNK, ROUND_NAMES
from abstraction.isomorphism import (
    HAND_UNDER,
    LOCATION_BITS,
    board_index,
    board_locations,
    canonical_boards,
)
from abstraction.nearest import Centroids
from abstraction.threads import run_chunks
from game.cards import Cards
from game.hands import HAND_CLASS, NUM_HANDS
from numeric.arrays import U8, U16, U32
from numeric.folders import cached
from numeric.jit import kernel

_CHUNKS_PER_STEP = 16  # between two notes of how far a file has come
_RELABELLING_MASK = np.uint32((1 << LOCATION_BITS) - 1)


class BucketTables(NamedTuple):
    """Buckets of all hands on all boards, as one argument for kernels."""

    flop: U16  # [1755, 1326] by row of the canonical board
    turn: U16  # [16432, 1326]
    river: U16  # [134459, 1326]
    flop_locations: U32  # [22100] by board index: row << LOCATION_BITS | relabelling
    turn_locations: U32  # [270725]
    river_locations: U32  # [2598960]


def table_folder(abstraction: CardAbstraction) -> Path:
    """The default folder for the tables of an abstraction."""
    return cached("buckets", abstraction.digest)


def open_tables(
    abstraction: CardAbstraction, folder: Path | None = None, progress: Progress | None = None
) -> BucketTables:
    """Map the tables of an abstraction; blocks while it builds what is missing (a minute on two cores)."""
    home = folder or table_folder(abstraction)
    paths = {num_cards: home / f"{name}.npy" for num_cards, name in ROUND_NAMES.items()}
    for num_cards, path in paths.items():
        if not path.exists():
            build_table(path, abstraction, canonical_boards(num_cards), progress)
    flop, turn, river = (_open(path, len(canonical_boards(n))) for n, path in paths.items())
    return BucketTables(flop, turn, river, board_locations(3), board_locations(4), board_locations(5))


def tables_are_built(abstraction: CardAbstraction, folder: Path | None = None) -> bool:
    """Whether the tables exist, so that `open_tables` does not have to build them."""
    home = folder or table_folder(abstraction)
    return all((home / f"{name}.npy").exists() for name in ROUND_NAMES.values())


def board_buckets(tables: BucketTables, board: Cards) -> U16:
    """uint16[1326]: the same as `CardAbstraction.buckets`, looked up in microseconds."""
    if not board:
        return HAND_CLASS.astype(np.uint16)
    by_size = {3: tables.flop, 4: tables.turn, 5: tables.river}
    locations = {3: tables.flop_locations, 4: tables.turn_locations, 5: tables.river_locations}
    location = int(locate_board(np.array(board, dtype=np.uint8), locations[len(board)]))
    row = by_size[len(board)][location >> LOCATION_BITS]
    buckets: U16 = row[HAND_UNDER[location & int(_RELABELLING_MASK)]]
    return buckets


def build_table(
    path: Path, abstraction: CardAbstraction, boards: U8, progress: Progress | None = None
) -> None:
    """Write uint16[boards, 1326] to a new .npy file, on all cores; resumes where a killed run stopped.

    If another process is building the same file, waits for it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished, note = path.with_suffix(".unfinished.npy"), path.with_suffix(".rows")
    with _exclusive(path.with_suffix(".lock")):
        if not path.exists():
            _fill_file(unfinished, note, abstraction, boards, progress)
            unfinished.rename(path)
            note.unlink()


def _fill_file(
    path: Path, note: Path, abstraction: CardAbstraction, boards: U8, progress: Progress | None
) -> None:
    done = int(note.read_text(encoding="ascii")) if note.exists() and path.exists() else 0
    if not done:
        note.unlink(missing_ok=True)  # a note left by a deleted file must not count for this one
    shape = (len(boards), NUM_HANDS)
    table = np.lib.format.open_memmap(path, mode="r+" if done else "w+", dtype=np.uint16, shape=shape)
    _take_room(path)
    name, chunk = ROUND_NAMES[boards.shape[1]], BOARDS_PER_CHUNK[boards.shape[1]]
    task = progress.add_task(f"{name} table", total=len(boards), completed=done) if progress else None
    class_of_hand, centroids = abstraction.search_inputs(boards.shape[1])

    def work(first: int, last: int) -> None:
        rows = slice(done + first, done + last)
        _fill_rows(boards[rows], class_of_hand, centroids, table[rows])

    while done < len(boards):
        step = min(chunk * _CHUNKS_PER_STEP, len(boards) - done)
        run_chunks(work, step, chunk)
        done += step
        table.flush()
        _write_whole(note, str(done))
        if progress and task is not None:
            progress.update(task, completed=done)


@kernel
def _fill_rows(boards: U8, class_of_hand: U8, centroids: Centroids, table: U16) -> None:
    for n in range(boards.shape[0]):
        for hand in range(NUM_HANDS):
            table[n, hand] = BLOCKED
        if boards.shape[1] == 5:
            fill_river_buckets(boards[n], class_of_hand, centroids, table[n])
        else:
            fill_tail_buckets(boards[n], centroids, table[n])


@kernel
def locate_board(board: U8, locations: U32) -> np.uint32:
    """The location of a board in its table; `locations` is for this board size, cards are in any order."""
    location: np.uint32 = locations[board_index(board)]
    return location


@kernel
def table_bucket(table: U16, location: np.uint32, hand: int) -> np.uint16:
    """The bucket of a hand on the board at `location`."""
    relabelled = HAND_UNDER[location & _RELABELLING_MASK, hand]
    bucket: np.uint16 = table[location >> np.uint32(LOCATION_BITS), relabelled]
    return bucket


@kernel
def fill_deal_buckets(tables: BucketTables, board: U8, hands: npt.NDArray[np.int64], buckets: U16) -> None:
    """Buckets of hands in all rounds of one deal.

    board    uint8[5]      in: in the order dealt, flop first
    hands    int64[P]      in: not blocked by the board
    buckets  uint16[P, 4]  out: pre-flop, flop, turn, river
    """
    flop = locate_board(board[:3], tables.flop_locations)
    turn = locate_board(board[:4], tables.turn_locations)
    river = locate_board(board, tables.river_locations)
    for p in range(hands.shape[0]):
        buckets[p, 0] = HAND_CLASS[hands[p]]
        buckets[p, 1] = table_bucket(tables.flop, flop, hands[p])
        buckets[p, 2] = table_bucket(tables.turn, turn, hands[p])
        buckets[p, 3] = table_bucket(tables.river, river, hands[p])


def _open(path: Path, num_rows: int) -> U16:
    try:
        table = np.load(path, mmap_mode="r")
    except (ValueError, EOFError):
        table = np.empty(0)
    if table.shape != (num_rows, NUM_HANDS) or table.dtype != np.uint16:
        raise AbstractionError(f"{path} is damaged: delete it, and it will be built again")
    return np.asarray(table)


def _take_room(path: Path) -> None:
    """Allocate all blocks of a file: writing to a mapped file on a full disk would kill the process."""
    size = path.stat().st_size
    try:
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):
            return  # the file system cannot allocate in advance
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        path.unlink()  # it may have used up the free space
        free = shutil.disk_usage(path.parent).free
        raise AbstractionError(
            f"no room for a bucket table: {size:,} bytes are needed in {path.parent}, {free:,} are free:"
            " delete other files there"
        ) from None


def _write_whole(path: Path, text: str) -> None:
    """Replace a small file atomically: a reader sees the old text or the new."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="ascii")
    new.replace(path)


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
