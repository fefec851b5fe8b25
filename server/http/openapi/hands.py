"""OpenAPI: `/v1/hands`."""

from __future__ import annotations

from server.http.decide_routes import STREETS
from server.http.hand_routes import MOST_LISTED
from server.http.openapi.parts import (
    BETTING,
    BUDGET,
    CARD,
    CARDS,
    Schema,
    ascii_text,
    operation,
    path,
    query,
    ref,
    request,
)
from server.store.hand_records import Channel


def paths() -> Schema:
    """The operations, by path."""
    return {
        "/v1/hands": {
            "post": operation(
                "newHand",
                "hands",
                "Deal a hand",
                "Without a `session` a new one is started; its token is in the response. The button"
                " alternates between the hands of a session. If a hand of the session is in progress, it is"
                " returned with status 200 instead of 201. With `Accept: text/event-stream` the response"
                " (200) is a stream: `thinking` events with the progress of the bot's first action, then"
                " `hand` or `failed`.",
                {
                    201: ("A new hand; the bot has acted if it is first.", ref("NewHand")),
                    200: ("The hand in progress.", ref("NewHand")),
                },
                body=ref("NewHandRequest"),
                problems=(404,),
                stream=200,
            ),
            "get": operation(
                "listHands",
                "hands",
                "Hands, newest first",
                "Your own hands; an admin sees all hands of all channels. `format=phh` and `format=acpc`"
                " return finished hands as a file. The bot's cards are included only after a showdown.",
                {200: ("A page of hands.", ref("HandList"))},
                parameters=[
                    query("limit", {"type": "integer", "minimum": 1, "maximum": MOST_LISTED}, "page size"),
                    query(
                        "before",
                        {"type": "integer", "minimum": 1, "maximum": 2**53},
                        "the `next` of the previous page",
                    ),
                    query(
                        "finished",
                        {"type": "string", "enum": ["true", "false"]},
                        "only finished or unfinished hands",
                    ),
                    query(
                        "channel",
                        {"type": "string", "enum": [str(c) for c in Channel]},
                        "only hands of this channel",
                    ),
                    _format(),
                ],
                problems=(400,),
                text=True,
            ),
        },
        "/v1/hands/{hand}": {
            "parameters": [path("hand")],
            "get": operation(
                "showHand",
                "hands",
                "One hand",
                "As the opponent may see it: the bot's cards only after a showdown. `format=phh` and"
                " `format=acpc` require a finished hand (else 409).",
                {200: ("The hand.", ref("Hand"))},
                parameters=[_format()],
                problems=(400, 404, 409),
                text=True,
            ),
        },
        "/v1/hands/{hand}/actions": {
            "parameters": [path("hand")],
            "post": operation(
                "act",
                "hands",
                "Play an action",
                "`f`, `c` (also check), or `r` and the total over the hand. The response comes after the"
                " bot's action. Give the `betting` you act on to avoid acting twice: 409 if it has changed."
                " With `Accept: text/event-stream` the response is a stream: `thinking` events with the bot's"
                " progress, then `hand`, or `failed` with a problem.",
                {200: ("The hand after the bot's action.", ref("Hand"))},
                body=ref("ActRequest"),
                problems=(404, 409, 422),
                stream=200,
            ),
        },
        "/v1/hands/{hand}/thinking": {
            "parameters": [path("hand")],
            "get": operation(
                "showThinking",
                "hands",
                "Progress of the bot's decision",
                "The current progress of the decision that this hand waits for. It does not depend on the"
                " bot's cards.",
                {200: ("The progress.", ref("Thinking"))},
                problems=(404,),
            ),
        },
        "/v1/hands/{hand}/thoughts": {
            "parameters": [path("hand")],
            "get": operation(
                "showThoughts",
                "hands",
                "The bot's reasoning",
                "For a finished hand that was started with `explain`: the bot's decisions, with both ranges"
                " and the strategy as 13×13 grids. The hand it held, and that hand's strategy and values, are"
                " included only after a showdown.",
                {200: ("Decisions, in order.", ref("Thoughts"))},
                problems=(404, 409),
            ),
        },
    }


