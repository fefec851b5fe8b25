"""The OpenAPI 3.1 document of the daemon: what is served at /openapi.json, and told to people at /docs."""

from __future__ import annotations

from functools import cache
from typing import Any

from server.hand_records import Channel
from server.http.bodies import JSON_TYPE, MSGPACK_TYPE
from server.http.decide_routes import STREETS
from server.http.hand_routes import LEAST_BUDGET, MOST_BUDGET, MOST_LISTED
from server.http.problems import PROBLEM_TYPE
from server.http.solve_routes import EVENT_STREAM, MOST_CHIPS, MOST_ITERATIONS
from server.metrics import fathom_version
from server.solve_jobs import MOST_SECONDS, SolveState

Schema = dict[str, Any]

PROBLEMS = {
    400: "The body or the query makes no sense.",
    401: "A key is missing, or nobody has it.",
    403: "The key is not good for this, or the daemon is asked by a foreign name.",
    404: "There is no such thing, or it is somebody else's.",
    405: "That cannot be done here.",
    408: "The body did not arrive in time.",
    409: "The hand has moved on.",
    413: "The body is too large.",
    415: "The body is neither JSON nor msgpack.",
    422: "It can be read, but not done: the rules, or the solver, refuse it.",
    429: "Too many requests of one key, or as many solves as may run are running.",
}

_CARD = {"type": "string", "pattern": "^[2-9TJQKA][cdhs]$", "examples": ["As"]}
_ANY_ID = {"type": "string", "maxLength": 128}
_EVERYWHERE = (401, 403, 429)
_WITH_BODY = (400, 408, 413, 415)


@cache
def openapi() -> Schema:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fathom",
            "version": fathom_version(),
            "description": "A heads-up no-limit hold'em bot: ask it, play it, let it solve. Blinds 50/100,"
            " stacks 20,000, reset every hand. Chips in `betting` and `action` are totals over the hand, as"
            " the ACPC writes them: `r300c/cr450`.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"key": []}],
        "tags": [
            {"name": "decide", "description": "Ask what the bot does. Nothing is kept."},
            {"name": "hands", "description": "Play the bot, and look at what was played."},
            {"name": "pushfold", "description": "All-in or fold with ten big blinds."},
            {"name": "solve", "description": "Solve a spot exactly."},
            {"name": "matches", "description": "Matches on ACPC dealers."},
            {"name": "slumbot", "description": "Slumbot's own API: its clients can play unchanged."},
            {"name": "daemon", "description": "How the daemon is."},
        ],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Needed unless the daemon listens on loopback; see `fathom keys`.",
                }
            },
        },
    }


