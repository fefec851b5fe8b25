"""Slumbot's web API, client and server side, without I/O: requests, responses and the client's state.

1. A client requests `new_hand`, then `act` with one action at a time until the response contains `winnings`.
2. A token in any response replaces the previous one. `client_pos` and `token` may be missing: then the last
   values apply.
3. A response with `error_msg` is an error, whatever its HTTP status.
4. `client_pos` is the client's position: 0 the big blind, 1 the small blind on the button. Chips are from the
   client's point of view.
5. Parsing ignores unknown fields and is strict about known ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from game.actions import Action
from game.betting import BettingState
from game.cards import Cards, card_text, parse_card
from game.definition import HUNL, GameDefinition
from game.errors import GameError
from game.state import HandState, hand_state
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.slumbot_actions import increment_text, parse_slumbot, slumbot_text

MAX_TOKEN_CHARACTERS = 256

_UNAUTHORIZED = 401


class SlumbotError(RemoteProtocolError):
    """The server returned an error; the message is the server's."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def session_lost(self) -> bool:
        """Whether the token is no longer valid: a new session is needed."""
        return self.status == _UNAUTHORIZED


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a finished hand, in the client's chips."""

    winnings: int
    bot_hole: Cards
    """Known even after a fold; empty if the server does not send it."""
    session_hands: int | None
    session_total: int | None
    baseline_winnings: int | None
    """The difference to what Slumbot itself won with the same cards."""


@dataclass(frozen=True, slots=True)
class SlumbotHand:
    """The state of a hand, as the client sees it."""

    position: int
    """The client's position."""
    state: HandState
    result: Result | None
    """None while the hand is in progress."""

    @property
    def action(self) -> str:
        """The betting in Slumbot's notation."""
        return slumbot_text(self.state.betting)

    @property
    def our_turn(self) -> bool:
        """Whether the server waits for an `act`."""
        return self.result is None and self.state.betting.actor == self.position

    def continues(self, earlier: SlumbotHand) -> bool:
        """Whether this is the same hand as `earlier`, possibly with more betting."""
        known, text = earlier.state.betting.text, self.state.betting.text
        return (
            self.position == earlier.position
            and self.state.hole[self.position] == earlier.state.hole[self.position]
            and text.startswith(known)
            and not text[len(known) : len(known) + 1].isdigit()  # 'r2000' does not continue 'r200'
            and self.state.board[: len(earlier.state.board)] == earlier.state.board
        )

    def disagreement(self) -> str | None:
        """How the result contradicts the rules; None if it does not, or cannot be checked."""
        if self.result is None:
            return None
        betting = self.state.betting
        if not betting.is_finished:
            return f"the hand is over after {self.action!r}, where position {betting.actor} is to act"
        hole = list(self.state.hole)
        hole[1 - self.position] = self.result.bot_hole
        if betting.is_showdown and not all(hole):
            return None
        try:
            state = hand_state(betting, (hole[0], hole[1]), self.state.board)
        except GameError as error:
            return str(error)
        ours = state.values()[self.position]
        return None if ours == self.result.winnings else f"{self.result.winnings} chips: the rules say {ours}"


class ClientSession:
    """The state that a Slumbot client keeps between responses."""

    def __init__(self, definition: GameDefinition = HUNL, token: str | None = None) -> None:
        self.definition = definition
        self.token = token
        self.hand: SlumbotHand | None = None

    def login(self, username: str, password: str) -> dict[str, object]:
        """The body of a login request."""
        return {"username": username, "password": password}

    def receive_login(self, status: int, body: object) -> str:
        """Parse the response to a login; returns the token."""
        fields = _fields(status, body)
        token = _text(fields, "token")
        if not token:
            raise RemoteProtocolError("the response to login has no token")
        self.token = token
        return token

    def new_hand(self) -> dict[str, object]:
        """The body of a `new_hand` request; some servers return the hand in progress, if there is one."""
        return {} if self.token is None else {"token": self.token}

    def act(self, action: Action) -> dict[str, object]:
        """The body of an `act` request; raises `LocalProtocolError` if out of turn or illegal."""
        if self.hand is None or not self.hand.our_turn:
            raise LocalProtocolError("it is not our turn: nothing can be played")
        betting = self.hand.state.betting
        try:
            betting.verify(action)
        except GameError as error:
            raise LocalProtocolError(f"cannot play {action} after {self.hand.action!r}: {error}") from error
        return {"token": self.token, "incr": increment_text(betting, action)}

    def receive(self, status: int, body: object) -> SlumbotHand:
        """Parse a response; raises `SlumbotError` for an error, `RemoteProtocolError` if it is invalid."""
        fields = _fields(status, body)
        betting = parse_slumbot(_text(fields, "action") or "", self.definition)
        position = self._position(fields, betting)
        known = self.hand if self.hand is not None and self.hand.result is None else None
        own = _cards(fields, "hole_cards")
        if not own and known is not None:
            own = known.state.hole[position]
        board = _cards(fields, "board")[: self.definition.board_size(betting.round_index)]
        result = _result(fields)
        if result is None and betting.actor != position:
            raise RemoteProtocolError(
                f"it is not our turn after {slumbot_text(betting)!r}, but the response has no winnings"
            )
        try:
            state = hand_state(betting, (own, ()) if position == 0 else ((), own), board)
        except GameError as error:
            raise RemoteProtocolError(f"the server's cards are invalid: {error}") from error
        if not own:
            raise RemoteProtocolError("the response has no hole_cards")
        self.token = _text(fields, "token") or self.token
        self.hand = SlumbotHand(position, state, result)
        return self.hand

    def _position(self, fields: Mapping[str, object], betting: BettingState) -> int:
        position = fields.get("client_pos")
        if position is None and self.hand is not None:
            same = self.hand.result is None and betting.text.startswith(self.hand.state.betting.text)
            position = self.hand.position if same else 1 - self.hand.position
        if position not in (0, 1) or isinstance(position, bool):
            raise RemoteProtocolError(f"client_pos {position!r}: must be 0 or 1")
        return 0 if position == 0 else 1


