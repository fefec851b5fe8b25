"""`/v1/hands/{hand}/thoughts`: the bot's reasoning, available when the hand is over.

Ranges and strategies cover every hand the bot could hold, so they do not reveal the one it held. That hand,
its strategy and its values are included only after a showdown.
"""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from server.http.bodies import answer
from server.http.context import STORE
from server.http.hand_routes import find_hand
from server.http.problems import Problem
from server.store.hand_records import StoredDecision, StoredThought
from solver.decisions.convergence import judge
from solver.decisions.decision import Method

_OF_THE_HAND_HELD = ("hand", "strategy", "values")
_METHODS = {method.value: method for method in Method}


def add_thought_routes(app: web.Application) -> None:
    """Add the route."""
    app.router.add_get("/v1/hands/{hand}/thoughts", show_thoughts)


async def show_thoughts(request: web.Request) -> web.Response:
    """Show the bot's decisions in order; empty unless explanations were requested with the hand."""
    hand = await find_hand(request)
    if not hand.is_finished:
        raise Problem(409, "the hand is not over: finish it first", "not-over")
    shown = hand.betting_state().is_showdown
    decisions = {found.number: found for found in await request.app[STORE].decisions(hand.id)}
    thoughts = await request.app[STORE].thoughts(hand.id)
    return answer(
        request,
        {
            "hand": hand.id,
            "shown_down": shown,
            "thoughts": [
                _body(decisions[thought.number], thought, shown)
                for thought in thoughts
                if thought.number in decisions
            ],
        },
    )


def _body(decision: StoredDecision, thought: StoredThought, shown: bool) -> dict[str, Any]:
    told = json.loads(thought.body)
    if not shown:
        for name in _OF_THE_HAND_HELD:
            told.pop(name, None)
    if "converged" not in told:  # fallbacks, and hands of earlier versions
        found = judge(_METHODS.get(decision.method), told.get("exploitability_pct"))
        told |= {"converged": found.converged, "quality": found.quality}
    return {
        "number": decision.number,
        "betting": decision.betting,
        "action": decision.action,
        "method": decision.method,
        "rung": decision.rung,
        "iterations": decision.iterations,
        "seconds": round(decision.seconds, 4),
        "details": told,
    }
