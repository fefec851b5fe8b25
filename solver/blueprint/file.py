"""The blueprint: one memory-mapped file with the strategy of every bucket at every betting node.

1. The tables are `strategy` (uint8), the arrays of the betting tree (`tree.*`) and the centroids of the card
   abstraction (`cards.*`). Nothing has to be built or trained to open a blueprint: it takes milliseconds, and
   processes share the memory.
2. `strategy` is [node][action][bucket] over decision nodes in the tree's order, with one byte per
   probability, in 255ths. The actions of an infoset add up to exactly 255.
3. The header's record names the game, the menus and the provenance of the blueprint.
4. The file may be stored packed (`.xz`, from the standard library: a third smaller than zlib, and one
   dependency less than zstandard). Since probabilities add up, those of every node's first action are stored
   as zeros, which alone saves two fifths. A packed file is unpacked once, into Fathom's cache.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np

from abstraction.buckets import CardAbstraction
from game.definition import GameDefinition, definition_text, parse_definition
from numeric.arrays import F32, I64, U8
from numeric.folders import cached, writable_cache
from numeric.table_file import FileKind, map_file, partial_path, read_header, write_tables
from solver.blueprint.abstract_game import TrainingGame, make_training_game
from solver.blueprint.kernels import quantise_strategies
from solver.blueprint.provenance import Provenance, parse_provenance
from solver.blueprint.thinning import Thinning, make_thinning
from solver.games.tree import DECISION, Tree

FULL = 255
"""The byte of probability 1."""

_XZ_MAGIC = b"\xfd7zXZ\0"
_CHUNK = 1 << 20
# Bytes carry meaning by themselves here, not by their position or the high bits of the previous byte.
_XZ_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "pb": 0}]
_TREE_ARRAYS = tuple(field.name for field in fields(Tree) if field.name != "round_rows")


class BlueprintError(ValueError):
    """The file is not a blueprint, is incomplete, or has a version that this program does not read."""


KIND = FileKind(b"FATHOMB\n", 1, "blueprint", BlueprintError)
_PACKED_KIND = FileKind(b"FATHOMP\n", 1, "packed blueprint", BlueprintError)

Tick = Callable[[int, int], None]
"""Called with bytes done and bytes in total."""


@dataclass(frozen=True, eq=False)
class Blueprint:
    """An open blueprint. Open with `open_blueprint`."""

    path: Path
    definition: GameDefinition
    menus: str
    num_buckets: tuple[int, ...]
    tree: Tree
    provenance: Provenance
    base: I64
    """int64[nodes]: where a decision node's bytes start, by node number; -1 for other nodes."""
    bytes: U8
    arrays: Mapping[str, Any]
    training: Mapping[str, Any] | None
    """Record of the training, if the file carries what resuming needs: see `training.carried_training`."""

    @cached_property
    def cards(self) -> CardAbstraction:
        """The card abstraction: buckets of hands on boards."""
        names = [name for name in self.arrays if name.startswith("cards.")]
        return CardAbstraction.from_arrays({name.removeprefix("cards."): self.arrays[name] for name in names})

    @cached_property
    def identity(self) -> str:
        """Twelve hex digits that identify the content: a hash of the header, which has all checksums."""
        header = json.dumps(read_header(self.path, KIND), sort_keys=True)
        return hashlib.sha256(header.encode()).hexdigest()[:12]

    @cached_property
    def training_game(self) -> TrainingGame:
        """The game that this is a strategy of, in the trainer's layout."""
        return make_training_game(self.tree, self.num_buckets, float(self.definition.big_blind))

    @cached_property
    def thinning(self) -> Thinning:
        """The part of the betting tree that learned leaves keep."""
        return make_thinning(self.tree, self.definition)

    def rows(self, node: int) -> U8:
        """uint8[A, K]: probabilities of a decision node's actions by bucket, in 255ths. A view."""
        start = int(self.base[node])
        if start < 0:
            raise BlueprintError(f"node {node} is not a decision node")
        first, last = int(self.tree.first_child[node]), int(self.tree.first_child[node + 1])
        num_buckets = self.num_buckets[int(self.tree.round[node])]
        return self.bytes[start : start + (last - first) * num_buckets].reshape(-1, num_buckets)

    def strategy(self, node: int, bucket: int) -> F32:
        """float32[A]: probabilities of a decision node's actions for one bucket."""
        return np.asarray(self.rows(node)[:, bucket] / np.float32(FULL), dtype=np.float32)

    def table(self) -> F32:
        """`float32[node][bucket][action]`: all probabilities in the trainer's layout. A copy."""
        nodes = np.flatnonzero(self.tree.kind == DECISION)
        parts = [self.rows(int(node)).T.reshape(-1) for node in nodes]
        return np.concatenate(parts).astype(np.float32) / np.float32(FULL)


