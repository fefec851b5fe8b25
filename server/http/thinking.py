"""What is told while the bot thinks: as an answer, or as server-sent events until it has acted.

How far a solve is depends on what is public and on the machine. The board is not told before the hand with
it is in the store: whoever saw it, and then a restart that lost his action, could take the action back.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from aiohttp import hdrs, web

from server.http.decide_routes import STREETS
from server.http.guard import unexpected
from server.http.problems import Problem, problem_body
from server.http.solve_routes import EVENT_STREAM
from server.table import Thinking

EVERY_SECONDS = 0.1


def wants_events(request: web.Request) -> bool:
    """Whether somebody would rather follow than wait."""
    return EVENT_STREAM in request.headers.get(hdrs.ACCEPT, "")


def thinking_body(thinking: Thinking | None) -> dict[str, object]:
    """For people and programs; all but the first is null if nobody thinks."""
    progress = None if thinking is None else thinking.progress
    return {
        "thinking": thinking is not None,
        "street": None if thinking is None else STREETS[thinking.round_index],
        "iterations": None if progress is None else progress.iterations,
        "most_iterations": None if progress is None else progress.most_iterations,
        "seconds": None if thinking is None else round(thinking.seconds, 3),
        "seconds_allowed": None if thinking is None else round(thinking.seconds_allowed, 3),
    }


async def stream_thinking(
    request: web.Request,
    watch: Callable[[], Thinking | None],
    work: Coroutine[Any, Any, Mapping[str, object]],
) -> web.StreamResponse:
    """`thinking` now and then while the bot thinks, then `hand`, or `failed` with the problem.

    What goes wrong before the bot thinks is raised, as without a stream. The work is done to its end even if
    nobody listens any more, as an action must be that was played.

    watch  how far the bot is
    work   what the hand is the result of
    """
    working = asyncio.ensure_future(work)
    response: web.StreamResponse | None = None
    try:
        await asyncio.wait([working], timeout=EVERY_SECONDS)
        while not working.done():
            thinking = watch()
            if thinking is not None:
                if response is None:
                    response = await _begin(request)
                await response.write(_event("thinking", thinking_body(thinking)))
            await asyncio.wait([working], timeout=EVERY_SECONDS)
        if response is None:
            await working  # raises what is to be refused
            response = await _begin(request)
        await response.write(_result(request, working))
    except ConnectionResetError:
        await asyncio.wait([working])  # whoever listened is gone
        _result(request, working)  # what went wrong is logged as elsewhere
        if response is None:
            raise
    finally:
        working.cancel()  # only if we are cancelled or fail ourselves
    return response


async def _begin(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"Content-Type": EVENT_STREAM, "X-Accel-Buffering": "no", "Vary": "Accept"}
    )
    await response.prepare(request)
    return response


def _result(request: web.Request, working: asyncio.Future[Mapping[str, object]]) -> bytes:
    try:
        return _event("hand", working.result())
    except Problem as problem:
        return _event("failed", problem_body(problem))
    except Exception as error:
        return _event("failed", problem_body(unexpected(request, error)))


def _event(name: str, body: Mapping[str, object]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(body, separators=(',', ':'))}\n\n".encode()
