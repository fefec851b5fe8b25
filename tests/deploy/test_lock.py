"""The lock files pin what `pyproject.toml` asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = {"run": (), "dev": ("dev",), "docs": ("docs",), "release": ("release",)}


def lines(name: str) -> list[str]:
    """Continuation lines joined, comments left out."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    return [line.split("#")[0].strip() for line in text.splitlines() if line.split("#")[0].strip()]


def pinned(name: str) -> dict[str, str]:
    """Package to version."""
    return {canonicalize_name(line.split("==")[0]): line.split()[0].split("==")[1] for line in lines(name)}


@pytest.mark.parametrize("name", EXTRAS)
def test_everything_is_pinned_by_version_and_hash(name: str) -> None:
    pattern = re.compile(r"[\w.-]+==\S+( ; .+?)?( +--hash=sha256:[0-9a-f]{64})+")
    assert all(pattern.fullmatch(line) for line in lines(name)), "no options, no addresses"


@pytest.mark.parametrize("name", EXTRAS)
def test_versions_are_those_that_are_asked_for(name: str) -> None:
    wanted = [*PYPROJECT["build-system"]["requires"], *PYPROJECT["project"]["dependencies"]]
    for extra in EXTRAS[name]:
        wanted += PYPROJECT["project"]["optional-dependencies"][extra]
    versions = pinned(name)
    for requirement in map(Requirement, wanted):
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, "run `make lock`"


@pytest.mark.parametrize("name", ["run", "docs", "release"])
def test_files_agree(name: str) -> None:
    """All of them may be installed into one environment."""
    dev = pinned("dev")
    assert {package: dev.get(package, version) for package, version in pinned(name).items()} == pinned(name)
