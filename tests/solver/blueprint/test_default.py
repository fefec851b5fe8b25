from __future__ import annotations

from pathlib import Path

import pytest

from solver.blueprint import default as default_blueprint
from solver.blueprint.default import PACKAGED, VARIABLE, default_blueprint_path
from solver.blueprint.file import BlueprintError, verify_blueprint
from solver.depth_limited.opponent_values import read_values
from solver.training.carried_training import read_carried


def test_packaged_blueprint_is_valid_and_can_be_trained_further() -> None:
    """Fails if the format or the preset changes without a new packaged blueprint."""
    assert PACKAGED.stat().st_size <= 48 << 20
    blueprint = verify_blueprint(PACKAGED)
    assert read_values(blueprint) is not None
    assert blueprint.provenance.core_hours is not None
    carried = read_carried(PACKAGED)
    assert carried.iterations == blueprint.provenance.iterations
    assert carried.products.carry


def test_environment_variable_takes_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.blueprint"
    monkeypatch.setenv(VARIABLE, str(other))
    with pytest.raises(BlueprintError, match="no such file"):
        default_blueprint_path()
    other.touch()
    assert default_blueprint_path() == other


def test_packaged_blueprint_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = tmp_path / "default.blueprint.xz"
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(default_blueprint, "PACKAGED", packaged)
    with pytest.raises(BlueprintError, match="fathom train --preset default"):
        default_blueprint_path()
    packaged.touch()
    assert default_blueprint_path() == packaged
