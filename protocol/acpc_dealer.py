"""The dealer side of the ACPC protocol 2.0.0: formats match states and parses replies, without I/O.

Replies are parsed with exactly the leniency of the reference dealer, so that any player that works with it
works with this one. The reference dealer's behaviour, and therefore this module's:

1. A reply repeats the match state and adds `:` and an action. The repeated state is parsed, not compared as
   text: `+0` is a position, `as` a card, slashes in the betting and `|` between the hands are optional.
2. A line that is not a match state, or not the current one, is ignored with a warning. Comments are ignored
   without a warning; only they do not count against the clock.
3. An action that cannot be parsed or is illegal becomes a call, a raise out of range the nearest legal raise;
   both with a warning. Anything after the action is ignored.
4. Lines end with LF and have at most 4,095 bytes including it (longer ones are split). Text after the first
   NUL byte is ignored. The last line before the end of the stream needs no LF.

One difference: a reply that leaves out the player's own hole cards is ignored here; the reference dealer
compares uninitialised memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from game.actions import CALL, FOLD, LIMIT_RAISE, Action, ActionKind, raise_to
from game.betting import MAX_ACTIONS_PER_ROUND, BettingState, start
from game.cards import Cards, cards_text
from game.definition import NUM_PLAYERS, GameDefinition
from game.state import HoleCards
from protocol.acpc_scan import c_string, scan_action, scan_cards, scan_unsigned
from protocol.errors import RemoteProtocolError

MAX_LINE_BYTES = 4095

VERSION = (2, 0, 0)
WRONG_VERSION = "ERROR: this server is currently using version {}.{}.{}".format(*VERSION)
BAD_STATE = "WARNING: bad state format in response"
NOT_REQUESTED = "WARNING: ignoring un-requested response"
BAD_ACTION = "WARNING: bad action format in response, changed to call"
INVALID_ACTION = "WARNING: invalid action, changed to call"
TOO_MANY_ACTIONS = "WARNING: #actions in round is too close to MAX_NUM_ACTIONS, forcing call/fold"

_COMMENT_BYTES = (b"#", b";")
_PLAIN_ACTIONS = {b":c\r\n": CALL, b":f\r\n": FOLD, b":r\r\n": LIMIT_RAISE}
_PLAIN_RAISE = re.compile(rb":r([1-9][0-9]{0,8})\r\n").fullmatch


class HandLines:
    """Formats all lines a dealer writes about one hand; each viewer sees only the cards it may see."""

    __slots__ = ("_boards", "_heads", "_hole", "_open_hole")

    def __init__(self, definition: GameDefinition, hand_id: int, hole: HoleCards, board: Cards) -> None:
        text, at = cards_text(hole[0] + hole[1] + board), 2 * len(hole[0] + hole[1])
        first, second = text[: at // 2], text[at // 2 : at]
        self._heads = f"MATCHSTATE:0:{hand_id}:", f"MATCHSTATE:1:{hand_id}:", f"STATE:{hand_id}:"
        self._hole = f":{first}|", f":|{second}"
        self._open_hole = f":{first}|{second}"
        # The visible board of each round, with slashes: '', '/7h8h9h', '/7h8h9h/2c' ...
        self._boards: list[str] = []
        visible = ""
        for count in definition.board_cards:
            visible += text[at : at + 2 * count]
            at += 2 * count
            self._boards.append(visible)
            visible += "/"

    def match_states(self, betting: BettingState) -> tuple[bytes, bytes]:
        """The lines for both positions, without line ends; a reply begins with the bytes of one of them."""
        heads, text, board = self._heads, betting.text, self._boards[betting.round_index]
        first, second = (self._open_hole,) * 2 if betting.is_showdown else self._hole
        return f"{heads[0]}{text}{first}{board}".encode(), f"{heads[1]}{text}{second}{board}".encode()

    def record(self, betting: BettingState, values: tuple[int, int], names: tuple[str, str]) -> str:
        """The hand's line in the log file; values and names by position."""
        return (
            f"{self._heads[2]}{betting.text}{self._open_hole}{self._boards[betting.round_index]}"
            f":{values[0]}|{values[1]}:{names[0]}|{names[1]}\n"
        )


