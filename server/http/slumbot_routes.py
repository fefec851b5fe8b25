"""Slumbot's API: programs written for Slumbot can play against Fathom unchanged.

If keys are needed, `login` takes one as the password, because its clients cannot send an Authorization
header; from then on the returned token is enough. `new_hand` returns the hand in progress, if there is one: a
client that lost a response can check there before it acts again.
"""

from __future__ import annotations

from aiohttp import web

from protocol.errors import RemoteProtocolError
from protocol.slumbot import ServerHand, error_body, read_act, read_login, read_new_hand
from protocol.slumbot_actions import SlumbotRefusal, parse_increment, slumbot_text
from server.config.keys import Scope
from server.http.bodies import read_body
from server.http.context import KEYS, TABLE
from server.http.guard import SLUMBOT_PREFIXES, find_key
from server.http.problems import Problem, bad_request
from server.play.table import LiveHand, NotYourTurnError, Session, UnknownSessionError
from server.store.hand_records import Channel

_MOST_NAME = 64
_NOBODY = "slumbot client"


def add_slumbot_routes(app: web.Application) -> None:
    """Add the routes, under Slumbot's older and newer path."""
    for prefix in SLUMBOT_PREFIXES:
        app.router.add_post(f"{prefix}new_hand", new_hand)
        app.router.add_post(f"{prefix}act", act)
        app.router.add_post(f"{prefix}login", login)


async def new_hand(request: web.Request) -> web.Response:
    """Deal the next hand, or return the one in progress."""
    try:
        body = await read_body(request)
        token = read_new_hand(body if request.body_exists else {}).token
    except RemoteProtocolError as error:
        raise bad_request(str(error)) from None
    table = request.app[TABLE]
    if token is None:
        keys = request.app[KEYS]
        owner = "" if keys is None else find_key(keys, request, Scope.PLAY).name
        token, session = await table.open_session(Channel.SLUMBOT_API, owner, owner or _NOBODY)
    else:
        session = await _session(request, token)
    hand, _ = await table.new_hand(session)
    return _answer(hand, session, "", token)


async def act(request: web.Request) -> web.Response:
    """Play the client's action and the bot's reply."""
    try:
        wanted = read_act(await read_body(request))
    except RemoteProtocolError as error:
        raise bad_request(str(error)) from None
    session, table = await _session(request, wanted.token), request.app[TABLE]
    hand_id = session.stored.hand_id
    if hand_id is None:
        return web.json_response(error_body("No hand in progress"))
    betting = (await table.hand(hand_id, None)).state.betting
    if betting.is_finished:
        return web.json_response(error_body("No hand in progress"))
    try:
        action = parse_increment(betting, wanted.increment)
        hand = await table.act(hand_id, None, action, betting.text)
    except SlumbotRefusal as refusal:
        return web.json_response(error_body(refusal.phrase))
    except NotYourTurnError:  # a concurrent request of the same session
        return web.json_response(error_body("Action already taken"))
    return _answer(hand, session, slumbot_text(betting), None)


async def login(request: web.Request) -> web.Response:
    """Start a session under a name."""
    try:
        who = read_login(await read_body(request))
    except RemoteProtocolError as error:
        raise bad_request(str(error)) from None
    if len(who.username) > _MOST_NAME or not who.username.isprintable():
        raise bad_request(f"username: must be 1 to {_MOST_NAME} printable characters")
    keys, owner = request.app[KEYS], ""
    if keys is not None:
        key = keys.find(who.password)
        if key is None or not key.may(Scope.PLAY):
            raise Problem(401, "unknown key: log in with an API key as the password", "key-unknown")
        owner = key.name
    token, _ = await request.app[TABLE].open_session(Channel.SLUMBOT_API, owner, who.username)
    return web.json_response({"token": token})


async def _session(request: web.Request, token: str) -> Session:
    try:
        return await request.app[TABLE].session(token, Channel.SLUMBOT_API, None)
    except UnknownSessionError:
        raise Problem(401, "Session not found: request a new hand without a token") from None


def _answer(hand: LiveHand, session: Session, old_action: str, token: str | None) -> web.Response:
    told = ServerHand(
        state=hand.state,
        position=hand.opponent_position,
        old_action=old_action,
        session_hands=session.stored.hands,
        session_total=session.stored.chips,
    )
    return web.json_response(told.body(token))
