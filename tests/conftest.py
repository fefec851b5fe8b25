from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# JIT compilation makes the first examples slow, so deadlines would fail for no reason.
settings.register_profile("fathom", deadline=None, derandomize=True)
settings.load_profile("fathom")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use temporary folders, so that tests do not touch the user's hands and keys."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
