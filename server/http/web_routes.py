"""The web pages: the files of `server/web`, read once and served compressed from memory.

1. Pages are public: they contain no data. They load their data from the API, with a key where one is needed.
2. Everything a page loads is below `/web/DIGEST/`, where DIGEST is the digest of all files together: browsers
   may cache it forever, and a new version never mixes with old scripts. Pages themselves are revalidated each
   time.
3. The common beginning of all pages is written once: `{{head}}` and `{{top}}` in a page stand for `head.part`
   and `top.part`.
4. Nothing comes from another host and nothing is inline; the content security policy enforces this.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aiohttp import hdrs, web

WEB = Path(__file__).parent.parent / "web"
PAGES = {
    "/": "play.html",
    "/pushfold": "pushfold.html",
    "/study": "study.html",
    "/dashboard": "dashboard.html",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOR_EVER = "public, max-age=31536000, immutable"
_FOLDER = "{{web}}"
_PARTS = ("head", "top")


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file as it is served."""

    content_type: str
    plain: bytes
    compressed: bytes
    etag: str


def add_web_routes(app: web.Application) -> None:
    """Add the pages and the files they load."""
    files = web_files()
    digest = web_digest()
    for address, name in PAGES.items():
        app.router.add_get(address, _page_handler(files[name]))
    app.router.add_get(f"/web/{digest}/{{name}}", _asset)


@cache
def web_files() -> dict[str, WebFile]:
    """All files by name, with pages assembled from their parts."""
    pages = {name: _page(address) for address, name in PAGES.items()}
    found = {}
    for path in _paths():
        plain = pages.get(path.name) or path.read_bytes()
        etag = f'"{hashlib.sha256(plain).hexdigest()[:20]}"'
        found[path.name] = WebFile(_TYPES[path.suffix], plain, gzip.compress(plain, 9, mtime=0), etag)
    return found


@cache
def web_digest() -> str:
    """The digest of all files together."""
    digest = hashlib.sha256()
    for path in [*_paths(), *map(_part, _PARTS)]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _paths() -> list[Path]:
    return sorted(path for path in WEB.iterdir() if path.suffix in _TYPES)


def _part(name: str) -> Path:
    return WEB / f"{name}.part"


def _page(address: str) -> bytes:
    """A page with its parts and asset folder filled in, and the link to itself marked as current."""
    text = (WEB / PAGES[address]).read_text(encoding="utf-8")
    for name in _PARTS:
        part = _part(name).read_text(encoding="utf-8").rstrip("\n")
        part = part.replace(f'<a href="{address}">', f'<a href="{address}" aria-current="page">')
        text = text.replace(f"{{{{{name}}}}}", part)
    return text.replace(_FOLDER, f"/web/{web_digest()}").encode()


def _page_handler(page: WebFile) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def show(request: web.Request) -> web.Response:
        return _send(request, page, "no-cache", {"Content-Security-Policy": POLICY})

    return show


async def _asset(request: web.Request) -> web.Response:
    found = web_files().get(request.match_info["name"])
    if found is None or found.content_type == _TYPES[".html"]:
        raise web.HTTPNotFound
    return _send(request, found, _FOR_EVER, {})


def _send(request: web.Request, found: WebFile, keep: str, headers: dict[str, str]) -> web.Response:
    headers = {
        **headers,
        hdrs.CACHE_CONTROL: keep,
        hdrs.ETAG: found.etag,
        hdrs.VARY: hdrs.ACCEPT_ENCODING,
        "Referrer-Policy": "no-referrer",
    }
    if found.etag in request.headers.get(hdrs.IF_NONE_MATCH, ""):
        return web.Response(status=304, headers=headers)
    headers[hdrs.CONTENT_TYPE] = found.content_type
    if "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, ""):
        headers[hdrs.CONTENT_ENCODING] = "gzip"
        return web.Response(body=found.compressed, headers=headers)
    return web.Response(body=found.plain, headers=headers)