def quantise(game: TrainingGame, strategy: F32) -> U8:
    """Convert strategies float32[node][bucket][action] to a blueprint's uint8[node][action][bucket]."""
    quantised = np.empty(game.table_size, dtype=np.uint8)
    quantise_strategies(game.betting, game.node_buckets, strategy, quantised)
    return quantised


def write_blueprint(
    path: Path,
    definition: GameDefinition,
    menus: str,
    game: TrainingGame,
    strategy: U8,
    cards: Mapping[str, Any],
    provenance: Provenance,
) -> int:
    """Write a blueprint with strategies from `quantise`; return the file's size."""
    tables = {f"tree.{name}": getattr(game.tree, name) for name in _TREE_ARRAYS}
    tables |= {f"cards.{name}": array for name, array in cards.items()}
    tables["strategy"] = strategy
    record = {
        "game": definition_text(definition),
        "menus": menus,
        "buckets": list(game.num_buckets),
        "round_rows": list(game.tree.round_rows),
        "provenance": provenance.record(),
    }
    return write_tables(path, KIND, record, tables)


def add_tables(
    source: Path, target: Path, tables: Mapping[str, Any], more: Mapping[str, object] | None = None
) -> int:
    """Copy a blueprint, adding tables or replacing those of the same names; return the file's size.

    more  entries for the header's record
    """
    header, kept = map_file(source, KIND, verify=True)
    record = {name: value for name, value in header.items() if name != "tables"}
    return write_tables(target, KIND, {**record, **(more or {})}, {**kept, **tables})


def open_blueprint(path: Path, verify: bool = False, tick: Tick | None = None) -> Blueprint:
    """Open a blueprint, unpacking it first if it is packed and not in the cache yet.

    verify  check all checksums, including the packed file's, which reads all of it. Without it, only those of
            the tree and the cards are checked, because kernels follow their offsets
    """
    path = unpack(path, tick, again=verify)
    header, tables = map_file(path, KIND, verify, vital=("tree.", "cards."))
    try:
        arrays = {name: tables[f"tree.{name}"] for name in _TREE_ARRAYS}
        tree = Tree(**arrays, round_rows=tuple(header["round_rows"]))
        num_buckets = tuple(header["buckets"])
        blueprint = Blueprint(
            path,
            parse_definition(header["game"]),
            header["menus"],
            num_buckets,
            tree,
            parse_provenance(header["provenance"]),
            _bases(tree, num_buckets),
            tables["strategy"],
            tables,
            header.get("training"),
        )
    except (KeyError, TypeError) as error:
        raise BlueprintError(f"{path} lacks an entry that every blueprint has: {error}") from None
    needed = sum(rows * count for rows, count in zip(tree.round_rows, num_buckets, strict=True))
    if needed != len(blueprint.bytes):
        raise BlueprintError(f"{path} has {len(blueprint.bytes)} probabilities, but its tree needs {needed}")
    return blueprint


def verify_blueprint(path: Path, tick: Tick | None = None) -> Blueprint:
    """Verify all checksums, and that the probabilities of every infoset add up to 1."""
    blueprint = open_blueprint(path, verify=True, tick=tick)
    for node in np.flatnonzero(blueprint.tree.kind == DECISION):
        if (blueprint.rows(int(node)).sum(axis=0, dtype=np.int64) != FULL).any():
            raise BlueprintError(f"{path}: probabilities at node {node} do not add up to 1")
    if blueprint.cards.num_buckets != blueprint.num_buckets:
        raise BlueprintError(
            f"{path} has {blueprint.cards.num_buckets} centroids for {blueprint.num_buckets} buckets"
        )
    return blueprint


