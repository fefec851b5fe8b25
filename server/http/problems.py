"""What is wrong with a request, told as RFC 9457 `application/problem+json`. Never a stack trace."""

from __future__ import annotations

import json
from http import HTTPStatus

from aiohttp import web

PROBLEM_TYPE = "application/problem+json"


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
        "type": f"/docs#{problem.code}",
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
