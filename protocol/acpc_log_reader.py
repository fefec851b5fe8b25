"""Read the log file of an ACPC dealer; every hand is replayed, and its values are checked against the rules.

    # comment
    STATE:<hand>:<betting>:<hole 0>|<hole 1>/<board>:<value 0>|<value 1>:<name 0>|<name 1>      by position
    SCORE:<total 1>|<total 2>:<name 1>|<name 2>                                                 by seat

Positions swap from hand to hand, seats do not; the names connect the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from game.definition import GameDefinition
from protocol.acpc import parse_betting, parse_hand_state
from protocol.errors import RecordError, RemoteProtocolError
from protocol.records import HandRecord

_HAND_ID = re.compile(r"0|[1-9][0-9]{0,9}")
_CHIPS = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Score:
    """The last line of a complete log: total chips won, in seat order."""

    totals: tuple[int, int]
    players: tuple[str, str]


@dataclass(frozen=True, slots=True)
class MatchLog:
    """A whole log file. The score is missing if the match did not end properly."""

    hands: tuple[HandRecord, ...]
    score: Score | None
    comments: tuple[str, ...]


def read_log(lines: Iterable[str], definition: GameDefinition) -> MatchLog:
    """Read and verify a log, line by line; raises `RecordError` with the number of the first bad line."""
    hands: list[HandRecord] = []
    comments: list[str] = []
    score: Score | None = None
    for number, raw_line in enumerate(lines, start=1):
        line = raw_line.rstrip("\r\n")
        try:
            if line.startswith(("#", ";")):
                comments.append(line)
            elif score is not None:
                raise RecordError("the log continues after its SCORE line")
            elif line.startswith("STATE:"):
                hands.append(parse_log_state(line, definition))
            elif line.startswith("SCORE:"):
                score = parse_log_score(line)
                _verify_score(score, hands)
            elif line:
                raise RecordError(f"{line[:80]!r} is neither a comment nor a STATE or SCORE line")
        except RecordError as error:
            raise RecordError(str(error), number) from error
    return MatchLog(tuple(hands), score, tuple(comments))


def parse_log_state(line: str, definition: GameDefinition) -> HandRecord:
    """Parse the finished hand of a `STATE` line; its values must agree with the rules."""
    fields = line.split(":", 5)
    if fields[0] != "STATE" or len(fields) != 6:
        raise RecordError(f"expected STATE and five more fields separated by ':', not {line[:80]!r}")
    _, hand_text, betting_text, cards_text, values_text, names_text = fields
    if not _HAND_ID.fullmatch(hand_text):
        raise RecordError(f"hand {hand_text[:80]!r}: must be a number")
    try:
        betting = parse_betting(definition, betting_text)
        state = parse_hand_state(betting, cards_text, (True, True))
    except RemoteProtocolError as error:
        raise RecordError(f"hand {hand_text}: {error}") from error
    if not betting.is_finished:
        raise RecordError(f"hand {hand_text}: the betting {betting_text!r} does not end the hand")
    values = _parse_chips(values_text)
    if values != state.values():
        raise RecordError(
            f"hand {hand_text}: the log says {values[0]}|{values[1]},"
            f" by the rules it must be {state.values()[0]}|{state.values()[1]}"
        )
    return HandRecord(int(hand_text), state, _parse_names(names_text))


def parse_log_score(line: str) -> Score:
    """Parse the totals of a `SCORE` line."""
    fields = line.split(":", 2)
    if fields[0] != "SCORE" or len(fields) != 3:
        raise RecordError(f"expected SCORE and two more fields separated by ':', not {line[:80]!r}")
    return Score(_parse_chips(fields[1]), _parse_names(fields[2]))


def _verify_score(score: Score, hands: list[HandRecord]) -> None:
    if score.players[0] == score.players[1]:
        return  # the names do not tell the players apart
    totals = dict.fromkeys(score.players, 0)
    for hand in hands:
        for player, value in zip(hand.players, hand.state.values(), strict=True):
            if player not in totals:
                raise RecordError(f"hand {hand.hand_id} was played by {player!r}, whom SCORE does not name")
            totals[player] += value
    if tuple(totals.values()) != score.totals:
        first, second = totals.values()
        raise RecordError(
            f"the score is {score.totals[0]}|{score.totals[1]}, the hands sum to {first}|{second}"
        )


def _parse_chips(text: str) -> tuple[int, int]:
    words = text.split("|")
    if len(words) != 2 or not all(_CHIPS.fullmatch(word) for word in words):
        raise RecordError(f"{text[:80]!r}: expected two whole numbers separated by '|'")
    return int(words[0]), int(words[1])


def _parse_names(text: str) -> tuple[str, str]:
    names = text.split("|")
    if len(names) != 2:
        raise RecordError(f"{text[:80]!r}: expected two names separated by '|'")
    return names[0], names[1]
