"""The files for GitHub are valid and agree with the project: workflows, forms, citation, release notes."""

from __future__ import annotations

import re
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEXT = "\n".join(path.read_text() for path in WORKFLOWS)


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("github-workflows", ".github/workflows/*.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("dependabot", ".github/dependabot.yml"),
        ("citation-file-format", "CITATION.cff"),
        ("compose-spec", "deploy/compose.yaml"),
    ],
)
def test_files_match_their_schemas(schema: str, pattern: str) -> None:
    program = Path(sysconfig.get_path("scripts")) / "check-jsonschema"
    files = sorted(ROOT.glob(pattern))
    assert files
    command = [program, "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_use_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    wanted = {
        word
        for words in re.findall(r"run: make ([^\n>]+)", TEXT)
        for word in words.split()
        if re.fullmatch("[a-z]+", word)
    }
    assert {"check", "test", "newest", "docs", "dist", "notes"} <= wanted <= targets


def test_tests_run_on_every_supported_python() -> None:
    supported = re.findall(r"Python :: (\d\S*)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={supported[0]}"
    listed = ", ".join([f'"{version}"' for version in supported])
    assert f"python: [{listed}]" in TEXT


def test_actions_are_pinned_by_commit() -> None:
    used = re.findall(r"uses: (\S+)( # v\S+)?", TEXT)
    assert len(used) > 5
    for action, comment in used:
        assert action.startswith("./") or (re.search(r"@[0-9a-f]{40}$", action) and comment), action


def test_commit_subjects_are_checked_as_contributing_says() -> None:
    (kinds,) = re.findall(r"subject `([a-z|]+): ", (ROOT / "CONTRIBUTING.md").read_text())
    (entry,) = re.findall(r"entry: '(\\A.*)'", (ROOT / ".pre-commit-config.yaml").read_text())
    refused = re.compile(entry, re.MULTILINE)
    assert refused.search("a change")
    for kind in kinds.split("|"):
        assert not refused.search(f"{kind}: a change")
        assert not refused.search(f"{kind}(solver): a change\n\nwhy")


def test_the_version_is_the_same_everywhere() -> None:
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == PROJECT["version"]
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1:2] in ([], [PROJECT["version"]])


def test_release_notes_are_the_section_of_a_version(tmp_path: Path) -> None:
    sections = (
        "# Changelog",
        "## Unreleased",
        "## 0.2.0 (2026-01-02)",
        "### Added",
        "- this",
        "## 0.1.0",
        "- that",
    )
    (tmp_path / "CHANGELOG.md").write_text("\n\n".join(sections) + "\n")

    def notes(version: str) -> subprocess.CompletedProcess[str]:
        command = ["make", "--silent", "--file", str(ROOT / "Makefile"), "notes", f"VERSION={version}"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert notes("0.2.0").stdout.strip() == "### Added\n\n- this"
    assert notes("0.1.0").stdout.strip() == "- that"
    assert notes("0.3.0").returncode != 0
