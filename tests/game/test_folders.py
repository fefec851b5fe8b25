from __future__ import annotations

import os
from pathlib import Path

import pytest

from game import folders


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("cache", "data", "config"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    return tmp_path


def read_only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """To whoever asks: the tests may run as root, whom no mode stops."""
    real = os.access

    def access(path: Path, mode: int) -> bool:
        return real(path, mode) and not (mode & os.W_OK and Path(path).is_relative_to(folder))

    monkeypatch.setattr("game.folders.os.access", access)


def test_everything_has_its_own_home(homes: Path) -> None:
    assert folders.cache_home() == homes / "cache" / "fathom"
    assert folders.data_home() == homes / "data" / "fathom"
    assert folders.config_home() == homes / "config" / "fathom"


def test_without_xdg_it_is_below_the_users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "")
    assert folders.cache_home() == tmp_path / ".cache" / "fathom"
    assert folders.data_home() == tmp_path / ".local" / "share" / "fathom"


def test_a_cache_that_can_be_written_is_written(homes: Path) -> None:
    assert folders.writable_cache() == folders.cache_home()
    assert folders.cached("a", "b") == homes / "cache" / "fathom" / "a" / "b"


def test_a_read_only_cache_is_read_and_added_to_beside_the_data(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = homes / "cache" / "fathom" / "made"
    there.parent.mkdir(parents=True)
    there.write_text("before")
    read_only(monkeypatch, homes / "cache")
    assert folders.writable_cache() == homes / "data" / "fathom" / "cache"
    assert folders.cached("made") == there
    assert folders.cached("new") == homes / "data" / "fathom" / "cache" / "new"
