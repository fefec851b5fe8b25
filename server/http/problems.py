"""What is wrong with a request, told as RFC 9457 `application/problem+json`. Never a stack trace."""

from __future__ import annotations

import json
from http import HTTPStatus

from aiohttp import web

PROBLEM_TYPE = "application/problem+json"

CODES = {
    "bad-request": "The request makes no sense; `detail` says why.",
    "bad-field": "A field of the body is missing, unknown, or holds what it must not.",
    "bad-query": "A parameter of the query holds what it must not.",
    "not-json": "The body says that it is JSON, and is not.",
    "not-msgpack": "The body says that it is msgpack, and is not.",
    "too-deep": "The body is nested too deep.",
    "bad-match": "No match can be played with this: a key of `[[match]]` is wrong.",
    "key-missing": "This daemon wants a key: send `Authorization: Bearer KEY`.",
    "key-unknown": "Nobody has this key, or it was revoked.",
    "unauthorized": "The session is not known: begin another.",
    "scope-missing": "The key is not good for this: ask for one with another scope.",
    "wrong-host": "A daemon on loopback must be asked by `localhost` or a number.",
    "not-found": "There is nothing at this address.",
    "unknown-hand": "There is no such hand, or it is somebody else's.",
    "unknown-session": "There is no such session, or it is somebody else's.",
    "unknown-solve": "There is no such solve, or it is forgotten.",
    "unknown-match": "There is no such match.",
    "method-not-allowed": "That cannot be done here; the header `Allow` says what can.",
    "request-timeout": "The body did not arrive in time: send it again.",
    "moved-on": "The hand is not where you think: get it again.",
    "not-over": "The hand is under way: this can be had when it is over.",
    "request-entity-too-large": "The body is too large.",
    "unsupported-media-type": "The body is neither JSON nor msgpack, or does not say so.",
    "bad-state": "Betting or cards are against the rules.",
    "not-our-turn": "Somebody else acts here, or nobody does.",
    "illegal-action": "The rules do not allow this action.",
    "bad-spot": "This spot cannot be solved: `detail` says why.",
    "busy": "As many solves as may run are running: try again later.",
    "too-many-at-once": "Too many requests of this key are under way.",
    "too-many-requests": "This key asks too often: `Retry-After` says when to ask again.",
    "internal-server-error": "Something went wrong in the daemon; its log tells.",
}
"""Every problem's short name for programs, and what it means; `/docs` has an anchor for each."""

_NO_TYPE = "about:blank"
"""RFC 9457: there is no more to say than the status."""


class Problem(Exception):  # noqa: N818 - RFC 9457's own word
    """A refusal; raised by handlers, answered by `server.http.guard`."""

    def __init__(
        self, status: int, detail: str, code: str = "", headers: dict[str, str] | None = None, **more: object
    ) -> None:
        """Detail: what is wrong and what to do. Code: a short name of the problem for programs."""
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.code = code or HTTPStatus(status).phrase.lower().replace(" ", "-")
        self.headers = headers or {}
        self.more = more


def bad_request(detail: str, code: str = "") -> Problem:
    """400: the body or the query makes no sense."""
    return Problem(400, detail, code)


def problem_body(problem: Problem) -> dict[str, object]:
    """What is told of a problem."""
    return {
        "type": f"/docs#{problem.code}" if problem.code in CODES else _NO_TYPE,
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        **problem.more,
    }


def problem_response(problem: Problem) -> web.Response:
    """The answer that tells of a problem."""
    return web.Response(
        body=json.dumps(problem_body(problem)).encode(),
        status=problem.status,
        headers={"Content-Type": PROBLEM_TYPE, **problem.headers},
    )
