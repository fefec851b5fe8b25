r"""A solve in one file: the spot, the strategies and, unless left out, all that is needed to go on.

    offset 0   8 bytes   magic "FATHOMS\n"
           8   uint32    version; 12  uint32  length of the header; both little-endian
          16   32 bytes  SHA-256 of the header
          48   header    JSON, UTF-8: the spot, the solve, and dtype, shape, offset and CRC-32 of each table
               tables    little-endian, each at a multiple of 64 bytes: aligned once mapped

Tables: `ranges` float32[2, 1326], `frozen` uint8[nodes], `average` float32[...] and `regret` float32[...] as
laid out by `solver.layout`. A file without `regret` holds strategies only: half the size, nothing to resume.
Loading maps the file: memory is used for what is looked at. Changes to loaded arrays never reach the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from game.cards import cards_text, parse_cards
from solver.cfr import Solver
from solver.game import Game
from solver.layout import F32, U8
from solver.schedules import named_schedule
from solver.solution import Solution
from solver.spot import Spot
from solver.tree import BettingRoot

MAGIC = b"FATHOMS\n"
VERSION = 1

_START = struct.Struct("<8sII32s")
_ALIGNMENT = 64
_CRC_BYTES = 1 << 24
_MAX_HEADER_BYTES = 1 << 28

Table = npt.NDArray[Any]


class ArchiveError(ValueError):
    """A file that is not a solve, or not whole, or of another version; or a solve that no file can hold."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A loaded file. The tables are mapped."""

    spot: Spot
    game: Game
    iterations: int
    seconds: float
    variant: str
    horizon: int
    average: F32
    frozen: U8
    regret: F32 | None

    def solution(self) -> Solution:
        """The strategies."""
        return Solution(self.game, self.average, self.iterations)

    def solver(self, threads: int = 1) -> Solver:
        """A solver that goes on where the saved one stopped. Copies the tables into memory."""
        if self.regret is None:
            raise ArchiveError("the file holds strategies only: a solve cannot go on from it")
        solver = Solver(self.game, named_schedule(self.variant, self.horizon), threads)
        solver.regret[:] = self.regret
        solver.average[:] = self.average
        solver.frozen[:] = self.frozen
        solver.iterations = self.iterations
        return solver


def save(
    path: Path,
    spot: Spot,
    solver: Solver,
    variant: str = "default",
    horizon: int = 0,
    seconds: float = 0.0,
    strategy_only: bool = False,
) -> int:
    """Write a solve and return the file's size. An existing file stays until the new one is whole.

    solver  of the whole game: `symmetry.unmerged` if it was merged
    """
    if len(solver.game.boards.image):
        raise ArchiveError("a merged game does not fit its spot: save `unmerged(solver, spot.game())`")
    tables: dict[str, Table] = {"ranges": spot.ranges, "frozen": solver.frozen, "average": solver.average}
    if not strategy_only:
        tables["regret"] = solver.regret
    solve = {"iterations": solver.iterations, "seconds": seconds, "variant": variant, "horizon": horizon}
    header, offsets = _make_header({"spot": _spot_record(spot), "solve": solve}, tables)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(_START.pack(MAGIC, VERSION, len(header), hashlib.sha256(header).digest()))
            file.write(header)
            for name, table in tables.items():
                file.write(b"\0" * (offsets[name] - file.tell()))
                file.write(_bytes(table))
            size = file.tell()
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return size


def load(path: Path, verify: bool = True) -> Archive:
    """Open a saved solve.

    verify  read everything once and compare checksums: about a second per 2 GB
    """
    header = read_header(path)
    tables = {name: _map_table(path, entry) for name, entry in header["tables"].items()}
    if verify:
        for name, table in tables.items():
            if _checksum(table) != header["tables"][name]["crc32"]:
                raise ArchiveError(f"{path} is damaged: the table '{name}' does not fit its checksum")
    solve = header["solve"]
    spot = _read_spot(header["spot"], tables["ranges"])
    game = spot.game()
    regret = tables.get("regret")
    sizes = {table.size for name, table in tables.items() if name in ("average", "regret")}
    if sizes != {game.table_size} or len(tables["frozen"]) != game.tree.num_nodes:
        raise ArchiveError(f"{path} was written by a program that lays out tables differently")
    return Archive(
        spot,
        game,
        int(solve["iterations"]),
        float(solve["seconds"]),
        str(solve["variant"]),
        int(solve["horizon"]),
        tables["average"],
        tables["frozen"],
        regret,
    )


