"""OpenAPI: `/v1/pushfold`."""

from __future__ import annotations

from server.http.openapi.parts import CARD, CARDS, Schema, ascii_text, operation, ref, request


def paths() -> Schema:
    """The operations, by path."""
    return {
        "/v1/pushfold/hands": {
            "post": operation(
                "dealPushFold",
                "pushfold",
                "Deal a hand",
                "Without a `session`, or with an unknown one, a new one is started. A hand must be finished"
                " before the next one is dealt. If you are the big blind, the bot acts first.",
                {200: ("The hand.", ref("NewPushFoldHand"))},
                body=ref("DealPushFold"),
            )
        },
        "/v1/pushfold/actions": {
            "post": operation(
                "actPushFold",
                "pushfold",
                "All-in or fold",
                "The response contains the result, and what the equilibrium does.",
                {200: ("The hand.", ref("PushFoldHand"))},
                body=ref("ActPushFold"),
                problems=(404, 409),
            )
        },
        "/v1/pushfold/chart": {
            "get": operation(
                "showPushFoldChart",
                "pushfold",
                "The equilibrium",
                "For 169 hand classes: how often they go all-in, and what that gains over folding, in big"
                " blinds.",
                {200: ("The chart.", {"type": "object"})},
            )
        },
        "/v1/pushfold/report": {
            "get": operation(
                "reportPushFold",
                "pushfold",
                "What the equilibrium wins from everybody who played here",
                "By position, with the hands that people misplay.",
                {200: ("The report.", {"type": "object"})},
            )
        },
    }


def schemas() -> Schema:
    """The request and response bodies, by name."""
    flag = {"type": ["boolean", "null"]}
    properties: Schema = {
        "number": {"type": "integer"},
        "position": {"type": "integer", "enum": [0, 1], "description": "yours: 0 big blind, 1 small blind"},
        "seat": {"type": "string"},
        "stack": {"type": "number", "description": "big blinds"},
        "hole": CARDS,
        "bot_all_in": {**flag, "description": "null if the bot has not acted"},
        "all_in": {**flag, "description": "your action; null if you have not acted"},
        "finished": {"type": "boolean"},
        "bot_hole": {"type": ["array", "null"], "items": CARD, "description": "if both are all-in"},
        "board": CARDS,
        "chips": {"type": ["number", "null"], "description": "big blinds you won"},
        "review": {"type": ["object", "null"], "description": "your decision compared with the equilibrium"},
    }
    hand = {"type": "object", "required": list(properties), "properties": properties}
    token = {"type": "string", "maxLength": 256, "pattern": "^[\\x00-\\x7f]*$"}
    return {
        "PushFoldHand": hand,
        "NewPushFoldHand": {
            **hand,
            "required": [*properties, "session"],
            "properties": {**properties, "session": {"type": "string"}},
        },
        "DealPushFold": request({"session": ascii_text(256, "the token of an earlier response")}),
        "ActPushFold": request(
            {
                "session": token,
                "number": {"type": "integer", "minimum": 0, "maximum": 2**53},
                "action": {"type": "string", "enum": ["allin", "fold"]},
            },
            ["session", "number", "action"],
        ),
    }
