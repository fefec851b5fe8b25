"""The documentation hangs together: its links lead somewhere, and its index leads to every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
