"""HTTP routes to start, list and stop dealer matches."""

from __future__ import annotations

from dataclasses import asdict

from aiohttp import web

from game.definition import PRESETS
from server.config.config import MatchConfig
from server.config.reader import read_table
from server.http.app_keys import MATCHES
from server.http.bodies import answer, read_fields
from server.http.problems import Problem, bad_request


def add_match_routes(app: web.Application) -> None:
    """Add `/v1/matches` and its sub-routes."""
    app.router.add_get("/v1/matches", list_matches)
    app.router.add_post("/v1/matches", start_match)
    app.router.add_get("/v1/matches/{match}", show_match)
    app.router.add_delete("/v1/matches/{match}", stop_match)


async def list_matches(request: web.Request) -> web.Response:
    """List all matches since the daemon's start, including ended ones."""
    return answer(request, {"matches": [asdict(match) for match in request.app[MATCHES].statuses()]})


async def start_match(request: web.Request) -> web.Response:
    """Connect to a dealer; the body has the keys of [[match]] in the configuration file."""
    fields = await read_fields(request)
    try:
        spec = read_table(MatchConfig, "match", fields, "request")
        if not spec.host.isascii() or not spec.host or not spec.name.isprintable():
            raise ValueError("host must be non-empty ASCII, and name printable text")
        if spec.game not in PRESETS:  # accepting file names would reveal the existence and contents of files
            raise ValueError(f"unknown game {spec.game!r}: choose from {', '.join(PRESETS)}")
        status = request.app[MATCHES].start(spec)
    except ValueError as error:
        raise bad_request(str(error), "bad-match") from None
    return answer(request, asdict(status), 201, {"Location": f"/v1/matches/{status.match}"})


async def show_match(request: web.Request) -> web.Response:
    """Show one match."""
    try:
        return answer(request, asdict(request.app[MATCHES].status(request.match_info["match"])))
    except KeyError:
        raise _unknown() from None


async def stop_match(request: web.Request) -> web.Response:
    """Leave a match after the decision in progress, if any; the match stays in the list."""
    try:
        return answer(request, asdict(await request.app[MATCHES].stop(request.match_info["match"])))
    except KeyError:
        raise _unknown() from None


def _unknown() -> Problem:
    return Problem(404, "no such match: GET /v1/matches lists all matches", "unknown-match")
