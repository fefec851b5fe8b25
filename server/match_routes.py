"""Dealer matches over HTTP: start, list, stop."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from aiohttp import web

from game.definition import PRESETS
from server.app_keys import MATCHES
from server.config import MatchConfig
from server.config_reader import read_table

_MOST_BYTES = 10_000


def add_match_routes(app: web.Application) -> None:
    """`/v1/matches` and below."""
    app.router.add_get("/v1/matches", list_matches)
    app.router.add_post("/v1/matches", start_match)
    app.router.add_get("/v1/matches/{match}", show_match)
    app.router.add_delete("/v1/matches/{match}", stop_match)


async def list_matches(request: web.Request) -> web.Response:
    """All matches since the start, ended ones included."""
    return web.json_response({"matches": [asdict(match) for match in request.app[MATCHES].statuses()]})


async def start_match(request: web.Request) -> web.Response:
    """Connect to a dealer; the body has the keys of [[match]] in the configuration file."""
    try:
        spec = read_table(MatchConfig, "match", await _body(request), "request")
        if spec.game not in PRESETS:  # a file's name would tell whether it is there, and what is in it
            raise ValueError(f"there is no game {spec.game!r}: choose from {', '.join(PRESETS)}")
        status = request.app[MATCHES].start(spec)
    except ValueError as error:
        return _error(400, str(error))
    return web.json_response(asdict(status), status=201, headers={"Location": f"/v1/matches/{status.match}"})


async def show_match(request: web.Request) -> web.Response:
    """One match."""
    try:
        return web.json_response(asdict(request.app[MATCHES].status(request.match_info["match"])))
    except KeyError:
        return _unknown(request)


async def stop_match(request: web.Request) -> web.Response:
    """Leave after the decision that is being made, if one is; the match stays in the list."""
    try:
        return web.json_response(asdict(await request.app[MATCHES].stop(request.match_info["match"])))
    except KeyError:
        return _unknown(request)


async def _body(request: web.Request) -> dict[str, Any]:
    if (request.content_length or 0) > _MOST_BYTES:
        raise ValueError(f"a match is described in less than {_MOST_BYTES} bytes")
    try:
        body = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise ValueError('the body is not JSON: write {"host": "127.0.0.1", "port": 16177}') from None
    if not isinstance(body, dict):
        raise ValueError("the body must be a JSON object")
    return body


def _unknown(request: web.Request) -> web.Response:
    return _error(404, f"there is no match {request.match_info['match']!r}: GET /v1/matches lists them")


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": message}, status=status)