def _paths() -> Schema:
    slumbot = _slumbot_paths()
    return {
        "/v1/decide": {
            "post": _operation(
                "decide",
                "decide",
                "What the bot does in a hand, and why",
                "Stateless. Give a `matchstate` as an ACPC dealer writes it, or `betting`, `board` and"
                " `hole`. The same `seed` draws the same action from the same strategy.",
                {200: ("The decision.", _ref("Decision"))},
                body=_ref("DecideRequest"),
                problems=(422,),
            )
        },
        "/v1/hands": {
            "post": _operation(
                "newHand",
                "hands",
                "Deal a hand",
                "Without a `session` a new one begins; its token is in the answer. The button alternates from"
                " hand to hand of a session. If a hand of the session is under way, it is answered: 200"
                " instead of 201. With `Accept: text/event-stream` the answer (200) is a stream: `thinking`,"
                " as often as there is news of the bot's first action, then `hand`, or `failed`.",
                {
                    201: ("A new hand; the bot has acted if it is first.", _ref("NewHand")),
                    200: ("The hand under way.", _ref("NewHand")),
                },
                body=_ref("NewHandRequest"),
                problems=(404,),
                stream=200,
            ),
            "get": _operation(
                "listHands",
                "hands",
                "Hands, newest first",
                "Yours; of all channels and everybody for an admin. `format=phh` and `format=acpc` give"
                " finished hands as a file. The bot's cards are shown only if they were shown down.",
                {200: ("A page of hands.", _ref("HandList"))},
                parameters=[
                    _query("limit", {"type": "integer", "minimum": 1, "maximum": MOST_LISTED}, "at most"),
                    _query(
                        "before",
                        {"type": "integer", "minimum": 1, "maximum": 2**53},
                        "where the last page ended: its `next`",
                    ),
                    _query("finished", {"type": "string", "enum": ["true", "false"]}, "only such"),
                    _query("channel", {"type": "string", "enum": [str(c) for c in Channel]}, "only such"),
                    _format(),
                ],
                problems=(400,),
                text=True,
            ),
        },
        "/v1/hands/{hand}": {
            "parameters": [_path("hand")],
            "get": _operation(
                "showHand",
                "hands",
                "One hand",
                "As its opponent may see it: the bot's cards only after a showdown.",
                {200: ("The hand.", _ref("Hand"))},
                parameters=[_format()],
                problems=(400, 404),
                text=True,
            ),
        },
        "/v1/hands/{hand}/actions": {
            "parameters": [_path("hand")],
            "post": _operation(
                "act",
                "hands",
                "Play an action",
                "`f`, `c` (also check), or `r` and the total over the hand. The answer comes after the bot's"
                " action. Give `betting` as you know it to be safe from acting twice: 409 if it moved on."
                " With `Accept: text/event-stream` it is a stream: `thinking`, as often as there is news,"
                " then `hand`, or `failed` with a problem.",
                {200: ("The hand after the bot's answer.", _ref("Hand"))},
                body=_ref("ActRequest"),
                problems=(404, 409, 422),
                stream=200,
            ),
        },
        "/v1/hands/{hand}/thinking": {
            "parameters": [_path("hand")],
            "get": _operation(
                "showThinking",
                "hands",
                "How far the bot is",
                "With the decision that this hand waits for, now. Nothing of it depends on the bot's cards.",
                {200: ("How far.", _ref("Thinking"))},
                problems=(404,),
            ),
        },
        "/v1/hands/{hand}/thoughts": {
            "parameters": [_path("hand")],
            "get": _operation(
                "showThoughts",
                "hands",
                "What the bot was thinking",
                "Of a hand that is over and was begun with `explain`: its decisions with both ranges and the"
                " strategy as 13×13 grids. What it held, and what that hand does and is worth, is told only"
                " after a showdown.",
                {200: ("Decisions, in order.", _ref("Thoughts"))},
                problems=(404, 409),
            ),
        },
        **_push_fold_paths(),
        **_solve_paths(),
        **_match_paths(),
        **slumbot,
        **_daemon_paths(),
    }


def _push_fold_paths() -> Schema:
    return {
        "/v1/pushfold/hands": {
            "post": _operation(
                "dealPushFold",
                "pushfold",
                "Deal a hand",
                "Without a `session`, or with one that nobody knows, a new one begins. A hand must be played"
                " before the next is dealt. In the big blind the bot acts first.",
                {200: ("The hand.", _ref("NewPushFoldHand"))},
                body=_ref("DealPushFold"),
            )
        },
        "/v1/pushfold/actions": {
            "post": _operation(
                "actPushFold",
                "pushfold",
                "All-in or fold",
                "The answer has the result, and what the equilibrium does.",
                {200: ("The hand.", _ref("PushFoldHand"))},
                body=_ref("ActPushFold"),
                problems=(404, 409),
            )
        },
        "/v1/pushfold/chart": {
            "get": _operation(
                "showPushFoldChart",
                "pushfold",
                "The equilibrium",
                "For 169 classes of hands: how often they go all-in, and what that gains over folding, in big"
                " blinds.",
                {200: ("The chart.", {"type": "object"})},
            )
        },
        "/v1/pushfold/report": {
            "get": _operation(
                "reportPushFold",
                "pushfold",
                "What the equilibrium wins from everybody who played here",
                "By position, with the hands that people misplay.",
                {200: ("The report.", {"type": "object"})},
            )
        },
    }