def schemas() -> Schema:
    """The request and response bodies, by name."""
    hand = _hand()
    return {
        "NewHandRequest": request(
            {
                "session": ascii_text(256, "the token of an earlier response"),
                "opponent": {
                    "type": ["string", "null"], "minLength": 1, "maxLength": 64,
                    "description": "your name, printable",
                },
                "budget": BUDGET,
                "explain": {
                    "type": ["boolean", "null"],
                    "description": "store the bot's reasoning, for /v1/hands/{hand}/thoughts",
                },
            }
        ),
        "ActRequest": request(
            {
                "action": {**ascii_text(20, "f, c or r and chips", ["c"]), "type": "string"},
                "betting": BETTING,
            },
            ["action"],
        ),
        "Hand": hand,
        "NewHand": {
            **hand,
            "required": [*hand["required"], "session"],
            "properties": {
                **hand["properties"],
                "session": {"type": "string", "description": "send it to play the next hand"},
            },
        },
        "Thinking": _thinking(),
        "Thoughts": {
            "type": "object",
            "required": ["hand", "shown_down", "thoughts"],
            "properties": {
                "hand": {"type": "string"},
                "shown_down": {"type": "boolean"},
                "thoughts": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": [
                            "number", "betting", "action", "method", "rung", "iterations", "seconds",
                            "details",
                        ],
                        "properties": {
                            "number": {"type": "integer"},
                            "betting": {"type": "string", "description": "before the decision"},
                            "action": {"type": "string"},
                            "method": {"type": "string"},
                            "rung": {"type": "string"},
                            "iterations": {"type": "integer"},
                            "seconds": {"type": "number"},
                            "details": ref("DecisionDetails"),
                        },
                    },
                },
            },
        },
        "HandList": {
            "type": "object",
            "required": ["hands"],
            "properties": {
                "hands": {"type": "array", "items": ref("Hand")},
                "next": {"type": "integer", "description": "`before` of the next page, if there may be one"},
            },
        },
    }  # fmt: skip


def _hand() -> Schema:
    return {
        "type": "object",
        "required": [
            "id", "number", "position", "seat", "hole", "board", "betting", "pot", "your_turn", "legal",
            "finished", "chips", "bot_hole", "matchstate", "started_at", "finished_at",
        ],
        "properties": {
            "id": {"type": "string"},
            "number": {"type": "integer", "description": "in the session"},
            "position": {"type": "integer", "enum": [0, 1], "description": "yours: 0 big blind, 1 button"},
            "seat": {"type": "string", "enum": ["big blind", "button"]},
            "hole": {**CARDS, "description": "your cards"},
            "board": CARDS,
            "betting": {"type": "string", "description": "in ACPC notation"},
            "pot": {"type": "integer"},
            "your_turn": {"type": "boolean"},
            "legal": {
                "type": ["object", "null"],
                "description": "your legal actions; null if it is not your turn",
                "required": ["fold", "to_call", "raise"],
                "properties": {
                    "fold": {"type": "boolean"},
                    "to_call": {"type": "integer"},
                    "raise": {
                        "type": ["object", "null"],
                        "properties": {"least": {"type": "integer"}, "most": {"type": "integer"}},
                    },
                },
            },
            "finished": {"type": "boolean"},
            "chips": {"type": ["integer", "null"], "description": "what you won"},
            "bot_hole": {
                "type": ["array", "null"], "items": CARD, "description": "only after a showdown",
            },
            "matchstate": {"type": "string", "description": "the same as an ACPC line"},
            "started_at": {"type": "string", "format": "date-time"},
            "finished_at": {"type": ["string", "null"], "format": "date-time"},
        },
    }  # fmt: skip


def _thinking() -> Schema:
    properties: Schema = {
        "thinking": {"type": "boolean", "description": "if false, all other fields are null"},
        "street": {"type": ["string", "null"], "enum": [*STREETS, None]},
        "iterations": {
            "type": ["integer", "null"],
            "minimum": 0,
            "description": "iterations of the solve so far; null while it waits for a worker or is being"
            " prepared; restarts if a decision takes a second solve",
        },
        "most_iterations": {
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "after which the bot acts even if there is time left",
        },
        "seconds": {"type": ["number", "null"], "minimum": 0, "description": "time since the start"},
        "seconds_allowed": {"type": ["number", "null"], "minimum": 0, "description": "time limit"},
    }
    return {"type": "object", "required": list(properties), "properties": properties}


def _format() -> Schema:
    return query("format", {"type": "string", "enum": ["json", "phh", "acpc"]}, "phh and acpc return a file")
