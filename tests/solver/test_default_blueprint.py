from __future__ import annotations

from pathlib import Path

import pytest

from solver import default_blueprint
from solver.blueprint import BlueprintError
from solver.default_blueprint import VARIABLE, default_blueprint_path


def test_the_variable_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.blueprint"
    monkeypatch.setenv(VARIABLE, str(other))
    with pytest.raises(BlueprintError, match="no such file"):
        default_blueprint_path()
    other.touch()
    assert default_blueprint_path() == other


def test_the_packaged_one_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = tmp_path / "default.blueprint.xz"
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(default_blueprint, "PACKAGED", packaged)
    with pytest.raises(BlueprintError, match="fathom train --preset default"):
        default_blueprint_path()
    packaged.touch()
    assert default_blueprint_path() == packaged