def _push_fold_schemas(cards: Schema) -> Schema:
    flag = {"type": ["boolean", "null"]}
    properties: Schema = {
        "number": {"type": "integer"},
        "position": {"type": "integer", "enum": [0, 1], "description": "yours: 0 big blind, 1 small blind"},
        "seat": {"type": "string"},
        "stack": {"type": "number", "description": "big blinds"},
        "hole": cards,
        "bot_all_in": {**flag, "description": "null if it has not acted"},
        "all_in": {**flag, "description": "what you did"},
        "finished": {"type": "boolean"},
        "bot_hole": {"type": ["array", "null"], "items": _CARD, "description": "if both are all-in"},
        "board": cards,
        "chips": {"type": ["number", "null"], "description": "big blinds you won"},
        "review": {"type": ["object", "null"], "description": "your decision against the equilibrium"},
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
        "DealPushFold": _request({"session": _ascii(256, "the token of an earlier answer")}),
        "ActPushFold": _request(
            {
                "session": token,
                "number": {"type": "integer", "minimum": 0, "maximum": 2**53},
                "action": {"type": "string", "enum": ["allin", "fold"]},
            },
            ["session", "number", "action"],
        ),
    }


def _solve_paths() -> Schema:
    return {
        "/v1/solve": {
            "post": _operation(
                "startSolve",
                "solve",
                "Solve a flop, turn or river spot",
                "Ranges and menus as `fathom solve` has them. With `Accept: text/event-stream` the answer is"
                " the stream of events itself, and the solve is stopped when nobody listens any more.",
                {202: ("It runs.", _ref("Solve"))},
                body=_ref("SolveRequest"),
                problems=(422,),
                stream=200,
            ),
            "get": _operation(
                "listSolves", "solve", "Solves, newest first", "", {200: ("Solves.", _ref("SolveList"))}
            ),
        },
        "/v1/solve/{job}": {
            "parameters": [_path("job")],
            "get": _operation(
                "showSolve",
                "solve",
                "A solve and its result",
                "The result is that of `fathom solve --json`.",
                {200: ("The solve.", _ref("Solve"))},
                problems=(404,),
            ),
            "delete": _operation(
                "cancelSolve",
                "solve",
                "Stop a solve",
                "What is known so far is its result.",
                {200: ("Stopped.", _ref("Solve"))},
                problems=(404,),
            ),
        },
        "/v1/solve/{job}/events": {
            "parameters": [_path("job")],
            "get": _operation(
                "followSolve",
                "solve",
                "Follow a solve",
                "Server-sent events: `solve`, `started`, `progress`, then `result` or `failed`."
                " `Last-Event-ID` goes on where a stream broke off.",
                {},
                problems=(404,),
                stream=200,
            ),
        },
    }


def _match_paths() -> Schema:
    return {
        "/v1/matches": {
            "post": _operation(
                "startMatch",
                "matches",
                "Play on an ACPC dealer",
                "The fields are those of [[match]] in the configuration file.",
                {201: ("We are connecting.", _ref("Match"))},
                body=_ref("MatchRequest"),
            ),
            "get": _operation(
                "listMatches", "matches", "All matches since the start", "",
                {200: ("Matches, the oldest first.", _ref("MatchList"))},
            ),
        },
        "/v1/matches/{match}": {
            "parameters": [_path("match")],
            "get": _operation(
                "showMatch", "matches", "One match", "", {200: ("The match.", _ref("Match"))}, problems=(404,)
            ),
            "delete": _operation(
                "stopMatch",
                "matches",
                "Leave a match",
                "After the decision that is being made.",
                {200: ("We have left.", _ref("Match"))},
                problems=(404,),
            ),
        },
    }  # fmt: skip


