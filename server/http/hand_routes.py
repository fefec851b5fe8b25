"""`/v1/hands`: play against the bot, and show, list and export hands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise

from aiohttp import web

from game.cards import card_text, cards_text
from game.errors import IllegalAction
from server.decisions import parse_action
from server.http import fields as read
from server.http.bodies import answer, read_fields
from server.http.context import STORE, TABLE, caller
from server.http.problems import Problem, bad_request
from server.http.thinking import stream_thinking, thinking_body, wants_events
from server.play.table import (
    HandView,
    LiveHand,
    NotYourTurnError,
    UnknownHandError,
    UnknownSessionError,
    view,
)
from server.store.hand_reader import HandQuery
from server.store.hand_records import Channel, StoredHand, acpc_text, phh_text

LEAST_BUDGET, MOST_BUDGET = 0.01, 600.0
MOST_LISTED = 1000
SEATS = ("big blind", "button")

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_EXPORTS = {"phh": phh_text, "acpc": acpc_text}


def add_hand_routes(app: web.Application) -> None:
    """Add `/v1/hands` and its sub-routes."""
    app.router.add_post("/v1/hands", new_hand)
    app.router.add_get("/v1/hands", list_hands)
    app.router.add_get("/v1/hands/{hand}", show_hand)
    app.router.add_post("/v1/hands/{hand}/actions", act)
    app.router.add_get("/v1/hands/{hand}/thinking", show_thinking)


async def new_hand(request: web.Request) -> web.StreamResponse:
    """Deal a hand, or return the session's hand in progress.

    With `Accept: text/event-stream` the response streams the progress of the bot's first action.
    """
    fields = await read_fields(request)
    read.refuse_unknown(fields, {"session", "opponent", "budget", "explain"})
    token = read.text(fields, "session", 256)
    budget = read.number(fields, "budget", LEAST_BUDGET, MOST_BUDGET)
    opponent = read.display_name(fields, "opponent", caller(request).name or "somebody")
    table, owner = request.app[TABLE], caller(request).name
    if token is None:
        token, session = await table.open_session(Channel.HTTP, owner, opponent)
    else:
        try:
            session = await table.session(token, Channel.HTTP, owner)
        except UnknownSessionError as error:
            raise Problem(404, f"session: {error}", "unknown-session") from None
    dealing = table.new_hand(session, budget, read.flag(fields, "explain"))
    if wants_events(request):

        async def deal() -> Mapping[str, object]:
            hand, _ = await dealing
            return {**_hand_body(view(hand.stored)), "session": token}

        return await stream_thinking(request, lambda: table.thinking_of(session), deal())
    hand, is_new = await dealing
    return answer(
        request,
        {**_hand_body(view(hand.stored)), "session": token},
        201 if is_new else 200,
        {"Location": f"/v1/hands/{hand.stored.id}"},
    )


async def act(request: web.Request) -> web.StreamResponse:
    """Play an action; responds after the bot's action, or streams its progress until then."""
    fields = await read_fields(request)
    read.refuse_unknown(fields, {"action", "betting"})
    text = read.needed_text(fields, "action", 20)
    betting = read.text(fields, "betting", 2048)
    if wants_events(request):
        hand = await find_hand(request)  # check the owner before streaming anything
        table = request.app[TABLE]
        playing = _play(request, text, betting)
        return await stream_thinking(request, lambda: table.thinking_about(hand.id), playing)
    return answer(request, await _play(request, text, betting))


async def show_thinking(request: web.Request) -> web.Response:
    """Show the progress of the bot's decision in a hand."""
    hand = await find_hand(request)
    return answer(request, thinking_body(request.app[TABLE].thinking_about(hand.id)))


async def _play(request: web.Request, action: str, betting: str | None) -> Mapping[str, object]:
    """Play an action and the bot's reply; raises `Problem`."""
    try:
        hand = await request.app[TABLE].act(
            _hand_id(request), caller(request).owner, parse_action(action), betting
        )
    except IllegalAction as error:
        raise Problem(422, f"action: {error}", "illegal-action") from None
    except NotYourTurnError as error:
        raise Problem(409, f"{error}: GET the hand for its current state", "moved-on") from None
    except UnknownHandError:
        raise _unknown() from None
    return _hand_body(view(hand.stored))


async def show_hand(request: web.Request) -> web.Response:
    """Show one hand as the opponent may see it."""
    stored = await find_hand(request)
    kind = _query(request, "format", {"json", "phh", "acpc"}) or "json"
    if kind != "json":
        if not stored.is_finished:
            raise Problem(409, "the hand is not over: finish it first, or request JSON", "not-over")
        return _export([stored], kind)
    return answer(request, _stored_body(stored))


