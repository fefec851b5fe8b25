"""Files with named arrays and a JSON record, which are memory-mapped.

    offset 0   8 bytes   magic of the kind of file
           8   uint32    version; 12  uint32  length of the header; both little-endian
          16   32 bytes  SHA-256 of the header
          48   header    JSON, UTF-8: the record, and dtype, shape, offset and CRC-32 of each table
               tables    little-endian, each at a multiple of 64 bytes: aligned once mapped

A file is written under a temporary name, synced to disk and then renamed, so that readers find the old file
or the new one, complete. Changes to mapped arrays never reach the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[Any]
Header = dict[str, Any]

_START = struct.Struct("<8sII32s")
_ALIGNMENT = 64
_CRC_BYTES = 1 << 24
_MAX_HEADER_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class FileKind:
    """Identifies a kind of file, and names it in error messages."""

    magic: bytes
    version: int
    name: str
    """As in "not a saved solve"."""
    error: type[ValueError]


def write_tables(
    path: Path, kind: FileKind, record: Mapping[str, object], tables: Mapping[str, Table]
) -> int:
    """Write a file; return its size. An existing file is replaced only when the new one is complete."""
    partial = partial_path(path)
    header, offsets = _make_header(record, tables)
    try:
        with partial.open("wb") as file:
            file.write(_START.pack(kind.magic, kind.version, len(header), hashlib.sha256(header).digest()))
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


def partial_path(path: Path) -> Path:
    """The temporary name of a file that is being written. Raises if its folder does not exist."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}; make it first")
    return path.with_name(f".{path.name}.{os.getpid()}.partial")


def read_header(path: Path, kind: FileKind) -> Header:
    """The verified record, with the tables' entries under "tables". Raises if the file is cut off."""
    with path.open("rb") as file:
        return _read_header(path, file, kind)


def map_file(
    path: Path, kind: FileKind, verify: bool, vital: tuple[str, ...] = ()
) -> tuple[Header, dict[str, Table]]:
    """The header, and the tables by name, all from one file, even if it is replaced meanwhile.

    verify  read all of the file and check its checksums: about a second per 2 GB
    vital   prefixes of the names of small tables that are always checked
    """
    with path.open("rb") as file:
        header = _read_header(path, file, kind)
        tables = {name: _map_table(file, entry) for name, entry in header["tables"].items()}
    for name, table in tables.items():
        if not (verify or name.startswith(vital)):
            continue
        if _checksum(table) != header["tables"][name]["crc32"]:
            raise kind.error(f"{path} is damaged: the table '{name}' does not match its checksum")
    return header, tables


def _read_header(path: Path, file: IO[bytes], kind: FileKind) -> Header:
    size, start = os.fstat(file.fileno()).st_size, file.read(_START.size)
    if start[: len(kind.magic)] != kind.magic[: len(start)] or not start:
        raise kind.error(f"{path} is not a {kind.name}")
    if len(start) < _START.size:
        raise kind.error(f"{path} is cut off: {size} bytes are less than a header")
    _, version, length, digest = _START.unpack(start)
    if version != kind.version:
        raise kind.error(f"{path} is of version {version}, this program reads version {kind.version}")
    text = file.read(min(length, _MAX_HEADER_BYTES))
    if len(text) < length:
        raise kind.error(f"{path} is cut off: {size} bytes are less than its header")
    if hashlib.sha256(text).digest() != digest:
        raise kind.error(f"{path} is damaged: its header does not match its checksum")
    header: Header = json.loads(text)
    needed = max(entry["offset"] + _num_bytes(entry) for entry in header["tables"].values())
    if size < needed:
        raise kind.error(f"{path} is cut off: it has {size} of {needed} bytes")
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

    # The header contains the offsets of what follows it: leave room for them to get longer.
    room = 16 * len(entries) + _ALIGNMENT
    begin = -(-(_START.size + len(encode(0)) + room) // _ALIGNMENT) * _ALIGNMENT
    header = encode(begin)
    return header, {name: int(entry["offset"]) for name, entry in entries.items()}


def _num_bytes(entry: Mapping[str, Any]) -> int:
    return int(prod(entry["shape"])) * np.dtype(str(entry["dtype"])).itemsize


def _map_table(file: IO[bytes], entry: Mapping[str, Any]) -> Table:
    kind, shape = np.dtype(entry["dtype"]).newbyteorder("<"), tuple(entry["shape"])
    # Copy on write: compiled code takes writable arrays. Slicing a plain view is faster than a memmap.
    return np.asarray(np.memmap(file, dtype=kind, mode="c", offset=entry["offset"], shape=shape))


def _bytes(table: Table) -> memoryview:
    return np.ascontiguousarray(table, dtype=table.dtype.newbyteorder("<")).data.cast("B")


def _checksum(table: Table) -> int:
    data, crc = _bytes(table), 0
    for start in range(0, len(data), _CRC_BYTES):
        crc = zlib.crc32(data[start : start + _CRC_BYTES], crc)
    return crc
