"""Compiled kernels are kept under what they are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from game import jit


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(jit, "_ROOT", tmp_path)
    folder = tmp_path / "made_up"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "low.py").write_text("TABLE = 1\n")
    (folder / "middle.py").write_text("from made_up.low import TABLE\n")
    (folder / "high.py").write_text("from made_up import middle\nimport math\n")
    (folder / "other.py").write_text("import made_up.high\n")
    return folder


def digests(package: Path) -> dict[str, str]:
    jit._imports.cache_clear()
    jit.source_digest.cache_clear()
    return {name: jit.source_digest(package / f"{name}.py") for name in ("low", "middle", "high", "other")}


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        ("low", {"low", "middle", "high", "other"}),
        ("middle", {"middle", "high", "other"}),
        ("high", {"high", "other"}),
        ("other", {"other"}),
    ],
)
def test_an_edit_concerns_whoever_depends_on_it(package: Path, edited: str, changed: set[str]) -> None:
    before = digests(package)
    path = package / f"{edited}.py"
    path.write_text(path.read_text() + "EXTRA = 2\n")
    after = digests(package)
    assert {name for name in before if before[name] != after[name]} == changed


def test_imports_in_a_circle_end(package: Path) -> None:
    (package / "low.py").write_text("import made_up.other\n")
    assert len(set(digests(package).values())) == 1  # each depends on all