@dataclass(frozen=True, slots=True)
class ReplyRequest:
    """The request to one player: the match state with the player to act, and the bytes that were sent."""

    match_state: bytes
    hand_id: int
    betting: BettingState
    hole: Cards
    """The player's own hole cards."""
    board: Cards
    """The visible part."""


@dataclass(frozen=True, slots=True)
class CommentLine:
    """A comment: ignored, and not counted against the clock."""


@dataclass(frozen=True, slots=True)
class IgnoredLine:
    """Not a reply: the player is still to act."""

    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ActionLine:
    """The action to play: always legal, whatever the player sent."""

    action: Action
    warnings: tuple[str, ...] = ()


ReplyLine = CommentLine | IgnoredLine | ActionLine

_COMMENT = CommentLine()


def plain_reply(match_state: bytes, action: Action) -> bytes:
    """The reply that plays an action, in canonical form."""
    return b"%s:%s\r\n" % (match_state, str(action).encode())


def read_plain_reply(line: bytes, match_state: bytes, no_limit: bool) -> Action | None:
    """The action of a reply in canonical form, as nearly all are; None: use `read_reply`.

    A fast path that does not parse the repeated match state. The action may be illegal; if it is legal,
    `read_reply` returns the same.
    """
    if not line.startswith(match_state):
        return None
    rest = line[len(match_state) :]
    action = _PLAIN_ACTIONS.get(rest)
    if action is None and no_limit and (plain := _PLAIN_RAISE(rest)):
        return raise_to(int(plain[1]))
    return action


def read_reply(line: bytes, request: ReplyRequest) -> ReplyLine:
    """Parse a line from the player to act. Every line has a meaning: nothing is raised."""
    expected = request.match_state
    if line.startswith(expected) and line[len(expected) : len(expected) + 1] == b":":
        return _read_action(c_string(line), len(expected), request.betting, [])
    if line.startswith(_COMMENT_BYTES):
        return _COMMENT
    return _read_any_reply(c_string(line), request)


def read_version(line: bytes) -> tuple[int, int, int]:
    """Parse the version in a player's first line; any text may follow it."""
    text = c_string(line)
    if text.startswith(b"VERSION:"):
        numbers: list[int] = []
        at = len(b"VERSION:")
        while (scanned := scan_unsigned(text, at, 32)) is not None:
            numbers.append(scanned[0])
            if len(numbers) == 3:
                return numbers[0], numbers[1], numbers[2]
            at = scanned[1]
            if text[at : at + 1] != b".":
                break
            at += 1
    raise RemoteProtocolError(f"invalid version string {text.decode('ascii', 'replace').rstrip()}")


def is_supported(version: tuple[int, int, int]) -> bool:
    """Whether this dealer supports a version. The reference dealer only warns about others, and plays."""
    return version[0] == VERSION[0] and version[1] <= VERSION[1]


