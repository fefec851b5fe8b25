"""`/v1/hands`: playing the bot, and looking at what was played."""

from __future__ import annotations

from server.hand_records import Channel
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


def paths() -> Schema:
    """What can be asked, by path."""
    return {
        "/v1/hands": {
            "post": operation(
                "newHand",
                "hands",
                "Deal a hand",
                "Without a `session` a new one begins; its token is in the answer. The button alternates from"
                " hand to hand of a session. If a hand of the session is under way, it is answered: 200"
                " instead of 201. With `Accept: text/event-stream` the answer (200) is a stream: `thinking`,"
                " as often as there is news of the bot's first action, then `hand`, or `failed`.",
                {
                    201: ("A new hand; the bot has acted if it is first.", ref("NewHand")),
                    200: ("The hand under way.", ref("NewHand")),
                },
                body=ref("NewHandRequest"),
                problems=(404,),
                stream=200,
            ),
            "get": operation(
                "listHands",
                "hands",
                "Hands, newest first",
                "Yours; of all channels and everybody for an admin. `format=phh` and `format=acpc` give"
                " finished hands as a file. The bot's cards are shown only if they were shown down.",
                {200: ("A page of hands.", ref("HandList"))},
                parameters=[
                    query("limit", {"type": "integer", "minimum": 1, "maximum": MOST_LISTED}, "at most"),
                    query(
                        "before",
                        {"type": "integer", "minimum": 1, "maximum": 2**53},
                        "where the last page ended: its `next`",
                    ),
                    query("finished", {"type": "string", "enum": ["true", "false"]}, "only such"),
                    query("channel", {"type": "string", "enum": [str(c) for c in Channel]}, "only such"),
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
                "As its opponent may see it: the bot's cards only after a showdown. `format=phh` and"
                " `format=acpc` need a hand that is over: 409 if it is not.",
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
                "`f`, `c` (also check), or `r` and the total over the hand. The answer comes after the bot's"
                " action. Give `betting` as you know it to be safe from acting twice: 409 if it moved on."
                " With `Accept: text/event-stream` it is a stream: `thinking`, as often as there is news,"
                " then `hand`, or `failed` with a problem.",
                {200: ("The hand after the bot's answer.", ref("Hand"))},
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
                "How far the bot is",
                "With the decision that this hand waits for, now. Nothing of it depends on the bot's cards.",
                {200: ("How far.", ref("Thinking"))},
                problems=(404,),
            ),
        },
        "/v1/hands/{hand}/thoughts": {
            "parameters": [path("hand")],
            "get": operation(
                "showThoughts",
                "hands",
                "What the bot was thinking",
                "Of a hand that is over and was begun with `explain`: its decisions with both ranges and the"
                " strategy as 13×13 grids. What it held, and what that hand does and is worth, is told only"
                " after a showdown.",
                {200: ("Decisions, in order.", ref("Thoughts"))},
                problems=(404, 409),
            ),
        },
    }


def schemas() -> Schema:
    """What is sent and answered, by name."""
    hand = _hand()
    return {
        "NewHandRequest": request(
            {
                "session": ascii_text(256, "the token of an earlier answer"),
                "opponent": {
                    "type": ["string", "null"], "minLength": 1, "maxLength": 64,
                    "description": "your name, printable",
                },
                "budget": BUDGET,
                "explain": {
                    "type": ["boolean", "null"],
                    "description": "keep what the bot thinks, for /v1/hands/{hand}/thoughts",
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
                            "betting": {"type": "string", "description": "before it"},
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
            "betting": {"type": "string", "description": "as the ACPC writes it"},
            "pot": {"type": "integer"},
            "your_turn": {"type": "boolean"},
            "legal": {
                "type": ["object", "null"],
                "description": "what you may do; null if it is not your turn",
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
            "matchstate": {"type": "string", "description": "the same as an ACPC dealer tells it"},
            "started_at": {"type": "string", "format": "date-time"},
            "finished_at": {"type": ["string", "null"], "format": "date-time"},
        },
    }  # fmt: skip


def _thinking() -> Schema:
    properties: Schema = {
        "thinking": {"type": "boolean", "description": "whether it is; if not, the rest is null"},
        "street": {"type": ["string", "null"], "enum": [*STREETS, None]},
        "iterations": {
            "type": ["integer", "null"],
            "minimum": 0,
            "description": "of the solve so far; null while it waits for a worker, or prepares. They begin"
            " anew if a decision takes a second solve",
        },
        "most_iterations": {
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "after which it acts even if there is time left",
        },
        "seconds": {"type": ["number", "null"], "minimum": 0, "description": "since it began"},
        "seconds_allowed": {"type": ["number", "null"], "minimum": 0, "description": "after which it acts"},
    }
    return {"type": "object", "required": list(properties), "properties": properties}


def _format() -> Schema:
    return query("format", {"type": "string", "enum": ["json", "phh", "acpc"]}, "phh and acpc give a file")
