"""A browser and a daemon. Where there is no Chromium these tests are skipped and say what to install."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
CHROMIUM = os.environ.get("FATHOM_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
SHOTS = Path(os.environ.get("FATHOM_SCREENSHOTS", ROOT / ".screenshots"))
"""Where pictures of pages are left."""


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with daemon(tmp_path_factory.mktemp("daemon"), "auto") as address:
        yield address


@contextmanager
def daemon(folder: Path, require_keys: str) -> Iterator[str]:
    """A daemon that keeps everything in a folder, at an address."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.pages.daemon", str(folder), require_keys],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)},
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """For one module: Playwright has an event loop running, which others' tests could not bear."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install '.[dev]'")
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium, or name it in FATHOM_CHROMIUM")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


class Tab:
    """A page that must not complain."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        size = options.pop("size", (1280, 800))
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", **options
        )
        self.context.set_default_timeout(120_000)  # a busy machine is slow, not wrong
        self.page = self.context.new_page()
        self.address = address
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self.page.on(
            "console",
            lambda message: message.type in ("error", "warning") and self.complaints.append(message.text),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "request",
            lambda request: request.url.startswith(address) or self.foreign.append(request.url),
        )

    def open(self, path: str) -> Any:
        self.page.goto(self.address + path)
        return self.page

    def shot(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=True)

    def close(self) -> None:
        self.context.close()
        assert self.complaints == []
        assert self.foreign == []


@pytest.fixture
def tab(browser: Any, address: str) -> Iterator[Tab]:
    opened = Tab(browser, address)
    yield opened
    opened.close()
