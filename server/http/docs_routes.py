"""`/openapi.json`, and the same as a web page, `/docs`, which loads nothing from other hosts."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import Any

from aiohttp import web

from server.http.openapi import openapi
from server.http.problems import CODES

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { background: #8882; padding: .7rem 1rem; overflow-x: auto; border-radius: 6px; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8884; }
h3 { margin: 1.6rem 0 .3rem; font-size: 1rem; }
table { border-collapse: collapse; }
td, th { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top; }
.verb { display: inline-block; min-width: 4rem; color: #2a7; font-weight: 600; }
.POST { color: #27c; } .DELETE { color: #c33; }
.dim { opacity: .7; }
"""

_ADDRESS = "localhost:8080"
_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]+")
_EXAMPLES = """\
# ask
curl -s localhost:8080/v1/decide -H 'Content-Type: application/json' \\
     -d '{"matchstate": "MATCHSTATE:1:0::|AsKd"}'

# play
curl -s localhost:8080/v1/hands -H 'Content-Type: application/json' -d '{"opponent": "me"}'
HAND=…  # its id, from the answer
curl -s localhost:8080/v1/hands/$HAND/actions -H 'Content-Type: application/json' -d '{"action": "c"}'

# solve, and watch
curl -sN localhost:8080/v1/solve -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \\
     -d '{"board": "AsKd7h4c2s", "pot": 1000, "stack": 9500}'
"""


def add_docs_routes(app: web.Application) -> None:
    """Add the OpenAPI document and the page."""
    app.router.add_get("/openapi.json", show_openapi)
    app.router.add_get("/docs", show_docs)


async def show_openapi(_request: web.Request) -> web.Response:
    """Serve the OpenAPI document."""
    return web.json_response(openapi())


async def show_docs(request: web.Request) -> web.Response:
    """Serve the page; its examples use the host it was requested from."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    text = _page().replace(_ADDRESS, request.host) if _HOST.fullmatch(request.host) else _page()
    return web.Response(text=text, content_type="text/html", headers={"Content-Security-Policy": policy})


@cache
def _page() -> str:
    document = openapi()
    info = document["info"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width, initial-scale=1'>",
        f"<title>{escape(info['title'])} API</title><style>{_STYLE}</style>",
        f"<h1>{escape(info['title'])} <span class=dim>{escape(info['version'])}</span></h1>",
        f"<p>{_prose(info['description'])}</p>",
        "<p>Bodies are JSON or msgpack (<code>Content-Type</code>, <code>Accept</code>), at most 64 KiB."
        " Errors are RFC 9457 <a href=#problems>problems</a>. Machine-readable:"
        " <a href=/openapi.json>/openapi.json</a>.</p>",
        f"<pre>{escape(_EXAMPLES)}</pre>",
    ]
    for tag in document["tags"]:
        parts.append(f"<h2 id={tag['name']}>{escape(tag['name'])}</h2><p>{_prose(tag['description'])}</p>")
        for path, item in document["paths"].items():
            parts += [
                _operation(document, path, verb.upper(), item[verb])
                for verb in ("get", "post", "delete")
                if verb in item and tag["name"] in item[verb]["tags"]
            ]
    parts.append(_problems())
    return "\n".join(parts)


def _problems() -> str:
    rows = "".join(
        f"<tr id={code}><td><code>{code}</code></td><td>{_prose(words)}</td></tr>"
        for code, words in CODES.items()
    )
    return (
        "<h2 id=problems>Problems</h2><p>Errors are sent as <code>application/problem+json</code>:"
        " <code>code</code> is one of these, <code>detail</code> says what is wrong and what to do.</p>"
        f"<table>{rows}</table>"
    )


def _operation(document: dict[str, Any], path: str, verb: str, operation: dict[str, Any]) -> str:
    parts = [
        f"<h3 id={escape(operation['operationId'])}><span class='verb {verb}'>{verb}</span>"
        f" <code>{escape(path)}</code> {escape(operation['summary'])}</h3>"
    ]
    if "description" in operation:
        parts.append(f"<p>{_prose(operation['description'])}</p>")
    rows = [
        (parameter["name"], "query", _kind(parameter["schema"]), parameter["description"])
        for parameter in operation.get("parameters", [])
    ]
    body = operation.get("requestBody")
    if body is not None:
        name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        schema = document["components"]["schemas"][name]
        rows += [
            (field, "required" if field in schema.get("required", []) else "", _kind(kind), _about(kind))
            for field, kind in schema["properties"].items()
        ]
    if rows:
        cells = "".join(
            "<tr>" + "".join(f"<td>{_prose(cell)}</td>" for cell in (f"`{row[0]}`", *row[1:])) + "</tr>"
            for row in rows
        )
        parts.append(f"<table>{cells}</table>")
    return "\n".join(parts)


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = schema.get("type", "object")
    return kind if isinstance(kind, str) else " | ".join(word for word in kind if word != "null")


def _about(schema: dict[str, Any]) -> str:
    examples = schema.get("examples", [])
    words = [schema.get("description", ""), f"e.g. `{examples[0]}`" if examples and examples[0] else ""]
    return "; ".join(word for word in words if word)


def _prose(text: str) -> str:
    """Escape text for HTML, with `code` as code elements."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))
