"""`/v1/solve`: start, follow and cancel solves."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from aiohttp import hdrs, web

from server.http import fields as read
from server.http.bodies import answer, read_fields
from server.http.context import SOLVES, caller
from server.http.problems import Problem
from server.solves.input import read_limits, read_spot
from server.solves.jobs import MOST_SECONDS, SolveBusyError, SolveJob, SolveRequest

MOST_CHIPS = 1_000_000_000
MOST_ITERATIONS = 1_000_000
EVENT_STREAM = "text/event-stream"

_KEEP_ALIVE_SECONDS = 10.0
_FIELDS = {
    "board", "pot", "stack", "oop", "ip", "menu", "big_blind", "iterations", "target_pct", "seconds", "node",
}  # fmt: skip
_JOB_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def add_solve_routes(app: web.Application) -> None:
    """Add `/v1/solve` and its sub-routes."""
    app.router.add_post("/v1/solve", start_solve)
    app.router.add_get("/v1/solve", list_solves)
    app.router.add_get("/v1/solve/{job}", show_solve)
    app.router.add_delete("/v1/solve/{job}", cancel_solve)
    app.router.add_get("/v1/solve/{job}/events", follow_solve)


async def start_solve(request: web.Request) -> web.StreamResponse:
    """Start a solve; with `Accept: text/event-stream` stream its events, and cancel it on disconnect."""
    wanted = _read(await read_fields(request))
    await asyncio.to_thread(_verify, wanted)
    try:
        job = request.app[SOLVES].start(wanted, caller(request).name)
    except SolveBusyError as error:
        raise Problem(429, str(error), "busy", {"Retry-After": "5"}) from None
    if EVENT_STREAM in request.headers.get(hdrs.ACCEPT, ""):
        try:
            return await _stream(request, job, 0)
        finally:
            if not job.is_over:  # the client disconnected
                await asyncio.shield(request.app[SOLVES].cancel(job))
    return answer(request, _job_body(job), 202, {"Location": f"/v1/solve/{job.id}"})


async def list_solves(request: web.Request) -> web.Response:
    """List the kept solves, newest first, without their results."""
    jobs = request.app[SOLVES].list(caller(request).owner)
    return answer(request, {"solves": [_job_body(job) for job in jobs]})


async def show_solve(request: web.Request) -> web.Response:
    """Show the state of a solve, with its result if there is one."""
    job = _find(request)
    body = _job_body(job)
    if job.result is not None:
        body["result"] = json.loads(job.result)
    return answer(request, body)


async def cancel_solve(request: web.Request) -> web.Response:
    """Stop a solve; the best solution so far is its result."""
    job = _find(request)
    await request.app[SOLVES].cancel(job)
    return answer(request, _job_body(job))


async def follow_solve(request: web.Request) -> web.StreamResponse:
    """Stream a solve's events; `Last-Event-ID` resumes an interrupted stream."""
    job = _find(request)
    last = request.headers.get("Last-Event-ID", "0")
    return await _stream(request, job, int(last) if re.fullmatch(r"[0-9]{1,9}", last) else 0)


async def _stream(request: web.Request, job: SolveJob, since: int) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"Content-Type": EVENT_STREAM, "X-Accel-Buffering": "no", "Location": f"/v1/solve/{job.id}"}
    )
    await response.prepare(request)
    await response.write(_event(0, "solve", json.dumps(_job_body(job))))
    events = job.follow(since)
    following: asyncio.Future[tuple[int, dict[str, Any]]] = asyncio.ensure_future(anext(events))
    try:
        while True:
            done, _ = await asyncio.wait([following], timeout=_KEEP_ALIVE_SECONDS)
            if not done:
                await response.write(b": still solving\n\n")
                continue
            try:
                number, event = following.result()
            except StopAsyncIteration:
                break
            await response.write(_event(number, event["event"], _event_text(job, event)))
            following = asyncio.ensure_future(anext(events))
    except ConnectionResetError:
        pass  # the client disconnected
    finally:
        following.cancel()
    return response


def _event(number: int, name: str, text: str) -> bytes:
    return f"id: {number}\nevent: {name}\ndata: {text}\n\n".encode()


def _event_text(job: SolveJob, event: Mapping[str, Any]) -> str:
    if event["event"] == "result" and job.result is not None:
        return f'{{"state":"{event["state"]}","result":{job.result.decode()}}}'
    return json.dumps({name: value for name, value in event.items() if name != "event"})


def _read(fields: Mapping[str, object]) -> SolveRequest:
    read.refuse_unknown(fields, _FIELDS)
    ranges = {}
    for seat in ("oop", "ip"):
        ranges[seat] = read.text(fields, seat, 8192)
        if (ranges[seat] or "").lstrip().startswith("@"):
            raise Problem(400, f"{seat}: files cannot be read over HTTP: give the range itself", "bad-field")
    pot, stack = read.whole(fields, "pot", 1, MOST_CHIPS), read.whole(fields, "stack", 1, MOST_CHIPS)
    if pot is None or stack is None:
        raise Problem(400, f"{'pot' if pot is None else 'stack'}: is missing", "bad-field")
    return SolveRequest(
        board=read.needed_text(fields, "board", 40),
        pot=str(pot),
        stack=str(stack),
        oop=ranges["oop"],
        ip=ranges["ip"],
        menu=read.text(fields, "menu", 500),
        big_blind=_text(read.whole(fields, "big_blind", 1, MOST_CHIPS)),
        iterations=_text(read.whole(fields, "iterations", 1, MOST_ITERATIONS)),
        target=_text(read.number(fields, "target_pct", 0.001, 99)),
        seconds=_text(read.number(fields, "seconds", 0.01, MOST_SECONDS)),
        node=read.text(fields, "node", 500) or "root",
    )


def _verify(wanted: SolveRequest) -> None:
    """Reject invalid boards, ranges, menus and limits before a process is started."""
    options = SimpleNamespace(**wanted.options())
    try:
        read_spot(options)  # type: ignore[arg-type]
        read_limits(options)  # type: ignore[arg-type]
    except ValueError as error:
        raise Problem(422, str(error).replace("--", ""), "bad-spot") from None


def _text(value: float | None) -> str | None:
    return None if value is None else f"{value:.10g}"


def _job_body(job: SolveJob) -> dict[str, Any]:
    progress = job.progress
    return {
        "id": job.id,
        "state": str(job.state),
        "started_at": datetime.fromtimestamp(job.started_at, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z"),
        "progress": None
        if progress is None
        else {name: value for name, value in progress.items() if name != "event"},
        "detail": job.detail,
    }


def _find(request: web.Request) -> SolveJob:
    job_id = request.match_info["job"]
    job = request.app[SOLVES].find(job_id, caller(request).owner) if _JOB_ID.fullmatch(job_id) else None
    if job is None:
        raise Problem(404, "no such solve, or it is no longer kept", "unknown-solve")
    return job
