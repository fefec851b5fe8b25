"""The daemon's OpenAPI 3.1 document, served at /openapi.json and as a page at /docs."""

from __future__ import annotations

from functools import cache

from server.http.openapi import daemon, decide, hands, matches, push_fold, slumbot, solve
from server.http.openapi.parts import Schema
from solver.version import fathom_version

__all__ = ["openapi"]

_PROBLEM = {
    "type": "object",
    "description": "RFC 9457",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what is wrong, and what to do"},
        "code": {"type": "string", "description": "a short name for programs"},
    },
}


@cache
def openapi() -> Schema:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fathom",
            "version": fathom_version(),
            "description": "A heads-up no-limit hold'em bot: query its decisions, play against it, solve"
            " spots. Blinds 50/100, stacks 20,000, reset every hand. Chips in `betting` and `action` are"
            " totals over the hand, in ACPC notation: `r300c/cr450`.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"key": []}],
        "tags": [
            {"name": "decide", "description": "Ask what the bot does. Stateless."},
            {"name": "hands", "description": "Play against the bot, and list and export hands."},
            {"name": "pushfold", "description": "All-in or fold with ten big blinds."},
            {"name": "solve", "description": "Solve a spot exactly."},
            {"name": "matches", "description": "Matches on ACPC dealers."},
            {"name": "slumbot", "description": "Slumbot's API: its clients can play unchanged."},
            {"name": "daemon", "description": "Status, metrics and documentation of the daemon."},
        ],
        "paths": {
            **decide.paths(),
            **hands.paths(),
            **push_fold.paths(),
            **solve.paths(),
            **matches.paths(),
            **slumbot.paths(),
            **daemon.paths(),
        },
        "components": {
            "schemas": {
                "Problem": _PROBLEM,
                **decide.schemas(),
                **hands.schemas(),
                **solve.schemas(),
                **matches.schemas(),
                **push_fold.schemas(),
                **slumbot.schemas(),
            },
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Required unless the daemon listens on loopback; see `fathom keys`.",
                }
            },
        },
    }
