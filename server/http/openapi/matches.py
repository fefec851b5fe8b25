"""OpenAPI: `/v1/matches`."""

from __future__ import annotations

from server.http.openapi.parts import Schema, list_of, operation, path, ref, request


def paths() -> Schema:
    """The operations, by path."""
    return {
        "/v1/matches": {
            "post": operation(
                "startMatch",
                "matches",
                "Play on an ACPC dealer",
                "The fields are those of [[match]] in the configuration file.",
                {201: ("Connecting to the dealer.", ref("Match"))},
                body=ref("MatchRequest"),
            ),
            "get": operation(
                "listMatches", "matches", "All matches since the start", "",
                {200: ("Matches, oldest first.", ref("MatchList"))},
            ),
        },
        "/v1/matches/{match}": {
            "parameters": [path("match")],
            "get": operation(
                "showMatch", "matches", "One match", "", {200: ("The match.", ref("Match"))}, problems=(404,)
            ),
            "delete": operation(
                "stopMatch",
                "matches",
                "Leave a match",
                "Leaves after the decision in progress.",
                {200: ("The match has ended.", ref("Match"))},
                problems=(404,),
            ),
        },
    }  # fmt: skip


def schemas() -> Schema:
    """The request and response bodies, by name."""
    return {
        "MatchRequest": request(
            {
                "host": {"type": "string", "maxLength": 253, "pattern": "^[ -~]+$"},
                "port": {"type": "integer", "minimum": 1, "maximum": 65535},
                "name": {"type": "string", "maxLength": 64, "pattern": "^[ -~]*$"},
                "game": {"type": "string", "maxLength": 64, "pattern": "^[ -~]*$"},
                "hands": {"type": "integer", "minimum": 0},
                "budget": {"type": "number", "minimum": 0, "maximum": 3600},
                "wait_seconds": {"type": "number", "minimum": 0, "maximum": 86400},
            },
            ["host", "port"],
        ),
        "Match": {
            "type": "object",
            "required": ["match", "opponent", "state", "hands", "chips", "mbb_per_hand"],
            "properties": {
                "match": {"type": "string"},
                "opponent": {"type": "string"},
                "state": {"type": "string"},
                "hands": {"type": "integer"},
                "chips": {"type": "integer", "description": "chips we won"},
                "mbb_per_hand": {"type": "number"},
            },
        },
        "MatchList": list_of("matches", "Match"),
    }
