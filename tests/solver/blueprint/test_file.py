from __future__ import annotations

import lzma
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from game.definition import HUNL
from numeric.table_file import map_file, read_header, write_tables
from solver.blueprint.file import KIND, BlueprintError, open_blueprint, pack, unpack, verify_blueprint
from solver.blueprint.kernels import quantise_strategies
from solver.games.tree import DECISION
from tests.solver.training_setups import small_cards, small_run


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fathom" / "blueprints"


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, np.ndarray]:
    run = small_run(5_000)
    while not run.is_done:
        run.step()
    path = tmp_path / "tiny.blueprint"
    run.write(path)
    return path, run.trainer.average_strategy()


def test_written_strategies_are_read_back(written: tuple[Path, np.ndarray]) -> None:
    path, strategy = written
    blueprint = verify_blueprint(path)
    assert blueprint.definition == HUNL
    assert blueprint.cards.digest == small_cards().digest
    assert blueprint.provenance.preset == "tiny"
    assert blueprint.provenance.iterations == 5 * 1024
    assert blueprint.provenance.core_hours is not None
    assert blueprint.provenance.date is not None
    np.testing.assert_allclose(blueprint.table(), strategy, atol=1 / 255)
    root = blueprint.strategy(0, 12)
    assert root.sum() == pytest.approx(1.0)
    assert len(root) == len(blueprint.tree.children_of(0))
    node = blueprint.tree.find((300, 0, 0))  # raise, call, check on the flop
    assert blueprint.rows(node).shape == (2, 8)
    assert isinstance(blueprint.bytes.base, np.memmap)
    with pytest.raises(BlueprintError, match="not a decision"):
        blueprint.rows(int(np.flatnonzero(blueprint.tree.kind != DECISION)[0]))


def test_quantised_average_matches_quantising_the_average() -> None:
    run = small_run(5_000)
    while not run.is_done:
        run.step()
    trainer = run.trainer
    game, strategy = trainer.game, trainer.average_strategy()
    expected = np.empty(game.table_size, dtype=np.uint8)
    quantise_strategies(game.betting, game.node_buckets, strategy, expected)
    assert (trainer.sums == 0).any()
    quantised = trainer.quantised_average()
    compared = 0
    for base, actions, buckets in zip(
        game.betting.base, game.betting.num_actions, game.node_buckets, strict=True
    ):
        part = slice(base, base + actions * buckets)
        compared += actions * buckets
        exact = 255 * strategy[part].astype(float).reshape(buckets, actions).T
        rows, wanted = (table[part].astype(int).reshape(actions, buckets) for table in (quantised, expected))
        assert (rows.sum(axis=0) == 255).all()
        # Two kernels compute the averages, whose last bits may differ (255 · eps = 0.00003 each). They decide
        # which of two equal remainders is rounded up; both results are equally near to the average.
        off, least = (np.abs(table - exact).sum(axis=0) for table in (rows, wanted))
        np.testing.assert_allclose(off, least, rtol=0, atol=1e-3)
    assert compared == game.table_size


def test_packed_files_are_unpacked_once(written: tuple[Path, np.ndarray], cache: Path) -> None:
    path, _ = written
    packed = path.with_name("tiny.blueprint.xz")
    steps: list[tuple[int, int]] = []
    size = pack(path, packed, lambda done, total: steps.append((done, total)))
    assert size == packed.stat().st_size < 0.9 * len(lzma.compress(path.read_bytes()))
    assert steps[-1][0] == steps[-1][1]
    first = open_blueprint(packed)
    assert first.path.parent == cache
    assert first.path.read_bytes() == path.read_bytes()
    steps.clear()
    assert unpack(packed, lambda done, total: steps.append((done, total))) == first.path
    assert not steps
    assert len(list(cache.iterdir())) == 1


