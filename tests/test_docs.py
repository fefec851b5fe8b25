"""The links of the documentation lead somewhere, its index leads to every page, and its commands exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from server import cli

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "solver" / "data" / "README.md"]
INDEX = ROOT / "docs" / "README.md"


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[tuple[Path, str]]:
    """File and anchor of every link to a file of the repository."""
    found = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    parts = [link.partition("#") for link in found if not re.match(r"[a-z]+:", link)]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in parts]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        assert target.exists(), f"{target} does not exist"
        assert not anchor or anchor in anchors(target), f"{target} has no heading for #{anchor}"


def test_every_page_can_be_reached_from_the_index() -> None:
    reached, waiting = set[Path](), [INDEX]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += [target for target, _ in links(page) if target.suffix == ".md"]
    missing = set((ROOT / "docs").rglob("*.md")) - reached
    assert not missing, f"link these from {INDEX}: {sorted(map(str, missing))}"


def commands(page: Path) -> list[list[str]]:
    """The arguments of every `fathom` command in blocks of shell, without templates (HOST, [options])."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    found = []
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        words = shlex.split(re.split(r"\s# ", line)[0])
        if words[:1] != ["fathom"] or any(re.search(r"^\[|\w\|\w|^[A-Z]{4}$", word) for word in words):
            continue
        end = next((at for at, word in enumerate(words) if word in ("&", ">")), len(words))
        found.append(words[1:end])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_understood(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in commands(page):
        if command[0] != "--help":
            monkeypatch.setattr(cli.command_module(command[0]), "run", lambda args: 0)
            assert cli.main(command) == 0
