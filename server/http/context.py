"""Typed keys of the objects that the API's handlers find in the application and in a request."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from server.config.keys import KeyRing
from server.http.limits import RateLimiter
from server.play.push_fold_table import PushFoldTable
from server.play.table import Table
from server.solves.jobs import SolveJobs
from server.store.hand_store import HandStore

STORE = web.AppKey("store", HandStore)
TABLE = web.AppKey("table", Table)
PUSH_FOLD = web.AppKey("push_fold", PushFoldTable)
SOLVES = web.AppKey("solves", SolveJobs)
KEYS: web.AppKey[KeyRing | None] = web.AppKey("keys")
"""None if no key is needed."""
LIMITER = web.AppKey("limiter", RateLimiter)


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated client."""

    name: str
    """Name of its key; empty if none is needed or none was given."""
    is_admin: bool

    @property
    def owner(self) -> str | None:
        """The owner whose hands the caller may see; None: all owners."""
        return None if self.is_admin else self.name


_CALLER = web.RequestKey("caller", Caller)


def caller(request: web.Request) -> Caller:
    """The client that the guard authenticated."""
    return request[_CALLER]


def remember_caller(request: web.Request, found: Caller) -> None:
    """Store the client for `caller`."""
    request[_CALLER] = found
