"""A file of a flop book: one pre-flop line solved on canonical flops; memory-mapped.

1. It starts like all table files (`numeric.table_file`), with a record and tables that say what it was made
   for. This part never changes.
2. From the next multiple of 4,096 bytes on there is a slot for every canonical flop, in the order of
   `abstraction.isomorphism.canonical_boards`: 64 bytes, of which the first eight are the *seal*, then the
   strategies uint8[rows, hands]. Rows are as in the line's tree, hands are those the flop does not block, in
   ascending order. Probabilities are in 255ths and add up to 255.
3. A slot is written and synced to disk before its seal is written: 2^32 + the CRC-32 of its strategies. A
   slot that does not match its seal does not exist. So a kill at any moment costs only the entry in progress,
   and a book has the same bytes whether it was made in one go or in several.
4. Slots that were never written take no space on most file systems (sparse files).
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from abstraction.isomorphism import LOCATION_BITS, board_index, board_locations, canonical_boards
from abstraction.menu import parse_menu_book
from game.hands import unblocked
from numeric.arrays import F32, I64, U8
from numeric.table_file import FileKind, Header, Table, map_file, write_tables
from solver.blueprint.file import FULL, Blueprint
from solver.flop_book.lines import FlopLine
from solver.games.tree import Tree, build_tree
from solver.resolving.context import Context
from solver.resolving.root import find_root

SUFFIX = ".flops"
NUM_FLOPS = 1_755
FLOP_HANDS = 1_176
"""Number of hands that a flop does not block."""

_PAGE = 4_096
_HEAD = 64
_SEAL = struct.Struct("<Q")
_SEALED = 1 << 32


class BookError(ValueError):
    """The file is not a flop book, is incomplete, or was made for something else."""


KIND = FileKind(b"FATHOMF\n", 1, "flop book", BookError)


@dataclass(frozen=True, slots=True, eq=False)
class BookFile:
    """The file of one line. Entries written by others meanwhile can be read as soon as they are sealed."""

    path: Path
    line: FlopLine
    tree: Tree
    iterations: int
    """Iterations of every entry."""
    first_slot: int
    _mapped: U8

    def entry(self, row: int) -> U8 | None:
        """uint8[rows, 1176]: strategies on a canonical flop; None if missing or damaged."""
        start = self.first_slot + row * slot_bytes(self.tree)
        (seal,) = _SEAL.unpack(self._mapped[start : start + _SEAL.size].tobytes())
        if seal < _SEALED:
            return None
        size = entry_bytes(self.tree)
        data = self._mapped[start + _HEAD : start + _HEAD + size]
        return data.reshape(-1, FLOP_HANDS) if seal == _seal(data.tobytes()) else None

    def rows_made(self) -> list[int]:
        """Canonical flops that have an entry. Reads all of them."""
        return [row for row in range(NUM_FLOPS) if self.entry(row) is not None]


def book_path(folder: Path, line: str) -> Path:
    """Path of a line's file."""
    return folder / f"{line}{SUFFIX}"


def flop_tree(line: FlopLine, menu: str) -> Tree:
    """The tree that is solved: the flop from its start to its end."""
    context = Context(line.betting.text, line.ranges, {})
    root = find_root(line.betting, tuple(canonical_boards(3)[0].tolist()), context).root
    return build_tree(root, parse_menu_book(menu), max_rounds=1)


def entry_bytes(tree: Tree) -> int:
    """Size of the strategies on one flop."""
    return tree.round_rows[0] * FLOP_HANDS