@dataclass(frozen=True, slots=True)
class ServerHand:
    """A hand as the server knows it, to be sent to the client."""

    state: HandState
    """With all cards."""
    position: int
    """The client's position."""
    old_action: str
    session_hands: int
    session_total: int

    def body(self, token: str | None = None) -> dict[str, object]:
        """The response to `new_hand` or `act`. It contains the server's cards only when the hand is over."""
        betting = self.state.betting
        fields: dict[str, object] = {
            "old_action": self.old_action,
            "action": slumbot_text(betting),
            "client_pos": self.position,
            "hole_cards": _texts(self.state.hole[self.position]),
            "board": _texts(self.state.visible_board),
        }
        if token is not None:
            fields["token"] = token
        if betting.is_finished:
            winnings = self.state.values()[self.position]
            fields |= {
                "bot_hole_cards": _texts(self.state.hole[1 - self.position]),
                "winnings": winnings,
                "won_pot": 2 * winnings,
                "session_num_hands": self.session_hands,
                "session_total": self.session_total,
            }
        return fields


@dataclass(frozen=True, slots=True)
class NewHandRequest:
    """A request for a new hand."""

    token: str | None


@dataclass(frozen=True, slots=True)
class ActRequest:
    """A request to play one action."""

    token: str
    increment: str


@dataclass(frozen=True, slots=True)
class LoginRequest:
    """A request to log in."""

    username: str
    password: str


def read_new_hand(body: object) -> NewHandRequest:
    """Parse the body of `new_hand`."""
    fields = _mapping(body)
    return NewHandRequest(_token(fields, needed=False))


def read_act(body: object) -> ActRequest:
    """Parse the body of `act`."""
    fields = _mapping(body)
    token = _token(fields, needed=True)
    assert token is not None, "it was needed"
    increment = fields.get("incr")
    if not isinstance(increment, str) or not increment:
        raise RemoteProtocolError("incr is missing: write one action, k, c, f or b and chips")
    return ActRequest(token, increment)


def read_login(body: object) -> LoginRequest:
    """Parse the body of `login`."""
    fields = _mapping(body)
    username, password = fields.get("username"), fields.get("password")
    if not isinstance(username, str) or not isinstance(password, str) or not username:
        raise RemoteProtocolError("username and password must be given as text")
    return LoginRequest(username, password)


def error_body(message: str) -> dict[str, object]:
    """The body of an error response."""
    return {"error_msg": message}


def _mapping(body: object) -> Mapping[str, object]:
    if not isinstance(body, Mapping):
        raise RemoteProtocolError("the body must be a JSON object")
    return body


def _token(fields: Mapping[str, object], needed: bool) -> str | None:
    token = fields.get("token")
    if token is None and not needed:
        return None
    if not isinstance(token, str) or not 0 < len(token) <= MAX_TOKEN_CHARACTERS:
        raise RemoteProtocolError("token is missing: send the token of the last response")
    return token


def _fields(status: int, body: object) -> Mapping[str, object]:
    if isinstance(body, Mapping) and body.get("error_msg"):
        raise SlumbotError(str(body["error_msg"])[:200], status)
    if not 200 <= status < 300:
        raise SlumbotError(f"HTTP status {status}", status)
    if not isinstance(body, Mapping):
        raise RemoteProtocolError("the response is not a JSON object")
    return body


def _text(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise RemoteProtocolError(f"{name} {value!r}: must be text")
    return value


def _cards(fields: Mapping[str, object], name: str) -> Cards:
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > 5:
        raise RemoteProtocolError(f"{name}: must be a list of cards")
    try:
        return tuple([parse_card(str(item)) for item in value])
    except GameError as error:
        raise RemoteProtocolError(f"{name}: {error}") from error


def _result(fields: Mapping[str, object]) -> Result | None:
    """The result; the hand is over exactly if `winnings` is present and not null."""
    winnings = _chips(fields, "winnings")
    if winnings is None:
        return None
    return Result(
        winnings=winnings,
        bot_hole=_cards(fields, "bot_hole_cards"),
        session_hands=_chips(fields, "session_num_hands"),
        session_total=_chips(fields, "session_total"),
        baseline_winnings=_chips(fields, "baseline_winnings"),
    )


def _chips(fields: Mapping[str, object], name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise RemoteProtocolError(f"{name} {value!r}: must be a whole number")
    return value


def _texts(cards: Cards) -> list[str]:
    return [card_text(card) for card in cards]
