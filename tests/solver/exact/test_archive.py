from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from game.hands import parse_hand
from solver.exact.archive import MAGIC, ArchiveError, load, read_header, save
from solver.exact.schedules import VARIANTS, named_schedule
from solver.exact.solver import Solver
from solver.exact.symmetry import merged
from solver.games.locks import parse_lock
from solver.games.spot import Spot
from solver.games.tree import BettingRoot
from tests.solver.small_spots import river_spot, small_spot, turn_spot


@pytest.mark.parametrize("variant", VARIANTS)
def test_resumed_solve_equals_an_uninterrupted_one(tmp_path: Path, variant: str) -> None:
    spot, path = river_spot(), tmp_path / "half.solve"
    whole = Solver(spot.game(), named_schedule(variant, 60))
    whole.run(60)
    half = Solver(spot.game(), named_schedule(variant, 60))
    half.run(25)
    save(path, spot, half, variant, horizon=60)
    resumed = load(path).solver()
    assert resumed.iterations == 25
    resumed.run(35)
    np.testing.assert_array_equal(resumed.average, whole.average)
    np.testing.assert_array_equal(resumed.regret, whole.regret)


def test_spot_survives_a_round_trip(tmp_path: Path) -> None:
    ranges = river_spot().ranges.copy()
    ranges[0, parse_hand("QhQc")] = 2.5  # weights of a subgame can be larger than 1
    root = BettingRoot(3, (120, 60), 500, 10, 1.0, actor=1, last_raise=60, opened=True, round_start=60)
    spot = Spot(river_spot().board, root, "50%; river.ip: a | a", ranges, {(0,): (310,), (): (200, 250)})
    solver = Solver(spot.game())
    solver.run(2)
    size = save(tmp_path / "spot.solve", spot, solver, seconds=1.25)
    archive = load(tmp_path / "spot.solve")
    assert (tmp_path / "spot.solve").stat().st_size == size
    assert archive.spot.board == spot.board
    assert archive.spot.root == root
    assert archive.spot.menu == spot.menu
    assert archive.spot.extra == spot.extra
    np.testing.assert_array_equal(archive.spot.ranges, ranges)
    assert (archive.iterations, archive.seconds, archive.variant) == (2, 1.25, "default")
    np.testing.assert_array_equal(archive.solution().strategy(0), solver.solution().strategy(0))


def test_tables_are_mapped_copy_on_write(tmp_path: Path) -> None:
    spot, path = turn_spot(), tmp_path / "turn.solve"
    solver = Solver(spot.game())
    solver.run(3)
    save(path, spot, solver)
    before = path.read_bytes()
    archive = load(path, verify=False)
    assert isinstance(archive.average.base, np.memmap)
    assert archive.average.ctypes.data % 64 == 0
    archive.average[:] = 0
    archive.solver().run(2)
    assert path.read_bytes() == before


def test_strategy_only_files_are_half_as_large_and_cannot_be_resumed(tmp_path: Path) -> None:
    spot = turn_spot()
    solver = Solver(spot.game())
    solver.run(3)
    whole = save(tmp_path / "whole.solve", spot, solver)
    half = save(tmp_path / "half.solve", spot, solver, strategy_only=True)
    assert half < 0.6 * whole
    archive = load(tmp_path / "half.solve")
    np.testing.assert_array_equal(archive.solution().strategy(0), solver.solution().strategy(0))
    with pytest.raises(ArchiveError, match="strategies only"):
        archive.solver()


def test_a_merged_game_is_refused(tmp_path: Path) -> None:
    spot = small_spot("AsKs7s4s", 100, 400, "50%, a | a", "QQ,JTs", "JJ,98s")
    with pytest.raises(ArchiveError, match="unmerged"):
        save(tmp_path / "merged.solve", spot, Solver(merged(spot.game())))


def test_locked_nodes_stay_locked(tmp_path: Path) -> None:
    spot, path = river_spot(), tmp_path / "locked.solve"
    solver = Solver(spot.game())
    lock = parse_lock(spot, solver.game, "b50% = f random:0.9; c rest")
    solver.lock(lock.place.node, lock.strategy)
    solver.run(5)
    save(path, spot, solver)
    resumed = load(path).solver()
    resumed.run(5)
    np.testing.assert_allclose(resumed.solution().strategy(lock.place.node)[0], 0.9, rtol=1e-6)


def saved(tmp_path: Path) -> Path:
    spot, path = river_spot(), tmp_path / "a.solve"
    solver = Solver(spot.game())
    solver.run(2)
    save(path, spot, solver)
    return path


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other"
    for text in (b"", b"hello", b"x" * 1000):
        path.write_bytes(text)
        with pytest.raises(ArchiveError, match="is not a saved solve"):
            load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")


def test_other_versions_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    data = bytearray(path.read_bytes())
    data[8:12] = struct.pack("<I", 99)
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match="of version 99, this program reads version 2"):
        load(path)


def test_files_cut_off_anywhere_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    data = path.read_bytes()
    for length in (len(MAGIC), 20, 47, 100, 500, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(ArchiveError, match="is cut off"):
            load(path)


def test_damage_anywhere_is_detected(tmp_path: Path) -> None:
    path = saved(tmp_path)
    data = path.read_bytes()
    tables = read_header(path)["tables"].values()
    used = [range(16, 48), range(48, 200), *(range(t["offset"], t["offset"] + 8) for t in tables)]
    for place in (place for part in used for place in part[::7]):
        damaged = bytearray(data)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(ArchiveError, match="is damaged"):
            load(path)


def test_an_old_file_survives_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path)
    before = path.read_bytes()
    spot = river_spot()

    def fail(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("numeric.table_file.os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        save(path, spot, Solver(spot.game()))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
