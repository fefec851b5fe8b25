"""Progress of the bot's decision: as a response, or as server-sent events until the bot has acted.

Progress depends only on public information and on the machine. New board cards are not sent before the hand
is in the store: otherwise a client that saw them could take back its action if a restart lost it.
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
from server.play.table import Thinking

EVERY_SECONDS = 0.1


def wants_events(request: web.Request) -> bool:
    """Whether the client accepts an event stream."""
    return EVENT_STREAM in request.headers.get(hdrs.ACCEPT, "")


def thinking_body(thinking: Thinking | None) -> dict[str, object]:
    """The body of a progress report; all fields but `thinking` are null if the bot is not thinking."""
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
    """Stream `thinking` events while the bot thinks, then `hand`, or `failed` with the problem.

    Errors before the bot starts thinking are raised, as without a stream. The work is completed even if the
    client disconnects, because the action has been played.

    watch  returns the bot's progress
    work   plays the action and returns the hand
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
            await working  # raises errors as without a stream
            response = await _begin(request)
        await response.write(_result(request, working))
    except ConnectionResetError:
        await asyncio.wait([working])  # the client disconnected
        _result(request, working)  # logs unexpected errors
        if response is None:
            raise
    finally:
        working.cancel()  # has an effect only if we were cancelled or failed
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