def test_read_only_cache_falls_back_to_a_writable_folder(
    written: tuple[Path, np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = written
    packed = path.with_name("tiny.blueprint.xz")
    pack(path, packed)
    monkeypatch.setattr("numeric.folders.os.access", lambda *_: False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    unpacked = open_blueprint(packed).path
    assert unpacked.parent == tmp_path / "data" / "fathom" / "cache" / "blueprints"
    assert unpack(packed) == unpacked
    monkeypatch.setenv("XDG_DATA_HOME", str(path / "below a file"))
    with pytest.raises(BlueprintError, match="set XDG_CACHE_HOME"):
        open_blueprint(packed)


def test_verifying_reads_the_packed_file_itself(written: tuple[Path, np.ndarray], cache: Path) -> None:
    """The unpacked copy in the cache may be intact while the packed file is damaged."""
    path, _ = written
    packed = path.with_name("tiny.xz")
    pack(path, packed)
    unpacked = verify_blueprint(packed).path
    content = bytearray(packed.read_bytes())
    assert len(content) > 6000  # the file is recognised by its tail
    content[1000] ^= 1
    packed.write_bytes(content)
    assert unpack(packed) == unpacked
    with pytest.raises(BlueprintError, match="damaged"):
        verify_blueprint(packed)
    assert [file.read_bytes() for file in cache.iterdir()] == [path.read_bytes()]


def test_bad_files_are_refused_with_the_reason(written: tuple[Path, np.ndarray], cache: Path) -> None:
    path, _ = written
    whole = path.read_bytes()
    packed = path.with_name("tiny.xz")
    pack(path, packed)
    compressed, image = packed.read_bytes(), lzma.decompress(packed.read_bytes())
    header = read_header(path, KIND)
    at = header["tables"]["strategy"]["offset"]
    cases = [
        (b"", "not a blueprint"),
        (b"FATHOMS\n" + whole[8:], "not a blueprint"),
        (whole[:20], "cut off"),
        (whole[:200], "cut off"),
        (whole[:-64], "cut off"),
        (whole[:8] + struct.pack("<I", 9) + whole[12:], "version 9"),
        (whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], "damaged"),
        (whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], "damaged"),
        (compressed[:-30], "cut off|damaged"),
        (compressed[:5000] + bytes([compressed[5000] ^ 1]) + compressed[5001:], "damaged"),
        (compressed + b"more", "damaged"),
        (lzma.compress(whole), "compressed, but not a blueprint"),
        (lzma.compress(image[:8] + struct.pack("<I", 9) + image[12:]), "version 9"),
    ]
    for content, reason in cases:
        bad = path.with_name("bad.blueprint")
        bad.write_bytes(content)
        with pytest.raises(BlueprintError, match=f"^{re.escape(str(bad))} .*({reason})"):
            verify_blueprint(bad)
    assert not cache.exists() or not list(cache.iterdir())


def test_tree_and_cards_are_always_verified(written: tuple[Path, np.ndarray]) -> None:
    path, _ = written
    whole, entries = path.read_bytes(), read_header(path, KIND)["tables"]
    for name in ("tree.first_child", "cards.flop", "strategy"):
        at = entries[name]["offset"]
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        if name != "strategy":
            with pytest.raises(BlueprintError, match=f"damaged: the table '{name}'"):
                open_blueprint(path)
        with pytest.raises(BlueprintError, match=f"damaged: the table '{name}'"):
            pack(path, path.with_suffix(".xz"))


def test_inconsistent_contents_are_refused(written: tuple[Path, np.ndarray]) -> None:
    path, _ = written
    header, tables = map_file(path, KIND, verify=False)
    record = {name: value for name, value in header.items() if name != "tables"}
    tables["strategy"][0] ^= 7
    write_tables(path, KIND, record, tables)
    with pytest.raises(BlueprintError, match="add up"):
        verify_blueprint(path)
    write_tables(path, KIND, record, {**tables, "strategy": tables["strategy"][:-1]})
    with pytest.raises(BlueprintError, match="probabilities, but its tree needs"):
        open_blueprint(path)
    del record["menus"]
    write_tables(path, KIND, record, tables)
    with pytest.raises(BlueprintError, match="lacks an entry"):
        open_blueprint(path)


@pytest.mark.kernel
def test_quantised_bytes_are_nearest_and_add_up() -> None:
    game = small_run(1_024).trainer.game
    rng = np.random.default_rng(2)
    counts = np.repeat(game.betting.num_actions, game.node_buckets)
    rows = [rng.dirichlet(np.full(count, 0.3)) for count in counts]
    rows[0] = np.eye(counts[0])[0]
    out = np.empty(game.table_size, dtype=np.uint8)
    quantise_strategies(game.betting, game.node_buckets, np.concatenate(rows).astype(np.float32), out)
    position = 0
    for n, (base, count) in enumerate(zip(game.betting.base, game.betting.num_actions, strict=True)):
        buckets = int(game.node_buckets[n])
        block = out[base : base + count * buckets].reshape(count, buckets).astype(int)
        expected = np.array(rows[position : position + buckets]).T
        position += buckets
        assert (block.sum(axis=0) == 255).all()
        assert np.abs(block / 255 - expected).max() <= 1.01 / 255
    assert out[0] == 255
