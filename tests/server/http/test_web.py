"""The pages as files: small, cacheable, without inline code or external resources."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from server.http.web_routes import PAGES, web_digest, web_files
from tests.server.api_setups import config_for, running
from tests.server.stand_ins import run

MOST_BYTES = 250_000
"""Maximum size of a first visit, compressed."""


def loaded(page: str) -> set[str]:
    """The names of all files a page loads, including imported modules."""
    waiting, found = [page], set()
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        text = web_files()[name].plain.decode()
        waiting += re.findall(rf'(?:href|src)="/web/{web_digest()}/([^"]+)"', text)
        if name.endswith(".js"):
            waiting += re.findall(r'from "\./([^"]+)"', text)
    return found


@pytest.mark.parametrize("page", PAGES.values())
def test_a_first_visit_loads_little_data(page: str) -> None:
    files = web_files()
    assert sum(len(files[name].compressed) for name in loaded(page)) <= MOST_BYTES


def test_every_file_is_loaded_by_some_page() -> None:
    assert set().union(*(loaded(page) for page in PAGES.values())) == web_files().keys()


@pytest.mark.parametrize("page", PAGES.values())
def test_no_inline_code_and_no_external_resources(page: str) -> None:
    text = web_files()[page].plain.decode()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert all(re.search(r"\ssrc=", tag) for tag in re.findall(r"<script[^>]*>", text))
    for name in loaded(page):
        addresses = re.findall(r"(?:https?:)?//[a-z][\w.-]+", web_files()[name].plain.decode())
        assert {found for found in addresses if "www.w3.org" not in found} <= set(), name


@pytest.mark.parametrize("page", PAGES.values())
def test_pages_have_what_screen_readers_need(page: str) -> None:
    text = web_files()[page].plain.decode()
    assert '<html lang="en">' in text
    assert "<title>" in text
    assert len(re.findall(r"<h1\b", text)) == 1
    assert re.search(r'<main id="main"', text)
    assert 'class="skip" href="#main"' in text
    assert 'aria-live="polite"' in text
    (address,) = (address for address, name in PAGES.items() if name == page)
    assert re.findall(r'<a href="([^"]+)" aria-current="page">', text) == [address]
    assert "{{" not in text


def test_pages_are_served_compressed_with_a_strict_policy(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as client:
            for address in PAGES:
                async with client.get(address, auto_decompress=False) as response:
                    assert response.status == 200
                    assert response.headers["Content-Encoding"] == "gzip"
                    policy = response.headers["Content-Security-Policy"]
                    assert "default-src 'none'" in policy
                    assert "unsafe" not in policy
                    assert response.headers["Cache-Control"] == "no-cache"
                    body, etag = await response.read(), response.headers["ETag"]
                async with client.get(address, headers={"If-None-Match": etag}) as response:
                    assert response.status == 304
                async with client.get(address, headers={"Accept-Encoding": "identity"}) as response:
                    assert "Content-Encoding" not in response.headers
                    assert await response.read() == gzip.decompress(body)

    run(check())


def test_assets_are_cached_forever(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as client:
            async with client.get(f"/web/{web_digest()}/play.js") as response:
                assert response.status == 200
                assert "immutable" in response.headers["Cache-Control"]
                assert response.headers["Content-Type"].startswith("text/javascript")
                assert response.headers["X-Content-Type-Options"] == "nosniff"
            names = ("play.html", "no.js", "..%2f..%2fapp.py", "%2e%2e/app.py")
            for path in ("old/play.js", *(f"{web_digest()}/{name}" for name in names)):
                async with client.get(f"/web/{path}") as response:
                    assert response.status == 404, path

    run(check())


def test_pages_need_no_key(tmp_path: Path) -> None:
    """The pages are public; the API they use is not."""

    async def check() -> None:
        (tmp_path / "keys.json").unlink(missing_ok=True)
        key = "someone:play:" + "0" * 64
        config = config_for(tmp_path, require_keys="always", keys=(key,))
        async with running(tmp_path, config=config) as client:
            for path, status in (("/", 200), (f"/web/{web_digest()}/page.js", 200), ("/v1/hands", 401)):
                async with client.get(path) as response:
                    assert response.status == status, path

    run(check())