def _slumbot_paths() -> Schema:
    operations = {
        "new_hand": ("The next hand, or the one under way", "SlumbotNewHand", "SlumbotHand"),
        "act": ("One action: k, c, f, or b and the chips on this street", "SlumbotAct", "SlumbotHand"),
        "login": ("A session under a name; where keys are needed, the password is one", "SlumbotLogin",
                  "SlumbotToken"),
    }  # fmt: skip
    paths: Schema = {}
    for prefix in ("/api", "/slumbot/api"):
        for name, (words, body, result) in operations.items():
            responses = {
                "200": _json_response("The answer, or `error_msg`.", _one_of(result, "SlumbotError"))
            }
            for status in (400, 401, 403, 405, 408, 413, 415, 429):
                responses[str(status)] = _json_response(PROBLEMS[status], _ref("SlumbotError"))
            paths[f"{prefix}/{name}"] = {
                "post": {
                    "operationId": f"{'slumbot' if prefix == '/api' else 'slumbotNew'}_{name}",
                    "tags": ["slumbot"],
                    "summary": words,
                    "requestBody": {
                        "required": name != "new_hand",
                        "content": {JSON_TYPE: {"schema": _ref(body)}},
                    },
                    "responses": responses,
                }
            }
    return paths


def _daemon_paths() -> Schema:
    status = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
    html = {"text/html": {"schema": {"type": "string"}}}
    limits = {str(code): _problem_response(code) for code in (403, 429)}
    return {
        "/v1/status": {
            "get": _operation(
                "status", "daemon", "Version, workers, matches", "",
                {200: ("How it is.", {"type": "object"})},
            )
        },
        "/v1/events": {
            "get": _operation(
                "followDaemon",
                "daemon",
                "How it is doing, as it happens",
                "Server-sent events: `history`, the last ten minutes, then a `point` every other second:"
                " latency by street and method, margins, queue, workers, fallbacks, matches, memory.",
                {},
                stream=200,
            )
        },
        "/healthz": {
            "get": {
                "operationId": "healthz", "tags": ["daemon"], "summary": "Alive", "security": [{}],
                "responses": {"200": _json_response("It is.", status), **limits},
            }
        },
        "/readyz": {
            "get": {
                "operationId": "readyz", "tags": ["daemon"], "summary": "Able to decide", "security": [{}],
                "responses": {
                    "200": _json_response("A worker is warm.", status),
                    "503": _json_response("Not yet.", status),
                    **limits,
                },
            }
        },
        "/metrics": {
            "get": {
                "operationId": "metrics", "tags": ["daemon"], "summary": "For Prometheus", "security": [{}],
                "responses": {
                    "200": {
                        "description": "Metrics.",
                        "content": {"text/plain": {"schema": {"type": "string"}}},
                    },
                    **limits,
                },
            }
        },
        "/openapi.json": {
            "get": {
                "operationId": "openapi", "tags": ["daemon"], "summary": "This document", "security": [{}],
                "responses": {"200": _json_response("OpenAPI 3.1.", {"type": "object"}), **limits},
            }
        },
        "/docs": {
            "get": {
                "operationId": "docs", "tags": ["daemon"], "summary": "The same for people",
                "security": [{}],
                "responses": {"200": {"description": "A page.", "content": html}, **limits},
            }
        },
    }  # fmt: skip


def _operation(
    name: str,
    tag: str,
    summary: str,
    description: str,
    results: dict[int, tuple[str, Schema]],
    body: Schema | None = None,
    parameters: list[Schema] | None = None,
    problems: tuple[int, ...] = (),
    text: bool = False,
    stream: int = 0,
) -> Schema:
    """One operation; text and stream say in which other forms results come."""
    responses: Schema = {}
    for status, (words, schema) in results.items():
        content = {JSON_TYPE: {"schema": schema}, MSGPACK_TYPE: {"schema": schema}}
        if text:
            content["text/plain"] = {"schema": {"type": "string"}}
        responses[str(status)] = {"description": words, "content": content}
    if stream:
        told = responses.setdefault(str(stream), {"description": "Events, as they happen.", "content": {}})
        told["content"][EVENT_STREAM] = {"schema": {"type": "string"}}
    refused = {*_EVERYWHERE, *problems, *(_WITH_BODY if body is not None else ())}
    responses |= {str(status): _problem_response(status) for status in sorted(refused)}
    operation: Schema = {"operationId": name, "tags": [tag], "summary": summary, "responses": responses}
    if description:
        operation["description"] = description
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {JSON_TYPE: {"schema": body}, MSGPACK_TYPE: {"schema": body}},
        }
    return operation


