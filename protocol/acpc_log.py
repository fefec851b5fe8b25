"""The files of an ACPC dealer: the log file's first and last lines, and the transaction file.

The log file (`MATCH.log`) is for analysing a match; `HandLines.record` formats the lines in between. The
transaction file (`MATCH.tlog`) contains every action with the times of the request and the reply, which is
enough to resume an interrupted match, even in the middle of a hand:

    r300 17 1763262000.123456 1763262000.234567
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from game.actions import Action
from protocol.acpc_scan import c_string, scan_action, scan_unsigned
from protocol.errors import RecordError

MICROSECONDS = 1_000_000

_STAMPS = re.compile(rb"\s*\+?([0-9]+)\.\s*([0-9]{1,6}+)\s*\+?([0-9]+)(?:\.\s*([0-9]{1,6}))?")


@dataclass(frozen=True, slots=True)
class LogHeader:
    """The terms of a match; times in milliseconds."""

    match: str
    game: str
    """The game as the user named it: a file or a preset."""
    hands: int
    seed: int
    response_ms: int
    hand_ms: int
    per_hand_ms: int

    def __str__(self) -> str:
        return (
            f"# name/game/hands/seed {self.match} {self.game} {self.hands} {self.seed}\n"
            f"#--t_response {self.response_ms}\n#--t_hand {self.hand_ms}\n#--t_per_hand {self.per_hand_ms}\n"
        )


def score_line(totals: tuple[int, int], names: tuple[str, str]) -> str:
    """The last line of a complete log: total chips won, in seat order."""
    return f"SCORE:{totals[0]}|{totals[1]}:{names[0]}|{names[1]}\n"


@dataclass(frozen=True, slots=True)
class Transaction:
    """One action of a match; times in microseconds since the epoch."""

    action: Action
    hand_id: int
    asked_us: int
    answered_us: int

    def __str__(self) -> str:
        return f"{self.action} {self.hand_id} {stamp(self.asked_us)} {stamp(self.answered_us)}\n"


def stamp(time_us: int) -> str:
    """'1763262000.000042': seconds and microseconds since the epoch."""
    seconds, microseconds = divmod(time_us, MICROSECONDS)
    return f"{seconds}.{microseconds:06d}"


def parse_transaction(line: bytes, no_limit: bool) -> Transaction:
    """Parse one line of a transaction file, with or without its line end; raises `RecordError`."""
    text = c_string(line)
    shown = text.decode("ascii", "replace").rstrip("\r\n")
    scanned = scan_action(text, 0, no_limit)
    if scanned is None:
        raise RecordError(f"could not parse transaction action {shown}")
    action, at = scanned
    hand_id = scan_unsigned(text, at, 32)
    stamps = _STAMPS.match(text, hand_id[1]) if hand_id is not None else None
    if hand_id is None or stamps is None:
        raise RecordError(f"could not parse transaction stamp {shown}")
    if action is None:
        raise RecordError(f"invalid action in transaction log: {shown}")
    asked, asked_us, answered, answered_us = (int(number or 0) for number in stamps.groups())
    return Transaction(
        action, hand_id[0], asked * MICROSECONDS + asked_us, answered * MICROSECONDS + answered_us
    )
