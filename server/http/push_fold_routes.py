"""`/v1/pushfold`: play push/fold with ten big blinds against the equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np
from aiohttp import web

from arena.push_fold_pool import SEATS, SMALL_BLIND_SEAT
from game.cards import card_text
from game.hands import HAND_CLASS, class_text, hand_index
from server.http import fields as read
from server.http.bodies import answer, read_fields
from server.http.context import PUSH_FOLD, caller
from server.http.problems import Problem, bad_request
from server.play.push_fold_table import STACK, NotYourDecisionError, PushFoldHand, UnknownPushFoldError
from solver.equity.push_fold import PushFold, gains

_ACTIONS = {"allin": True, "fold": False}
_MOST_HANDS = 2**53


def add_push_fold_routes(app: web.Application) -> None:
    """Add `/v1/pushfold` and its sub-routes."""
    app.router.add_post("/v1/pushfold/hands", deal)
    app.router.add_post("/v1/pushfold/actions", act)
    app.router.add_get("/v1/pushfold/chart", chart)
    app.router.add_get("/v1/pushfold/report", report)


async def deal(request: web.Request) -> web.Response:
    """Deal the next hand of a session, or return the one in progress."""
    fields = await read_fields(request)
    read.refuse_unknown(fields, {"session"})
    table = request.app[PUSH_FOLD]
    token, hand = await table.deal(read.text(fields, "session", 256), caller(request).name)
    return answer(request, {**_body(hand, await table.chart()), "session": token})


async def act(request: web.Request) -> web.Response:
    """Play all-in or fold."""
    fields = await read_fields(request)
    read.refuse_unknown(fields, {"session", "number", "action"})
    action = read.needed_text(fields, "action", 20)
    number = read.whole(fields, "number", 0, _MOST_HANDS)
    if action not in _ACTIONS:
        raise bad_request("action: must be allin or fold", "bad-field")
    if number is None:
        raise bad_request("number: is missing", "bad-field")
    table = request.app[PUSH_FOLD]
    token = read.needed_text(fields, "session", 256)
    try:
        hand = await table.act(token, caller(request).name, number, _ACTIONS[action])
    except UnknownPushFoldError as error:
        raise Problem(404, str(error), "unknown-session") from None
    except NotYourDecisionError as error:
        raise Problem(409, str(error), "moved-on") from None
    return answer(request, _body(hand, await table.chart()))


async def chart(request: web.Request) -> web.Response:
    """Show the equilibrium, and what going all-in gains against it, by hand class."""
    solved = await request.app[PUSH_FOLD].chart()
    gained = gains(solved.stack, solved.push, solved.call)
    return answer(
        request,
        {
            "stack": solved.stack,
            "value": round(solved.value, 6),
            "exploitability": float(f"{solved.exploitability:.3g}"),
            "iterations": solved.iterations,
            "hands": [class_text(c) for c in range(len(solved.push))],
            "push": _numbers(solved.push),
            "call": _numbers(solved.call),
            "push_gain": _numbers(gained.push),
            "call_gain": _numbers(gained.call),
        },
    )


async def report(request: web.Request) -> web.Response:
    """Show the equilibrium's result against everybody who has played here."""
    return answer(request, (await request.app[PUSH_FOLD].report()).record())


def _body(hand: PushFoldHand, solved: PushFold) -> dict[str, Any]:
    """A hand's body for the player, without what is still secret."""
    body: dict[str, Any] = {
        "number": hand.number,
        "position": hand.position,
        "seat": SEATS[hand.position],
        "stack": STACK,
        "hole": [card_text(card) for card in hand.hole],
        "bot_all_in": hand.bot_all_in if hand.bot_has_acted else None,
        "all_in": hand.all_in,
        "finished": hand.is_over,
        "bot_hole": [card_text(card) for card in hand.bot_hole] if hand.is_showdown else None,
        "board": [card_text(card) for card in hand.board] if hand.is_showdown else [],
        "chips": hand.chips() if hand.is_over else None,
        "review": None,
    }
    if hand.all_in is not None:
        place = int(HAND_CLASS[hand_index(*hand.hole)])
        gained = gains(solved.stack, solved.push, solved.call)
        is_small = hand.position == SMALL_BLIND_SEAT
        gain = float((gained.push if is_small else gained.call)[place])
        body["review"] = {
            "hand": class_text(place),
            "equilibrium": round(float((solved.push if is_small else solved.call)[place]), 4),
            "gain": round(gain, 4),
            "cost": round(max(gain, 0.0) - (gain if hand.all_in else 0.0), 4),
        }
    return body


def _numbers(values: np.ndarray) -> list[float]:
    return [round(float(value), 5) for value in values]