class LineBuffer:
    """Splits a byte stream into lines with their line ends; see rule 4 above."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, chunk: bytes) -> bytes | None:
        """Add received bytes; returns `next_line`."""
        if not self._pending and chunk.find(b"\n") + 1 == len(chunk) <= MAX_LINE_BYTES:
            return chunk or None  # the usual case: exactly one line
        self._pending += chunk
        return self.next_line()

    def next_line(self) -> bytes | None:
        """The next complete line, or None if more bytes are needed."""
        pending = self._pending
        if not pending:
            return None
        end = pending.find(b"\n", 0, MAX_LINE_BYTES) + 1
        if not end:
            if len(pending) < MAX_LINE_BYTES:
                return None
            end = MAX_LINE_BYTES
        self._pending = pending[end:]
        return pending[:end]

    def rest(self) -> bytes:
        """The incomplete last line at the end of the stream, possibly empty."""
        line, self._pending = self._pending, b""
        return line


def _read_any_reply(text: bytes, request: ReplyRequest) -> ReplyLine:
    warnings: list[str] = []
    definition = request.betting.definition
    position = hand_id = None
    if text.startswith(b"MATCHSTATE:"):
        position = scan_unsigned(text, len(b"MATCHSTATE:"), 8)
    if position is None or position[0] >= NUM_PLAYERS:
        return _ignored(warnings, BAD_STATE)
    if text[position[1] : position[1] + 1] == b":":
        hand_id = scan_unsigned(text, position[1] + 1, 32)
    if hand_id is None or text[hand_id[1] : hand_id[1] + 1] != b":":
        return _ignored(warnings, BAD_STATE)
    scanned = _scan_betting(text, hand_id[1] + 1, definition, warnings)
    if scanned is None:
        return _ignored(warnings, BAD_STATE)
    betting, at = scanned
    cards = _scan_all_cards(text, at, betting)
    if cards is None:
        return _ignored(warnings, BAD_STATE)
    hole, board, at = cards
    wanted = request.betting
    if (
        position[0] != wanted.actor
        or hand_id[0] != request.hand_id
        or betting.actions != wanted.actions
        or hole[wanted.actor] != request.hole
        or board != request.board
    ):
        return _ignored(warnings, NOT_REQUESTED)
    return _read_action(text, at, wanted, warnings)


def _ignored(warnings: list[str], reason: str) -> IgnoredLine:
    return IgnoredLine((*warnings, reason))


def _scan_betting(
    text: bytes, at: int, definition: GameDefinition, warnings: list[str]
) -> tuple[BettingState, int] | None:
    """Parse the betting up to a ':' or the end of the text; slashes may be anywhere."""
    betting = start(definition)
    while at < len(text):
        if text[at] == ord(":"):
            return betting, at + 1
        if text[at] == ord("/"):
            at += 1
            continue
        scanned = scan_action(text, at, definition.no_limit)
        if scanned is None or scanned[0] is None:
            return None
        action, at = scanned[0], scanned[1]
        warnings += _raise_warnings(betting, action)
        if not betting.can(action):
            return None
        betting = betting.apply(action)
    return betting, at


def _scan_all_cards(text: bytes, at: int, betting: BettingState) -> tuple[HoleCards, Cards, int] | None:
    definition = betting.definition
    hole: list[Cards] = []
    for position in range(NUM_PLAYERS):
        if position and text[at : at + 1] == b"|":
            at += 1
        cards, after = scan_cards(text, at, definition.num_hole_cards)
        if cards:
            if len(cards) != definition.num_hole_cards:
                return None
            at = after
        hole.append(cards)
    board: Cards = ()
    for round_index in range(betting.round_index + 1):
        if round_index and text[at : at + 1] == b"/":
            at += 1
        cards, at = scan_cards(text, at, definition.board_cards[round_index])
        if len(cards) != definition.board_cards[round_index]:
            return None
        board += cards
    return (hole[0], hole[1]), board, at


def _read_action(text: bytes, at: int, betting: BettingState, warnings: list[str]) -> ActionLine:
    scanned = scan_action(text, at + 1, betting.definition.no_limit) if text[at : at + 1] == b":" else None
    if scanned is None:
        return ActionLine(CALL, (*warnings, BAD_ACTION))
    action = scanned[0]
    if action is not None:
        warnings += _raise_warnings(betting, action)
        bounds = betting.raise_bounds() if action.kind is ActionKind.RAISE else None
        if bounds is not None and betting.definition.no_limit:
            least, most = bounds
            if action.raise_to < least:
                warnings.append(f"WARNING: raise of {action.raise_to} increased to {least}")
                action = raise_to(least)
            elif action.raise_to > most:
                warnings.append(f"WARNING: raise of {action.raise_to} decreased to {most}")
                action = raise_to(most)
    if action is None or not betting.can(action):
        return ActionLine(CALL, (*warnings, INVALID_ACTION))
    return ActionLine(action, tuple(warnings))


def _raise_warnings(betting: BettingState, action: Action) -> list[str]:
    """The reference dealer's warning for a raise when the round is close to its maximum number of actions."""
    if (
        action.kind is ActionKind.RAISE
        and not betting.is_finished
        and betting.raises < betting.definition.max_raises[betting.round_index]
        and len(betting.actions[-1]) + NUM_PLAYERS > MAX_ACTIONS_PER_ROUND
    ):
        return [TOO_MANY_ACTIONS]
    return []
