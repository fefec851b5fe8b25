"""OpenAPI: `/v1/decide`."""

from __future__ import annotations

from server.http.decide_routes import STREETS
from server.http.openapi.parts import BETTING, BUDGET, Schema, ascii_text, operation, ref, request
from solver.decisions.convergence import CONVERGED_PCT, judge
from solver.decisions.decision import Method


def paths() -> Schema:
    """The operations, by path."""
    return {
        "/v1/decide": {
            "post": operation(
                "decide",
                "decide",
                "What the bot does in a given situation, and why",
                "Stateless. Give a `matchstate` as an ACPC dealer sends it, or `betting`, `board` and"
                " `hole`. The same `seed` draws the same action from the same strategy.",
                {200: ("The decision.", ref("Decision"))},
                body=ref("DecideRequest"),
                problems=(422,),
            )
        },
    }


def schemas() -> Schema:
    """The request and response bodies, by name."""
    shares = {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}}
    return {
        "DecideRequest": request(
            {
                "matchstate": ascii_text(4096, "as an ACPC dealer sends it", ["MATCHSTATE:1:0::|AsKd"]),
                "betting": BETTING,
                "board": ascii_text(40, "cards", ["Th9c2s"]),
                "hole": ascii_text(20, "the cards the player to act holds", ["QhJh"]),
                "budget": BUDGET,
                "seed": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**63 - 1},
                "range": {"type": ["boolean", "null"], "description": "include the strategy of every hand"},
                "explain": {"type": ["boolean", "null"], "description": "include details of the solve"},
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
                "strategy": {**shares, "description": "action probabilities of this hand"},
                "range_strategy": {**shares, "description": "action frequencies of our whole range"},
                "street": {"type": "string", "enum": list(STREETS)},
                "method": {"type": "string"},
                "rung": {"type": "string", "enum": ["solved", "best_so_far", "blueprint", "check_fold"]},
                "iterations": {"type": "integer"},
                "seconds": {"type": "number"},
                "explanation": {"type": "string"},
                "details": {
                    "anyOf": [ref("DecisionDetails"), {"type": "null"}],
                    "description": "if requested; null if no worker answered in time",
                },
                "range": {
                    "type": "object",
                    "description": "if requested: weight and strategy of every hand we might hold",
                },
            },
        },
        "DecisionDetails": {
            "type": "object",
            "description": "As printed by `fathom decide --json`: values, exploitability, time by phase, and"
            " both ranges and the strategy as grids of 169 numbers, from aces to deuces, suited above the"
            " diagonal.",
            "required": ["converged", "quality"],
            "properties": {
                "converged": {
                    "type": ["boolean", "null"],
                    "description": f"whether exploitability is at most {CONVERGED_PCT:g} % of the pot where"
                    " the solve begins; null if nothing was solved or measured",
                },
                "quality": {
                    "type": "string",
                    "description": "the same in words",
                    "examples": [
                        judge(Method.EXACT, 0.6).quality,
                        judge(Method.DEPTH_LIMITED, 8.4).quality,
                        judge(Method.BLUEPRINT, None).quality,
                    ],
                },
                "exploitability": {
                    "type": ["number", "null"],
                    "description": "in chips: exact on turn and river, an estimate of the street before",
                },
                "exploitability_pct": {
                    "type": ["number", "null"],
                    "description": "in % of the pot where the solve begins, before the last bet",
                },
            },
        },
    }  # fmt: skip
