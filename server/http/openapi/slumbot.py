"""OpenAPI: `/api` and `/slumbot/api`, Slumbot's API."""

from __future__ import annotations

from server.http.bodies import JSON_TYPE
from server.http.openapi.parts import CARDS, PROBLEMS, Schema, json_response, one_of, ref


def paths() -> Schema:
    """The operations, by path."""
    operations = {
        "new_hand": ("Deal the next hand, or return the one in progress", "SlumbotNewHand", "SlumbotHand"),
        "act": ("Play k, c, f, or b and the chips on this street", "SlumbotAct", "SlumbotHand"),
        "login": ("Start a session under a name; if keys are required, the password is one", "SlumbotLogin",
                  "SlumbotToken"),
    }  # fmt: skip
    paths: Schema = {}
    for prefix in ("/api", "/slumbot/api"):
        for name, (words, body, result) in operations.items():
            responses = {"200": json_response("The result, or `error_msg`.", one_of(result, "SlumbotError"))}
            for status in (400, 401, 403, 405, 408, 413, 415, 429):
                responses[str(status)] = json_response(PROBLEMS[status], ref("SlumbotError"))
            paths[f"{prefix}/{name}"] = {
                "post": {
                    "operationId": f"{'slumbot' if prefix == '/api' else 'slumbotNew'}_{name}",
                    "tags": ["slumbot"],
                    "summary": words,
                    "requestBody": {
                        "required": name != "new_hand",
                        "content": {JSON_TYPE: {"schema": ref(body)}},
                    },
                    "responses": responses,
                }
            }
    return paths


def schemas() -> Schema:
    """The request and response bodies, by name."""
    token = {"type": "string", "minLength": 1, "maxLength": 256}
    return {
        "SlumbotNewHand": {
            "type": "object",
            "properties": {"token": {"type": ["string", "null"], "minLength": 1, "maxLength": 256}},
        },
        "SlumbotAct": {
            "type": "object",
            "required": ["token", "incr"],
            "properties": {"token": token, "incr": {"type": "string", "minLength": 1, "examples": ["b300"]}},
        },
        "SlumbotLogin": {
            "type": "object",
            "required": ["username", "password"],
            "properties": {
                "username": {"type": "string", "minLength": 1, "maxLength": 64},
                "password": {"type": "string"},
            },
        },
        "SlumbotToken": {"type": "object", "required": ["token"], "properties": {"token": token}},
        "SlumbotError": {
            "type": "object",
            "required": ["error_msg"],
            "properties": {"error_msg": {"type": "string"}},
        },
        "SlumbotHand": {
            "type": "object",
            "required": ["old_action", "action", "client_pos", "hole_cards", "board"],
            "properties": {
                "old_action": {"type": "string"},
                "action": {"type": "string"},
                "client_pos": {"type": "integer", "enum": [0, 1]},
                "hole_cards": CARDS,
                "board": CARDS,
                "token": token,
                "bot_hole_cards": {**CARDS, "description": "when the hand is over"},
                "winnings": {"type": "integer", "description": "when the hand is over"},
                "won_pot": {"type": "integer"},
                "session_num_hands": {"type": "integer"},
                "session_total": {"type": "integer"},
            },
        },
    }
