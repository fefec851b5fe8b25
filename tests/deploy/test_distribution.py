"""The wheel and the source archive are complete, and the wheel plays on its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = PYPROJECT["project"]["version"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source archive and the wheel built from it. Needs no network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(built / f"fathom-{VERSION}-py3-none-any.whl")


def files_below(*folders: str) -> set[str]:
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts}


def test_the_wheel_has_every_file_of_the_packages_and_no_other(wheel: zipfile.ZipFile) -> None:
    patterns = PYPROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = [pattern.removesuffix("*") for pattern in patterns]
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert "solver/data/default.blueprint.xz" in names
    assert names == files_below(*packages)


def test_the_source_archive_can_be_tested(built: Path) -> None:
    with tarfile.open(built / f"fathom-{VERSION}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= files_below("deploy", "docs", "requirements", "tests")
    assert names >= {"CHANGELOG.md", "Dockerfile", "LICENSE", "Makefile", "README.md", "pyproject.toml"}


def test_the_wheel_plays(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    entry_points = (tmp_path / f"fathom-{VERSION}.dist-info" / "entry_points.txt").read_text()
    assert "fathom = server.cli:main" in entry_points

    def fathom(*arguments: str) -> str:
        command = [sys.executable, "-P", "-m", "server.cli", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert fathom("--version") == f"fathom {VERSION}\n"
    decision = json.loads(fathom("decide", "MATCHSTATE:1:0::|AsKd", "--json"))
    assert decision["method"] == "blueprint"
    assert decision["strategy"]["f"] == 0
