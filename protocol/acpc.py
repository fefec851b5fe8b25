"""The client side of the ACPC dealer protocol 2.0.0: parses match states and formats replies, without I/O.

1. Lines are self-contained: a match state is rebuilt from its line alone, because a resumed match may start
   in the middle of a hand. State from the previous line is used only to save time.
2. Parsing is strict. A line that the reference dealer could not have written is malformed, and reported as a
   value (`MalformedLine`): the caller logs it and reads on.
3. A reply is the received line, verbatim, then `:` and a legal action.

    MATCHSTATE:<position>:<hand>:<betting>:<hole 0>|<hole 1>[/<flop>[/<turn>[/<river>]]]
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from game.actions import CALL, FOLD, LIMIT_RAISE, Action, raise_to
from game.betting import BettingState, start
from game.cards import Cards, parse_cards
from game.definition import NUM_PLAYERS, GameDefinition
from game.errors import GameError, IllegalAction
from game.state import HandState, HoleCards, hand_state
from protocol.errors import LocalProtocolError, RemoteProtocolError

VERSION_LINE = b"VERSION:2.0.0\r\n"
MAX_LINE_BYTES = 4096  # the reference dealer's buffer
MAX_HAND_ID = 2**32 - 1

_CHIPS = re.compile(r"[1-9][0-9]{0,9}")
_RAISE = re.compile(r"r[1-9][0-9]{0,9}")
_HAND_ID = re.compile(r"0|[1-9][0-9]{0,9}")
_QUOTED_BYTES = 80  # of an overlong line


class MatchState(NamedTuple):
    """One hand as one player sees it, with its line."""

    position: int
    """The player who reads this line."""
    hand_id: int
    state: HandState
    text: str
    """The line as received, without its line end; a reply repeats it."""

    @property
    def is_our_turn(self) -> bool:
        """Whether the dealer waits for our reply to this very state."""
        return self.state.betting.actor == self.position


class StateReceived(NamedTuple):
    """The dealer sent the state of a hand."""

    match_state: MatchState


@dataclass(frozen=True, slots=True)
class CommentReceived:
    """A comment line, starting with `#` or `;`."""

    text: str


@dataclass(frozen=True, slots=True)
class MalformedLine:
    """A line that cannot be parsed. The connection remains usable; no reply is due."""

    line: bytes
    error: RemoteProtocolError = field(compare=False)


Event = StateReceived | CommentReceived | MalformedLine


class ClientConnection:
    """One player's end of a connection to a dealer: bytes in, events out, replies checked."""

    def __init__(self, definition: GameDefinition) -> None:
        self.definition = definition
        self._fresh = start(definition)
        self._buffer = b""
        self._skipping = False  # inside a line already reported as too long
        self._latest: MatchState | None = None
        self._awaiting: MatchState | None = None

    @property
    def awaiting(self) -> MatchState | None:
        """The state the dealer waits for our reply to, or None when it is not our turn."""
        return self._awaiting

    def version(self) -> bytes:
        """The first line to send. The dealer waits for it without a time limit: warm up before sending it."""
        return VERSION_LINE

    def receive(self, data: bytes) -> list[Event]:
        """The events completed by these bytes, however the stream is split into calls."""
        lines = (self._buffer + data).split(b"\n") if self._buffer else data.split(b"\n")
        rest = lines.pop()
        events: list[Event] = []
        for line in lines:
            if self._skipping:
                self._skipping = False
            elif len(line) > MAX_LINE_BYTES:
                events.append(_overlong(line))
            else:
                events.append(self._read_line(line))
        if self._skipping:
            rest = b""
        elif len(rest) > MAX_LINE_BYTES:
            events.append(_overlong(rest))
            self._skipping, rest = True, b""
        self._buffer = rest
        return events

    def close(self) -> list[Event]:
        """The dealer closed the connection: an incomplete last line is malformed."""
        rest, self._buffer = self._buffer, b""
        if not rest:
            return []
        return [MalformedLine(rest, RemoteProtocolError("the connection closed in the middle of a line"))]

    def reply(self, match_state: MatchState, action: Action) -> bytes:
        """The line that plays an action; raises `LocalProtocolError` if out of turn, stale or illegal."""
        if self._awaiting is None or match_state.text != self._awaiting.text:
            raise LocalProtocolError(f"the dealer is not waiting for a reply to {match_state.text!r}")
        try:
            match_state.state.betting.verify(action)
        except IllegalAction as error:
            raise LocalProtocolError(f"cannot reply {action} to {match_state.text!r}: {error}") from error
        self._awaiting = None
        return f"{match_state.text}:{action}\r\n".encode("ascii")

    def _read_line(self, line: bytes) -> Event:
        if line.startswith((b"#", b";")):
            return CommentReceived(line.removesuffix(b"\r").decode("ascii", "replace"))
        try:
            text = line.removesuffix(b"\r").decode("ascii")
            match_state = (self._latest and _parse_next_action(text, self._latest)) or _parse_match_state(
                text, self._fresh, self._latest
            )
        except UnicodeDecodeError:
            return MalformedLine(line, RemoteProtocolError("the line is not ASCII text"))
        except RemoteProtocolError as error:
            return MalformedLine(line, error)
        self._latest = match_state
        self._awaiting = match_state if match_state.is_our_turn else None
        return StateReceived(match_state)