async def list_hands(request: web.Request) -> web.Response:
    """List hands, newest first, page by page; or export finished ones as a file."""
    owner = caller(request).owner
    finished = {"true": True, "false": False, None: None}[_query(request, "finished", {"true", "false"})]
    kind = _query(request, "format", {"json", "phh", "acpc"}) or "json"
    channel = _query(request, "channel", {str(channel) for channel in Channel})
    query = HandQuery(
        channel=channel,
        owner=owner,
        finished=finished if kind == "json" else True,
        before=_query_number(request, "before", 2**53),
        limit=_query_number(request, "limit", MOST_LISTED) or 100,
    )
    found = await request.app[STORE].hands(query)
    if kind != "json":
        return _export([hand for _, hand in reversed(found)], kind)
    body: dict[str, object] = {"hands": [_stored_body(hand) for _, hand in found]}
    if len(found) == query.limit:
        body["next"] = found[-1][0]
    return answer(request, body)


async def find_hand(request: web.Request) -> StoredHand:
    """The hand named by the path; raises `Problem` 404, also if the caller may not see it."""
    hand_id, who = _hand_id(request), caller(request)
    try:
        live: LiveHand | None = await request.app[TABLE].hand(hand_id, who.owner)
    except UnknownHandError:
        live = None
    if live is not None:
        return live.stored
    stored = await request.app[STORE].hand(hand_id)
    if stored is None or not who.is_admin:
        raise _unknown()
    return stored


def _stored_body(stored: StoredHand) -> Mapping[str, object]:
    return _finished_body(stored) if stored.is_finished else _hand_body(view(stored))


@lru_cache(maxsize=1024)
def _finished_body(stored: StoredHand) -> Mapping[str, object]:
    """The body of a finished hand, cached: it never changes, and lists often repeat it."""
    return _hand_body(view(stored))


def _hand_body(hand: HandView) -> dict[str, object]:
    """A hand's body for the opponent: `HandView` contains no secrets."""
    state, betting, position = hand.state, hand.state.betting, hand.position
    own, bots = state.hole[position], state.hole[1 - position]
    legal = None
    if not betting.is_finished and betting.actor == position:
        bounds = betting.raise_bounds()
        legal = {
            "fold": betting.can_fold(),
            "to_call": betting.to_call,
            "raise": None if bounds is None else {"least": bounds[0], "most": bounds[1]},
        }
    return {
        "id": hand.id,
        "number": hand.number,
        "position": position,
        "seat": SEATS[position],
        "hole": [card_text(card) for card in own],
        "board": [card_text(card) for card in state.board],
        "betting": betting.text,
        "pot": betting.pot,
        "your_turn": legal is not None,
        "legal": legal,
        "finished": hand.finished_at is not None,
        "chips": hand.chips,
        "bot_hole": [card_text(card) for card in bots] or None,
        "matchstate": _matchstate(hand),
        "started_at": _when(hand.started_at),
        "finished_at": None if hand.finished_at is None else _when(hand.finished_at),
    }


def _matchstate(hand: HandView) -> str:
    """The hand as an ACPC MATCHSTATE line."""
    state = hand.state
    sizes = [state.definition.board_size(r) for r in range(state.betting.round_index + 1)]
    board = ["/" + cards_text(state.board[low:high]) for low, high in pairwise(sizes)]
    hole = "|".join([cards_text(cards) for cards in state.hole])
    return f"MATCHSTATE:{hand.position}:{hand.number}:{state.betting.text}:{hole}{''.join(board)}"


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _export(hands: list[StoredHand], kind: str) -> web.Response:
    seen = [hand.as_seen_by_opponent() for hand in hands]
    name = f"hands.{'log' if kind == 'acpc' else 'phh' if len(seen) == 1 else 'phhs'}"
    return web.Response(
        body=_EXPORTS[kind](seen).encode(),
        headers={
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Disposition": f'attachment; filename="{name}"',
        },
    )


def _hand_id(request: web.Request) -> str:
    hand_id = request.match_info["hand"]
    if not _ID.fullmatch(hand_id):
        raise _unknown()
    return hand_id


def _unknown() -> Problem:
    return Problem(404, "no such hand", "unknown-hand")


def _query(request: web.Request, name: str, allowed: set[str]) -> str | None:
    value = request.query.get(name)
    if value is not None and value not in allowed:
        raise bad_request(f"{name}: must be one of {', '.join(sorted(allowed))}", "bad-query")
    return value


def _query_number(request: web.Request, name: str, most: int) -> int | None:
    value = request.query.get(name)
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,16}", value) or not 1 <= int(value) <= most:
        raise bad_request(f"{name}: must be a whole number from 1 to {most}", "bad-query")
    return int(value)
