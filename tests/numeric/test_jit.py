"""Compiled kernels are cached under a digest of their sources."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from numeric import jit


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
def test_digest_changes_with_edits_of_dependencies_only(
    package: Path, edited: str, changed: set[str]
) -> None:
    before = digests(package)
    path = package / f"{edited}.py"
    path.write_text(path.read_text() + "EXTRA = 2\n")
    after = digests(package)
    assert {name for name in before if before[name] != after[name]} == changed


def test_circular_imports_are_handled(package: Path) -> None:
    (package / "low.py").write_text("import made_up.other\n")
    assert len(set(digests(package).values())) == 1  # each depends on all


SCRIPT = """
from numeric.jit import kernel
import numpy as np

@kernel
def doubled(values):
    return 2 * values

print(doubled(np.ones(1)), doubled(3), sum(doubled.stats.cache_hits.values()))
"""


def run_script(folder: Path, cache: Path) -> str:
    script = folder / "doubling.py"
    script.write_text(SCRIPT)
    environment = {"PYTHONPATH": str(jit._ROOT), "XDG_CACHE_HOME": str(cache), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_kernels_are_compiled_once(tmp_path: Path) -> None:
    assert run_script(tmp_path, tmp_path / "cache") == "[2.] 6 0"
    assert run_script(tmp_path, tmp_path / "cache") == "[2.] 6 2"


def test_a_read_only_cache_is_read(tmp_path: Path) -> None:
    """As in a container with a read-only root, simulated by a file that cannot be replaced."""
    run_script(tmp_path, tmp_path / "cache")
    [index] = (tmp_path / "cache").rglob("*.nbi")
    made = sorted(index.parent.iterdir())
    for file in made[1:]:  # one of the two signatures is lost, and cannot be saved again
        if file.suffix == ".nbc":
            file.unlink()
            file.mkdir()
            break
    assert run_script(tmp_path, tmp_path / "cache") == "[2.] 6 1"


def test_kernels_compile_without_a_cache_folder(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    assert run_script(tmp_path, tmp_path / "cache") == "[2.] 6 0"


def test_damaged_cache_files_are_replaced(tmp_path: Path) -> None:
    run_script(tmp_path, tmp_path / "cache")
    [index] = (tmp_path / "cache").rglob("*.nbi")
    index.write_bytes(b"")
    assert run_script(tmp_path, tmp_path / "cache") == "[2.] 6 0"
    assert run_script(tmp_path, tmp_path / "cache") == "[2.] 6 2"
    for data in index.parent.glob("*.nbc"):
        data.write_bytes(data.read_bytes()[:100])
    assert run_script(tmp_path, tmp_path / "cache") == "[2.] 6 0"
    assert run_script(tmp_path, tmp_path / "cache") == "[2.] 6 2"