def parse_match_state(line: str, definition: GameDefinition) -> MatchState:
    """Parse a `MATCHSTATE` line without its line end; raises `RemoteProtocolError`."""
    return _parse_match_state(line, start(definition), None)


def parse_betting(definition: GameDefinition, text: str) -> BettingState:
    """Parse betting such as `r300c/cr400`. Slashes must be exactly where rounds end."""
    return _continue_betting(start(definition), text)


def parse_hand_state(betting: BettingState, text: str, shown: tuple[bool, bool]) -> HandState:
    """Parse the cards `<hole 0>|<hole 1>/<flop>…`; exactly the hands marked in `shown` must be present."""
    try:
        hole, board = _parse_cards(betting, text, shown)
        return hand_state(betting, hole, board)
    except GameError as error:
        raise RemoteProtocolError(f"cards {_quote(text)}: {error}") from error


def _parse_next_action(line: str, previous: MatchState) -> MatchState | None:
    """Fast path for a line that adds one action to the previous line within the same round.

    Every second line is of this kind. For any other line it returns None, and `_parse_match_state` decides.
    """
    state, before = previous.state, previous.text
    cards_at = before.rindex(":")
    if not (line.startswith(before[:cards_at]) and line.endswith(before[cards_at:])):
        return None
    betting = state.betting
    text = line[cards_at : cards_at - len(before)]
    if text == "c":
        action = CALL
    elif text == "f":
        action = FOLD
    elif betting.definition.no_limit and _RAISE.fullmatch(text):
        action = raise_to(int(text[1:]))
    else:
        return None
    try:
        following = betting.apply(action)
    except IllegalAction:
        return None
    if following.round_index != betting.round_index or following.is_showdown:
        return None
    return MatchState(
        previous.position, previous.hand_id, HandState(following, state.hole, state.board), line
    )


def _parse_match_state(line: str, fresh: BettingState, previous: MatchState | None) -> MatchState:
    """Parse a line, starting from the previous state if possible (to save time), else from a fresh hand."""
    fields = line.split(":")
    if fields[0] != "MATCHSTATE":
        raise RemoteProtocolError(
            f"{_quote(line)} is not a match state: it does not begin with 'MATCHSTATE:'"
        )
    if len(fields) != 5:
        raise RemoteProtocolError(
            f"a match state has 5 fields separated by ':', {_quote(line)} has {len(fields)}"
        )
    _, position_text, hand_text, betting_text, cards_text = fields
    if position_text not in {"0", "1"}:
        raise RemoteProtocolError(f"position {_quote(position_text)}: must be 0 or 1")
    if not _HAND_ID.fullmatch(hand_text) or int(hand_text) > MAX_HAND_ID:
        raise RemoteProtocolError(f"hand {_quote(hand_text)}: must be a number from 0 to {MAX_HAND_ID}")
    position = 0 if position_text == "0" else 1
    known = fresh if previous is None else previous.state.betting
    betting = _continue_betting(known if _goes_on(known.text, betting_text) else fresh, betting_text)
    return MatchState(position, int(hand_text), _with_cards(betting, position, cards_text), line)