def pack(path: Path, packed: Path, tick: Tick | None = None) -> int:
    """Compress a blueprint; return the new size. An existing file stays until the new one is complete."""
    map_file(path, KIND, verify=True)
    if packed.exists() and packed.samefile(path):
        raise BlueprintError(f"{packed} is the blueprint itself: choose another name for the packed file")
    image = np.memmap(path, mode="c")  # copied where it is changed
    _change_first_actions(path, image, KIND, _PACKED_KIND)
    compressor = lzma.LZMACompressor(check=lzma.CHECK_SHA256, filters=_XZ_FILTERS)
    partial = partial_path(packed)
    try:
        with partial.open("wb") as writer:
            for start in range(0, len(image), _CHUNK):
                writer.write(compressor.compress(image[start : start + _CHUNK].tobytes()))
                if tick is not None:
                    tick(min(start + _CHUNK, len(image)), len(image))
            writer.write(compressor.flush())
            _sync(writer)
            size = writer.tell()
        partial.replace(packed)
    finally:
        partial.unlink(missing_ok=True)
    return size


def unpack(path: Path, tick: Tick | None = None, cache: Path | None = None, again: bool = False) -> Path:
    """The mappable file of a blueprint: the file itself, or the unpacked copy, made once.

    cache  folder for the unpacked file, instead of Fathom's cache
    again  unpack even if there is a copy: the tail that names the copy may be intact in a damaged file
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(len(_XZ_MAGIC)) != _XZ_MAGIC:
            return path
        # The tail of an .xz file holds the SHA-256 of the unpacked data, so it identifies the content.
        file.seek(max(0, size - 4096))
        digest = hashlib.sha256(file.read() + str(size).encode()).hexdigest()[:16]
    name = f"{path.name.split('.')[0]}-{digest}.blueprint"
    unpacked = cached("blueprints", name) if cache is None else cache / name
    if unpacked.exists() and not again:
        return unpacked
    unpacked = (cache or writable_cache() / "blueprints") / name
    try:
        unpacked.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BlueprintError(
            f"cannot unpack {path} to {unpacked.parent} ({error.strerror}): "
            "set XDG_CACHE_HOME to a folder that can be written"
        ) from None
    decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
    partial = partial_path(unpacked)
    try:
        with path.open("rb") as reader, partial.open("wb") as writer:
            while chunk := reader.read(_CHUNK):
                writer.write(decompressor.decompress(chunk))
                if tick is not None:
                    tick(reader.tell(), size)
            if not decompressor.eof:
                raise BlueprintError(f"{path} is cut off: it ends in the middle of the compressed data")
            if decompressor.unused_data:
                raise BlueprintError(f"{path} is damaged: something follows the compressed data")
        image = np.memmap(partial, mode="r+")
        if image[: len(_PACKED_KIND.magic)].tobytes() != _PACKED_KIND.magic:
            raise BlueprintError(f"{path} is compressed, but not a blueprint")
        try:
            _change_first_actions(partial, image, _PACKED_KIND, KIND)
        except BlueprintError as error:  # it names the partial file, which the user has never seen
            raise BlueprintError(str(error).replace(str(partial), str(path))) from None
        except KeyError as error:
            raise BlueprintError(f"{path} lacks an entry that every blueprint has: {error}") from None
        image.flush()
        partial.replace(unpacked)
    except (lzma.LZMAError, EOFError) as error:
        raise BlueprintError(f"{path} is damaged: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
    return unpacked


def _change_first_actions(path: Path, image: U8, before: FileKind, after: FileKind) -> None:
    """Turn a file's image into its packed form, or back.

    Both directions are the same operation: the first action's byte becomes 255 minus the sum of all bytes,
    including itself. That gives 0 if the byte was there, and the byte if it was 0.
    """
    header, tables = map_file(path, before, verify=False, vital=("tree.",))
    tree = Tree(**{name: tables[f"tree.{name}"] for name in _TREE_ARRAYS}, round_rows=())
    counts, offset = np.diff(tree.first_child), int(header["tables"]["strategy"]["offset"])
    base = _bases(tree, tuple(header["buckets"])) + offset
    for node in np.flatnonzero(tree.kind == DECISION):
        num_buckets = header["buckets"][tree.round[node]]
        rows = image[base[node] : base[node] + counts[node] * num_buckets].reshape(-1, num_buckets)
        rows[0] = FULL - rows.sum(axis=0, dtype=np.uint8)
    image[: len(after.magic)] = np.frombuffer(after.magic, dtype=np.uint8)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _bases(tree: Tree, num_buckets: tuple[int, ...]) -> I64:
    decisions = tree.kind == DECISION
    counts = np.where(decisions, np.diff(tree.first_child), 0).astype(np.int64)
    sizes = counts * np.array(num_buckets, dtype=np.int64)[tree.round]
    starts = np.cumsum(sizes) - sizes
    return np.where(decisions, starts, -1)
