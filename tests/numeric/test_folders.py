from __future__ import annotations

import os
from pathlib import Path

import pytest

from numeric import folders


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("cache", "data", "config"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    return tmp_path


def read_only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Simulate a read-only folder: file modes have no effect if the tests run as root."""
    real = os.access

    def access(path: Path, mode: int) -> bool:
        return real(path, mode) and not (mode & os.W_OK and Path(path).is_relative_to(folder))

    monkeypatch.setattr("numeric.folders.os.access", access)


def test_xdg_variables_set_the_folders(homes: Path) -> None:
    assert folders.cache_home() == homes / "cache" / "fathom"
    assert folders.data_home() == homes / "data" / "fathom"
    assert folders.config_home() == homes / "config" / "fathom"


def test_default_folders_are_in_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "")
    assert folders.cache_home() == tmp_path / ".cache" / "fathom"
    assert folders.data_home() == tmp_path / ".local" / "share" / "fathom"


def test_a_writable_cache_is_used(homes: Path) -> None:
    assert folders.writable_cache() == folders.cache_home()
    assert folders.cached("a", "b") == homes / "cache" / "fathom" / "a" / "b"


def test_with_a_read_only_cache_new_files_go_to_the_data_folder(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = homes / "cache" / "fathom" / "made"
    there.parent.mkdir(parents=True)
    there.write_text("before")
    read_only(monkeypatch, homes / "cache")
    assert folders.writable_cache() == homes / "data" / "fathom" / "cache"
    assert folders.cached("made") == there
    assert folders.cached("new") == homes / "data" / "fathom" / "cache" / "new"