def _goes_on(known: str, text: str) -> bool:
    """Whether the betting `text` continues `known`; 'r2000' does not continue 'r200'."""
    return text.startswith(known) and not text[len(known) : len(known) + 1].isdigit()


def _continue_betting(state: BettingState, text: str) -> BettingState:
    """Apply the actions of `text` after `state.text`, which must be its prefix."""
    done = len(state.text)
    while done < len(text):
        action = _read_action(state, text, done)
        try:
            state = state.apply(action)
        except IllegalAction as error:
            raise RemoteProtocolError(f"betting {_quote(text)}, character {done + 1}: {error}") from error
        if not text.startswith(state.text[done:], done):
            raise RemoteProtocolError(
                f"betting {_quote(text)}: slashes do not match the ends of rounds,"
                f" it must begin with {_quote(state.text)}"
            )
        done = len(state.text)
    return state


def _read_action(state: BettingState, text: str, at: int) -> Action:
    letter = text[at]
    if letter == "c":
        return CALL
    if letter == "f":
        return FOLD
    if letter == "r":
        if not state.definition.no_limit:
            return LIMIT_RAISE
        chips = _CHIPS.match(text, at + 1)
        if chips is None:
            raise RemoteProtocolError(
                f"betting {_quote(text)}, character {at + 1}: 'r' needs a number of chips"
            )
        return raise_to(int(chips.group()))
    if letter == "/":
        raise RemoteProtocolError(f"betting {_quote(text)}, character {at + 1}: no round ends here")
    raise RemoteProtocolError(f"betting {_quote(text)}, character {at + 1}: {letter!r} is not an action")


def _with_cards(betting: BettingState, position: int, text: str) -> HandState:
    showdown = betting.is_showdown
    return parse_hand_state(betting, text, (showdown or position == 0, showdown or position == 1))


def _parse_cards(betting: BettingState, text: str, shown: tuple[bool, bool]) -> tuple[HoleCards, Cards]:
    definition = betting.definition
    first, bar, rest = text.partition("|")
    second, *board_texts = rest.split("/")
    if not bar or len(board_texts) != betting.round_index:
        raise RemoteProtocolError(
            f"cards {_quote(text)}: expected two hands separated by '|' and"
            f" {betting.round_index} times '/' with board cards"
        )
    # Public cards of the first round, where a game has any, follow the hole cards without a separator.
    cut = len(second) - 2 * definition.board_cards[0]
    if cut < 0:
        raise RemoteProtocolError(f"cards {_quote(text)}: board cards of the first round are missing")
    board_texts.insert(0, second[cut:])
    hole_texts = (first, second[:cut])
    for position in range(NUM_PLAYERS):
        wanted = definition.num_hole_cards if shown[position] else 0
        if len(hole_texts[position]) != 2 * wanted:
            raise RemoteProtocolError(
                f"cards {_quote(text)}: expected {wanted} hole cards of position {position}"
            )
    for round_index, board_text in enumerate(board_texts):
        if len(board_text) != 2 * definition.board_cards[round_index]:
            raise RemoteProtocolError(
                f"cards {_quote(text)}: round {round_index + 1} deals"
                f" {definition.board_cards[round_index]} board cards, not {_quote(board_text)}"
            )
    board = tuple([card for board_text in board_texts for card in _cards(board_text)])
    return (_cards(hole_texts[0]), _cards(hole_texts[1])), board


@lru_cache(maxsize=8192)  # two cards have 2,652 texts, one card 52
def _cards(text: str) -> Cards:
    if " " in text or "," in text:
        raise RemoteProtocolError(f"cards {_quote(text)}: spaces and commas are not allowed")
    return parse_cards(text)


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTED_BYTES else text[:_QUOTED_BYTES] + "…")


def _overlong(line: bytes) -> MalformedLine:
    error = RemoteProtocolError(f"the line is longer than {MAX_LINE_BYTES} bytes")
    return MalformedLine(line[:_QUOTED_BYTES], error)
