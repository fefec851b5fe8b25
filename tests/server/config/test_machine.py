from __future__ import annotations

from pathlib import Path

from server.config.machine import available_memory_bytes, usable_cores


def test_cores_are_at_least_one() -> None:
    assert usable_cores() >= 1


def test_memory_is_what_the_system_says(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 2000 kB\nMemAvailable:    1000 kB\n")
    assert available_memory_bytes(meminfo, tmp_path) == 1000 * 1024


def test_a_containers_memory_limit_counts(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemAvailable: 1000 kB\n")
    (tmp_path / "memory.max").write_text("500000\n")
    (tmp_path / "memory.current").write_text("100000\n")
    assert available_memory_bytes(meminfo, tmp_path) == 400000
    (tmp_path / "memory.stat").write_text("anon 20000\ninactive_file 50000\nactive_file 30000\n")
    assert available_memory_bytes(meminfo, tmp_path) == 480000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory_bytes(meminfo, tmp_path) == 1000 * 1024


def test_unknown_memory_is_none(tmp_path: Path) -> None:
    assert available_memory_bytes(tmp_path / "none", tmp_path) is None
    (tmp_path / "odd").write_text("MemAvailable: lots\n")
    assert available_memory_bytes(tmp_path / "odd", tmp_path) is None