def read_header(path: Path) -> dict[str, Any]:
    """The header of a saved solve, verified, and that the file has the size it speaks of."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(_START.size)
        if start[: len(MAGIC)] != MAGIC[: len(start)] or not start:
            raise ArchiveError(f"{path} is not a saved solve")
        if len(start) < _START.size:
            raise ArchiveError(f"{path} is cut off: {size} bytes are less than a header")
        _, version, length, digest = _START.unpack(start)
        if version != VERSION:
            raise ArchiveError(f"{path} is of version {version}, this program reads version {VERSION}")
        text = file.read(min(length, _MAX_HEADER_BYTES))
    if len(text) < length:
        raise ArchiveError(f"{path} is cut off: {size} bytes are less than its header")
    if hashlib.sha256(text).digest() != digest:
        raise ArchiveError(f"{path} is damaged: its header does not fit its checksum")
    header: dict[str, Any] = json.loads(text)
    needed = max(entry["offset"] + _num_bytes(entry) for entry in header["tables"].values())
    if size < needed:
        raise ArchiveError(f"{path} is cut off: it has {size} of {needed} bytes")
    return header


def _make_header(record: Mapping[str, object], tables: Mapping[str, Table]) -> tuple[bytes, dict[str, int]]:
    entries: dict[str, dict[str, Any]] = {
        name: {"dtype": table.dtype.name, "shape": list(table.shape), "crc32": _checksum(table)}
        for name, table in tables.items()
    }

    def encode(begin: int) -> bytes:
        for entry in entries.values():
            entry["offset"] = begin
            begin += -(-_num_bytes(entry) // _ALIGNMENT) * _ALIGNMENT
        return json.dumps({**record, "tables": entries}).encode()

    # Offsets are part of the header they follow: leave room for them to be longer than in the first try.
    begin = -(-(_START.size + len(encode(0)) + 256) // _ALIGNMENT) * _ALIGNMENT
    header = encode(begin)
    return header, {name: int(entry["offset"]) for name, entry in entries.items()}


def _spot_record(spot: Spot) -> dict[str, object]:
    return {
        "board": cards_text(spot.board),
        "root": asdict(spot.root),
        "menu": spot.menu,
        "extra": [[list(history), list(totals)] for history, totals in spot.extra.items()],
    }


def _read_spot(record: Mapping[str, Any], ranges: F32) -> Spot:
    root = dict(record["root"])
    root["spent"] = tuple(root["spent"])
    extra = {tuple(history): tuple(totals) for history, totals in record["extra"]}
    return Spot(parse_cards(record["board"]), BettingRoot(**root), record["menu"], ranges, extra)


def _num_bytes(entry: Mapping[str, Any]) -> int:
    return int(prod(entry["shape"])) * np.dtype(str(entry["dtype"])).itemsize


def _map_table(path: Path, entry: Mapping[str, Any]) -> Table:
    kind, shape = np.dtype(entry["dtype"]).newbyteorder("<"), tuple(entry["shape"])
    # Copy on write: compiled code takes writable arrays. Slicing a plain view is faster than a memmap.
    return np.asarray(np.memmap(path, dtype=kind, mode="c", offset=entry["offset"], shape=shape))


def _bytes(table: Table) -> memoryview:
    return np.ascontiguousarray(table, dtype=table.dtype.newbyteorder("<")).data.cast("B")


def _checksum(table: Table) -> int:
    data, crc = _bytes(table), 0
    for start in range(0, len(data), _CRC_BYTES):
        crc = zlib.crc32(data[start : start + _CRC_BYTES], crc)
    return crc
