"""The middleware around every request: authentication, authorisation, rate limits and error responses.

1. If keys are needed, every path except the open ones requires `Authorization: Bearer KEY` with the path's
   scope. The Slumbot routes authenticate by themselves: their clients cannot send keys, but log in with one.
2. If keys are not needed, because we listen on loopback, the Host header must be an IP address or
   `localhost`: this rejects web pages that point their own name at this machine (DNS rebinding).
3. Errors are sent as problems (`server.http.problems`), and on Slumbot's paths in Slumbot's format.
   Unexpected exceptions become a 500 without details. The log contains their place but not their message,
   which may contain cards.
"""

from __future__ import annotations

import ipaddress
import logging
import traceback
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager

from aiohttp import hdrs, web

from server.config.keys import KeyRing, Scope
from server.http.context import KEYS, LIMITER, Caller, caller, remember_caller
from server.http.problems import Problem, problem_response
from server.http.web_routes import PAGES

_LOG = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json", "/docs", "/metrics", *PAGES})
OPEN_PREFIX = "/web/"
SLUMBOT_PREFIXES = ("/api/", "/slumbot/api/")

_SCOPES = {
    "/v1/decide": Scope.PLAY,
    "/v1/hands": Scope.PLAY,
    "/v1/pushfold": Scope.PLAY,
    "/v1/solve": Scope.SOLVE,
}
"""Required scope by path prefix; all other paths require `admin`."""


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Authenticate and count a request, handle it, and turn exceptions into responses."""
    try:
        with _admitted(request):
            return await handler(request)
    except Problem as problem:
        return _refusal(request, problem)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        kept = {name: value for name, value in error.headers.items() if name == hdrs.ALLOW}
        return _refusal(request, Problem(error.status, _words(request, error), headers=kept))
    except ConnectionResetError:
        raise  # the client disconnected
    except Exception as error:
        return _refusal(request, unexpected(request, error))


def unexpected(request: web.Request, error: Exception) -> Problem:
    """The problem sent for an unexpected exception, which is logged."""
    where = "".join(traceback.format_tb(error.__traceback__))
    # Log the route, not the path: a path may contain a hand's id, which is enough to play the hand.
    resource = request.match_info.route.resource
    place = "nowhere" if resource is None else resource.canonical
    _LOG.error("%s %s failed: %s\n%s", request.method, place, type(error).__name__, where)
    return Problem(500, "internal error: see the daemon's log")


async def seal(_request: web.Request, response: web.StreamResponse) -> None:
    """Set headers on every response: no caching, no content sniffing, no server version."""
    response.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers[hdrs.SERVER] = "fathom"


def find_key(keys: KeyRing, request: web.Request, scope: Scope) -> Caller:
    """Authenticate by the key in the request's header; raises `Problem` 401 or 403."""
    kind, _, secret = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    challenge = {"WWW-Authenticate": 'Bearer realm="fathom"'}
    if not secret or kind.lower() != "bearer":
        raise Problem(401, "send a key: Authorization: Bearer KEY", "key-missing", challenge)
    key = keys.find(secret.strip())
    if key is None:
        raise Problem(401, "this key is unknown or was revoked", "key-unknown", challenge)
    if not key.may(scope):
        raise Problem(403, f"the key of {key.name} lacks the scope {scope}", "scope-missing")
    return Caller(key.name, key.may(Scope.ADMIN))


def _admitted(request: web.Request) -> AbstractContextManager[None]:
    """Authenticate the client and count the request; raises `Problem`."""
    keys, path = request.app[KEYS], request.path
    if keys is None:
        _verify_host(request)
        remember_caller(request, Caller("", is_admin=True))
    elif path in OPEN_PATHS or path.startswith((OPEN_PREFIX, *SLUMBOT_PREFIXES)):
        remember_caller(request, Caller("", is_admin=False))
    else:
        remember_caller(request, find_key(keys, request, _scope(path)))
    return request.app[LIMITER].request(caller(request).name or f"from {request.remote}")


def _scope(path: str) -> Scope:
    for beginning, scope in _SCOPES.items():
        if path == beginning or path.startswith(beginning + "/"):
            return scope
    return Scope.ADMIN


def _verify_host(request: web.Request) -> None:
    host = request.headers.get(hdrs.HOST, "")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and ":" in host else host
    if name in {"", "localhost"}:
        return
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        raise Problem(
            403, "this daemon listens on loopback: address it as 127.0.0.1 or localhost", "wrong-host"
        ) from None


def _words(request: web.Request, error: web.HTTPException) -> str:
    if error.status == 404:
        return f"no resource at {request.path[:100]}: see /docs"
    if error.status == 405:
        return f"{request.method} is not allowed here: use {error.headers.get(hdrs.ALLOW, '')}"
    return error.reason


def _refusal(request: web.Request, problem: Problem) -> web.Response:
    if request.path.startswith(SLUMBOT_PREFIXES):
        return web.json_response(
            {"error_msg": problem.detail}, status=problem.status, headers=problem.headers
        )
    return problem_response(problem)
