from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# JIT compilation makes first examples slow, which says nothing about the code under test.
settings.register_profile("fathom", deadline=None, derandomize=True)
settings.load_profile("fathom")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the hands and keys of whoever runs it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