def _schemas() -> Schema:
    budget = {
        "type": ["number", "null"],
        "minimum": LEAST_BUDGET,
        "maximum": MOST_BUDGET,
        "description": "seconds to think per hand; default: as the daemon is configured",
    }
    betting = {
        "type": ["string", "null"],
        "maxLength": 2048,
        "pattern": "^[\\x00-\\x7f]*$",
        "description": "as the ACPC writes it; raises are totals over the hand",
        "examples": ["r300c/cr450"],
    }
    cards = {"type": "array", "items": _CARD}
    shares = {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}}
    hand = _hand_schema(cards)
    number = {"type": ["number", "null"]}
    return {
        "Problem": {
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
        },
        "DecideRequest": _request(
            {
                "matchstate": _ascii(4096, "as an ACPC dealer sends it", ["MATCHSTATE:1:0::|AsKd"]),
                "betting": betting,
                "board": _ascii(40, "cards", ["Th9c2s"]),
                "hole": _ascii(20, "the cards the player to act holds", ["QhJh"]),
                "budget": budget,
                "seed": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**63 - 1},
                "range": {"type": ["boolean", "null"], "description": "also tell what every other hand does"},
                "explain": {"type": ["boolean", "null"], "description": "also tell all about the solve"},
            },
            examples=[{"matchstate": "MATCHSTATE:1:0::|AsKd"}, {"betting": "", "hole": "AsKd"}],
        ),
        "Decision": {
            "type": "object",
            "required": [
                "action", "hand", "strategy", "range_strategy", "street", "method", "rung", "iterations",
                "seconds", "explanation",
            ],
            "properties": {
                "action": {"type": "string", "description": "drawn from the strategy: f, c or r and chips"},
                "hand": {"type": "string"},
                "strategy": {**shares, "description": "how often this hand takes each action"},
                "range_strategy": {**shares, "description": "how often our whole range does"},
                "street": {"type": "string", "enum": list(STREETS)},
                "method": {"type": "string"},
                "rung": {"type": "string", "enum": ["solved", "best_so_far", "blueprint", "check_fold"]},
                "iterations": {"type": "integer"},
                "seconds": {"type": "number"},
                "explanation": {"type": "string"},
                "details": {
                    "type": ["object", "null"],
                    "description": "if asked for, as `fathom decide --json`: values, exploitability, time by"
                    " phase, and both ranges and the strategy as grids; null if nothing was solved",
                },
                "range": {
                    "type": "object",
                    "description": "if asked for: weight and strategy of every hand we might hold",
                },
            },
        },
        "NewHandRequest": _request(
            {
                "session": _ascii(256, "the token of an earlier answer"),
                "opponent": {
                    "type": ["string", "null"], "minLength": 1, "maxLength": 64,
                    "description": "your name, printable",
                },
                "budget": budget,
                "explain": {
                    "type": ["boolean", "null"],
                    "description": "keep what the bot thinks, for /v1/hands/{hand}/thoughts",
                },
            }
        ),
        "ActRequest": _request(
            {"action": {**_ascii(20, "f, c or r and chips", ["c"]), "type": "string"}, "betting": betting},
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
        "Thinking": _thinking_schema(),
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
                            "details": {
                                "type": "object",
                                "description": "grids: 169 numbers from aces to deuces, suited above the"
                                " diagonal",
                            },
                        },
                    },
                },
            },
        },
        "HandList": {
            "type": "object",
            "required": ["hands"],
            "properties": {
                "hands": {"type": "array", "items": _ref("Hand")},
                "next": {"type": "integer", "description": "`before` of the next page, if there may be one"},
            },
        },
        "SolveRequest": _request(
            {
                "board": {**_ascii(40, "3, 4 or 5 cards", ["AsKd7h4c2s"]), "type": "string"},
                "pot": {"type": "integer", "minimum": 1, "maximum": MOST_CHIPS, "examples": [1000]},
                "stack": {"type": "integer", "minimum": 1, "maximum": MOST_CHIPS, "examples": [9500]},
                "oop": _ascii(8192, "range of the player first to act; default: random", ["QQ+,AKs"]),
                "ip": _ascii(8192, "range of the player in position; default: random"),
                "menu": _ascii(500, "bet sizes", ["50%, 100%, a | 100%, a"]),
                "big_blind": {"type": ["integer", "null"], "minimum": 1, "maximum": MOST_CHIPS},
                "iterations": {"type": ["integer", "null"], "minimum": 1, "maximum": MOST_ITERATIONS},
                "target_pct": {
                    "type": ["number", "null"], "minimum": 0.001, "maximum": 99,
                    "description": "exploitability to stop at, in % of the pot; default: 0.5",
                },
                "seconds": {"type": ["number", "null"], "minimum": 0.01, "maximum": MOST_SECONDS},
                "node": _ascii(500, "which decision the result shows", ["x/b50%"]),
            },
            ["board", "pot", "stack"],
        ),
        "Solve": {
            "type": "object",
            "required": ["id", "state", "started_at", "progress", "detail"],
            "properties": {
                "id": {"type": "string"},
                "state": {"type": "string", "enum": [str(state) for state in SolveState]},
                "started_at": {"type": "string", "format": "date-time"},
                "progress": {
                    "type": ["object", "null"],
                    "properties": {
                        "iterations": {"type": "integer"},
                        "seconds": {"type": "number"},
                        "exploitability_chips": number,
                        "exploitability_pct": number,
                    },
                },
                "detail": {"type": "string", "description": "why it failed"},
                "result": {"type": "object", "description": "as `fathom solve --json` prints it"},
            },
        },
        "SolveList": _list_of("solves", "Solve"),
        "MatchRequest": _request(
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
                "chips": {"type": "integer", "description": "that we won"},
                "mbb_per_hand": {"type": "number"},
            },
        },
        "MatchList": _list_of("matches", "Match"),
        **_push_fold_schemas(cards),
        **_slumbot_schemas(cards),
    }  # fmt: skip


