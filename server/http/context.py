"""What the handlers of the API find in the application and in a request."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from server.hand_store import HandStore
from server.http.limits import RateLimiter
from server.keys import KeyRing
from server.push_fold_table import PushFoldTable
from server.solve_jobs import SolveJobs
from server.table import Table

STORE = web.AppKey("store", HandStore)
TABLE = web.AppKey("table", Table)
PUSH_FOLD = web.AppKey("push_fold", PushFoldTable)
SOLVES = web.AppKey("solves", SolveJobs)
KEYS: web.AppKey[KeyRing | None] = web.AppKey("keys")
"""None: nobody needs a key."""
LIMITER = web.AppKey("limiter", RateLimiter)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks."""

    name: str
    """Of the key; empty where none is needed, or none was given."""
    is_admin: bool

    @property
    def owner(self) -> str | None:
        """Whose hands are his: None for everybody's."""
        return None if self.is_admin else self.name


_CALLER = web.RequestKey("caller", Caller)


def caller(request: web.Request) -> Caller:
    """Who asks, as the guard found out."""
    return request[_CALLER]


def remember_caller(request: web.Request, found: Caller) -> None:
    """For `caller`."""
    request[_CALLER] = found
