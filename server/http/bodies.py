"""Request and response bodies in JSON or msgpack, with limits on size, nesting depth and read time.

A request must declare its content type: `text/plain` and forms are rejected, because any web page could make
a browser send those to a daemon on the same machine.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgpack
from aiohttp import hdrs, web

from server.http.problems import Problem, bad_request

JSON_TYPE = "application/json"
MSGPACK_TYPE = "application/msgpack"
MAX_BODY_BYTES = 64 * 1024
MAX_DEPTH = 16
READ_SECONDS = 10.0

_MSGPACK_TYPES = frozenset({MSGPACK_TYPE, "application/x-msgpack", "application/vnd.msgpack"})


async def read_fields(request: web.Request) -> dict[str, Any]:
    """The body as an object; raises `Problem`."""
    body = await read_body(request)
    if not isinstance(body, dict) or not all(isinstance(name, str) for name in body):
        raise bad_request("the body must be an object with named fields")
    return body


async def read_body(request: web.Request) -> object:
    """The body, decoded; None if there is none. Raises `Problem`."""
    data = await _read_bytes(request)
    if not data:
        return None
    kind = request.content_type
    if kind == JSON_TYPE:
        body = _parse_json(data)
    elif kind in _MSGPACK_TYPES:
        body = _parse_msgpack(data)
    else:
        raise Problem(
            415,
            f"send {JSON_TYPE} or {MSGPACK_TYPE} and say so in Content-Type",
            headers={"Accept": JSON_TYPE},
        )
    verify_depth(body)
    return body


def answer(
    request: web.Request, body: object, status: int = 200, headers: dict[str, str] | None = None
) -> web.Response:
    """A response in the format the client prefers: JSON unless it asks for msgpack."""
    if _wants_msgpack(request.headers.get(hdrs.ACCEPT, "")):
        data, kind = msgpack.packb(body), MSGPACK_TYPE
    else:
        data, kind = json.dumps(body, separators=(",", ":")).encode(), JSON_TYPE
    return web.Response(
        body=data, status=status, headers={"Content-Type": kind, "Vary": "Accept", **(headers or {})}
    )


def verify_depth(body: object) -> None:
    """Raise `Problem` if the body is nested more than MAX_DEPTH deep."""
    level = [body]
    for _ in range(MAX_DEPTH):
        below = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not below:
            return
        level = below
    raise bad_request(f"the body is nested more than {MAX_DEPTH} deep", "too-deep")


async def _read_bytes(request: web.Request) -> bytes:
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise _too_large()
    chunks, size = [], 0
    try:
        async with asyncio.timeout(READ_SECONDS):
            async for chunk in request.content.iter_chunked(16384):
                size += len(chunk)
                if size > MAX_BODY_BYTES:
                    raise _too_large()
                chunks.append(chunk)
    except TimeoutError:
        raise Problem(408, f"the body did not arrive within {READ_SECONDS:g} s: send it again") from None
    return b"".join(chunks)


def _too_large() -> Problem:
    return Problem(413, f"a body may have at most {MAX_BODY_BYTES} bytes", headers={"Connection": "close"})


def _parse_json(data: bytes) -> object:
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except RecursionError:
        raise bad_request(f"the body is nested more than {MAX_DEPTH} deep", "too-deep") from None
    except ValueError as error:
        raise bad_request(f"the body is not JSON: {error}", "not-json") from None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _parse_msgpack(data: bytes) -> object:
    try:
        return msgpack.unpackb(data, strict_map_key=True)
    except Exception as error:  # the parser raises many types; all mean a bad body
        raise bad_request(f"the body is not msgpack: {type(error).__name__}", "not-msgpack") from None


def _wants_msgpack(accept: str) -> bool:
    """Whether an Accept header prefers msgpack to JSON."""
    best: dict[bool, float] = {}
    for part in accept.split(","):
        kind, *parameters = [piece.strip().lower() for piece in part.split(";")]
        if kind != JSON_TYPE and kind not in _MSGPACK_TYPES:
            continue
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = float(parameter[2:])
                except ValueError:
                    quality = 0.0
        is_msgpack = kind in _MSGPACK_TYPES
        best[is_msgpack] = max(best.get(is_msgpack, 0.0), quality)
    return best.get(True, 0.0) > best.get(False, 0.0)