def _thinking_schema() -> Schema:
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


def _hand_schema(cards: Schema) -> Schema:
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
            "hole": {**cards, "description": "your cards"},
            "board": cards,
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
                "type": ["array", "null"], "items": _CARD, "description": "only after a showdown",
            },
            "matchstate": {"type": "string", "description": "the same as an ACPC dealer tells it"},
            "started_at": {"type": "string", "format": "date-time"},
            "finished_at": {"type": ["string", "null"], "format": "date-time"},
        },
    }  # fmt: skip


def _slumbot_schemas(cards: Schema) -> Schema:
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
                "hole_cards": cards,
                "board": cards,
                "token": token,
                "bot_hole_cards": {**cards, "description": "when the hand is over"},
                "winnings": {"type": "integer", "description": "when the hand is over"},
                "won_pot": {"type": "integer"},
                "session_num_hands": {"type": "integer"},
                "session_total": {"type": "integer"},
            },
        },
    }


def _request(
    properties: Schema, required: list[str] | None = None, examples: list[Any] | None = None
) -> Schema:
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    if examples:
        schema["examples"] = examples
    return schema


def _ascii(most: int, words: str, examples: list[str] | None = None) -> Schema:
    schema: Schema = {
        "type": ["string", "null"], "maxLength": most, "pattern": "^[\\x00-\\x7f]*$", "description": words,
    }  # fmt: skip
    return {**schema, "examples": examples} if examples else schema


def _list_of(name: str, schema: str) -> Schema:
    return {
        "type": "object",
        "required": [name],
        "properties": {name: {"type": "array", "items": _ref(schema)}},
    }


def _one_of(*names: str) -> Schema:
    return {"anyOf": [_ref(name) for name in names]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _path(name: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": _ANY_ID}


def _query(name: str, schema: Schema, words: str) -> Schema:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": words}


def _format() -> Schema:
    return _query("format", {"type": "string", "enum": ["json", "phh", "acpc"]}, "phh and acpc give a file")


def _json_response(words: str, schema: Schema) -> Schema:
    return {"description": words, "content": {JSON_TYPE: {"schema": schema}}}


def _problem_response(status: int) -> Schema:
    return {"description": PROBLEMS[status], "content": {PROBLEM_TYPE: {"schema": _ref("Problem")}}}
