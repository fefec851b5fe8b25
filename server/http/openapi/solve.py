"""OpenAPI: `/v1/solve`."""

from __future__ import annotations

from server.http.openapi.parts import Schema, ascii_text, list_of, operation, path, ref, request
from server.http.solve_routes import MOST_CHIPS, MOST_ITERATIONS
from server.solves.jobs import MOST_SECONDS, SolveState
from solver.decisions.convergence import CONVERGED_PCT


def paths() -> Schema:
    """The operations, by path."""
    return {
        "/v1/solve": {
            "post": operation(
                "startSolve",
                "solve",
                "Solve a flop, turn or river spot",
                "Ranges and menus are written as for `fathom solve`. With `Accept: text/event-stream` the"
                " response is the event stream itself, and the solve is stopped when the client disconnects.",
                {202: ("The solve has started.", ref("Solve"))},
                body=ref("SolveRequest"),
                problems=(422,),
                stream=200,
            ),
            "get": operation(
                "listSolves", "solve", "Solves, newest first", "", {200: ("Solves.", ref("SolveList"))}
            ),
        },
        "/v1/solve/{job}": {
            "parameters": [path("job")],
            "get": operation(
                "showSolve",
                "solve",
                "A solve and its result",
                "The result is that of `fathom solve --json`.",
                {200: ("The solve.", ref("Solve"))},
                problems=(404,),
            ),
            "delete": operation(
                "cancelSolve",
                "solve",
                "Stop a solve",
                "The best solution so far is its result.",
                {200: ("Stopped.", ref("Solve"))},
                problems=(404,),
            ),
        },
        "/v1/solve/{job}/events": {
            "parameters": [path("job")],
            "get": operation(
                "followSolve",
                "solve",
                "Follow a solve",
                "Server-sent events: `solve`, `started`, `progress`, then `result` or `failed`."
                " `Last-Event-ID` resumes an interrupted stream.",
                {},
                problems=(404,),
                stream=200,
            ),
        },
    }


def schemas() -> Schema:
    """The request and response bodies, by name."""
    number = {"type": ["number", "null"]}
    return {
        "SolveRequest": request(
            {
                "board": {**ascii_text(40, "3, 4 or 5 cards", ["AsKd7h4c2s"]), "type": "string"},
                "pot": {"type": "integer", "minimum": 1, "maximum": MOST_CHIPS, "examples": [1000]},
                "stack": {"type": "integer", "minimum": 1, "maximum": MOST_CHIPS, "examples": [9500]},
                "oop": ascii_text(8192, "range of the player first to act; default: random", ["QQ+,AKs"]),
                "ip": ascii_text(8192, "range of the player in position; default: random"),
                "menu": ascii_text(500, "bet sizes", ["50%, 100%, a | 100%, a"]),
                "big_blind": {"type": ["integer", "null"], "minimum": 1, "maximum": MOST_CHIPS},
                "iterations": {"type": ["integer", "null"], "minimum": 1, "maximum": MOST_ITERATIONS},
                "target_pct": {
                    "type": ["number", "null"], "minimum": 0.001, "maximum": 99,
                    "description": "exploitability to stop at, in % of the pot; default: 0.5",
                },
                "seconds": {"type": ["number", "null"], "minimum": 0.01, "maximum": MOST_SECONDS},
                "node": ascii_text(500, "the decision that the result shows", ["x/b50%"]),
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
                "result": {
                    "type": "object",
                    "description": "as `fathom solve --json` prints it",
                    "required": ["converged", "quality"],
                    "properties": {
                        "exploitability_chips": number,
                        "exploitability_pct": number,
                        "converged": {
                            "type": "boolean",
                            "description": f"whether exploitability is at most {CONVERGED_PCT:g} % of the"
                            " pot; `target_pct` may ask for less",
                        },
                        "quality": {"type": "string", "description": "the same in words"},
                    },
                },
            },
        },
        "SolveList": list_of("solves", "Solve"),
    }  # fmt: skip
