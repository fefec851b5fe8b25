"""Error responses as RFC 9457 `application/problem+json`, never with a stack trace."""

from __future__ import annotations

import json
from http import HTTPStatus

from aiohttp import web

PROBLEM_TYPE = "application/problem+json"

CODES = {
    "bad-request": "The request is invalid; `detail` says why.",
    "bad-field": "A field of the body is missing, unknown or invalid.",
    "bad-query": "A query parameter is invalid.",
    "not-json": "The body is declared as JSON but cannot be parsed.",
    "not-msgpack": "The body is declared as msgpack but cannot be parsed.",
    "too-deep": "The body is nested too deeply.",
    "bad-match": "The match cannot be started: a key of `[[match]]` is invalid.",
    "key-missing": "This daemon requires a key: send `Authorization: Bearer KEY`.",
    "key-unknown": "The key is unknown or was revoked.",
    "unauthorized": "The session is unknown: start a new one.",
    "scope-missing": "The key lacks the required scope: use one that has it.",
    "wrong-host": "A daemon on loopback must be addressed as `localhost` or by its IP address.",
    "not-found": "There is no resource at this address.",
    "unknown-hand": "There is no such hand, or it belongs to another key.",
    "unknown-session": "There is no such session, or it belongs to another key.",
    "unknown-solve": "There is no such solve, or it is no longer kept.",
    "unknown-match": "There is no such match.",
    "method-not-allowed": "The method is not allowed here; the header `Allow` lists those that are.",
    "request-timeout": "The body did not arrive in time: send it again.",
    "moved-on": "The hand has changed since you read it: read it again.",
    "not-over": "The hand is still in progress: this is available when it is over.",
    "request-entity-too-large": "The body is too large.",
    "unsupported-media-type": "The body is neither JSON nor msgpack, or its Content-Type is missing.",
    "bad-state": "The betting or the cards are illegal.",
    "not-our-turn": "It is the other player's turn, or nobody's.",
    "illegal-action": "The action is illegal.",
    "bad-spot": "This spot cannot be solved: `detail` says why.",
    "busy": "The maximum number of solves is running: try again later.",
    "too-many-at-once": "Too many concurrent requests with this key.",
    "too-many-requests": "Too many requests with this key: `Retry-After` says when to try again.",
    "internal-server-error": "An internal error; the daemon's log has the details.",
}
"""Every problem's code and meaning; `/docs` has an anchor for each."""

_NO_TYPE = "about:blank"
"""RFC 9457: the problem has no meaning beyond its status."""


class Problem(Exception):  # noqa: N818 - RFC 9457's own word
    """An error response; raised by handlers, sent by `server.http.guard`."""

    def __init__(
        self, status: int, detail: str, code: str = "", headers: dict[str, str] | None = None, **more: object
    ) -> None:
        """Create a problem.

        detail  what is wrong and what to do
        code    a short name for programs; default: the status phrase
        """
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.code = code or HTTPStatus(status).phrase.lower().replace(" ", "-")
        self.headers = headers or {}
        self.more = more


def bad_request(detail: str, code: str = "") -> Problem:
    """Status 400: the body or the query is invalid."""
    return Problem(400, detail, code)


def problem_body(problem: Problem) -> dict[str, object]:
    """The body of a problem's response."""
    return {
        "type": f"/docs#{problem.code}" if problem.code in CODES else _NO_TYPE,
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        **problem.more,
    }


def problem_response(problem: Problem) -> web.Response:
    """The response for a problem."""
    return web.Response(
        body=json.dumps(problem_body(problem)).encode(),
        status=problem.status,
        headers={"Content-Type": PROBLEM_TYPE, **problem.headers},
    )