def slot_bytes(tree: Tree) -> int:
    """Size of a slot."""
    return -(-(_HEAD + entry_bytes(tree)) // _PAGE) * _PAGE


def create_book_file(folder: Path, line: FlopLine, blueprint: Blueprint, menu: str, iterations: int) -> Path:
    """Make an empty file, atomically."""
    path, tree = book_path(folder, line.text), flop_tree(line, menu)
    record = {"blueprint": blueprint.identity, "line": line.text, "menu": menu, "iterations": iterations}
    tables: dict[str, Table] = {
        "tree.action": tree.action,
        "tree.parent": tree.parent,
        "ranges": line.ranges,
        "flops": canonical_boards(3),
    }
    new = path.with_name(f".{path.name}.new")
    size = write_tables(new, KIND, record, tables)
    os.truncate(new, _first_slot(size) + NUM_FLOPS * slot_bytes(tree))
    new.replace(path)
    return path


def open_book_file(path: Path, lines: dict[str, FlopLine], blueprint: Blueprint, menu: str) -> BookFile:
    """Map a file. Raises if it was not made for this blueprint and menu.

    lines  the blueprint's lines by text
    """
    header, tables = map_file(path, KIND, verify=True)
    try:
        _verify_origin(path, header, blueprint, menu)
        line = lines[header["line"]]
        tree = flop_tree(line, menu)
        same = all(
            np.array_equal(stored, made)
            for stored, made in (
                (tables["tree.action"], tree.action),
                (tables["tree.parent"], tree.parent),
                (tables["ranges"], line.ranges),
                (tables["flops"], canonical_boards(3)),
            )
        )
        end = max(header["tables"][name]["offset"] + table.nbytes for name, table in tables.items())
        iterations = int(header["iterations"])
    except KeyError as error:
        raise BookError(f"{path} lacks an entry that every flop book has: {error}") from None
    if not same:
        raise BookError(
            f"{path} was made by a version of Fathom with other trees: remove it and make it again with"
            " `fathom blueprint flops`"
        )
    needed = _first_slot(end) + NUM_FLOPS * slot_bytes(tree)
    if path.stat().st_size != needed:
        raise BookError(f"{path} is cut off: it has {path.stat().st_size} of {needed} bytes")
    # A plain view of the map: slices are quicker than those of a memmap.
    mapped: U8 = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    return BookFile(path, line, tree, iterations, _first_slot(end), mapped)


def write_entry(file: BookFile, row: int, strategies: U8) -> None:
    """Write the strategies uint8[rows, 1176] on a canonical flop to a file and sync it to disk."""
    data = np.ascontiguousarray(strategies).tobytes()
    if len(data) != entry_bytes(file.tree):
        raise ValueError(f"an entry of {file.path} has {entry_bytes(file.tree)} bytes, got {len(data)}")
    start = file.first_slot + row * slot_bytes(file.tree)
    with file.path.open("r+b", buffering=0) as writer:
        os.pwrite(writer.fileno(), _SEAL.pack(0), start)
        os.pwrite(writer.fileno(), data, start + _HEAD)
        os.fsync(writer.fileno())
        os.pwrite(writer.fileno(), _SEAL.pack(_seal(data)), start)
        os.fsync(writer.fileno())


def quantised(rows: F32) -> U8:
    """Convert probabilities float32[A, H] to 255ths that add up to 255, by the largest remainder method."""
    exact = rows.astype(np.float64) * FULL
    whole = np.floor(exact)
    rank = np.argsort(np.argsort(whole - exact, axis=0, kind="stable"), axis=0, kind="stable")
    whole += rank < FULL - whole.sum(axis=0)
    return whole.astype(np.uint8)


def locate(board: tuple[int, ...]) -> tuple[int, int]:
    """The number of a flop's canonical flop, and the relabelling of suits that leads to it."""
    location = int(board_locations(3)[board_index(np.array(board, dtype=np.uint8))])
    return location >> LOCATION_BITS, location & ((1 << LOCATION_BITS) - 1)


def flop_hands(row: int) -> I64:
    """int64[1176]: hands that a canonical flop does not block, in ascending order."""
    return np.flatnonzero(unblocked(tuple(canonical_boards(3)[row].tolist())))


def _verify_origin(path: Path, header: Header, blueprint: Blueprint, menu: str) -> None:
    if header["blueprint"] != blueprint.identity:
        raise BookError(
            f"{path} was made for the blueprint {header['blueprint']}, this one is {blueprint.identity}: make"
            " a book for it with `fathom blueprint flops`"
        )
    if header["menu"] != menu:
        raise BookError(
            f"{path} was made with the bets {header['menu']!r}, the agent's are {menu!r}: make it again with"
            " `fathom blueprint flops`"
        )


def _first_slot(end: int) -> int:
    return -(-end // _PAGE) * _PAGE


def _seal(data: bytes) -> int:
    return _SEALED + zlib.crc32(data)
