"""The journal of a match on Slumbot: token and results, so that running the same command again continues it.

One JSON object per line, appended as events happen; an incomplete last line, left by a kill, is removed. Only
the owner may read the file, because the token is enough to play the session.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.runs.statistics import Winnings
from game.definition import HUNL

_START = "match"


class JournalError(ValueError):
    """The file is not this match's journal; the message says what to do."""


@dataclass(slots=True)
class Tally:
    """The results of a match so far, from our point of view."""

    winnings: Winnings = field(default_factory=lambda: Winnings(HUNL.big_blind))
    by_position: tuple[Winnings, Winnings] = field(
        default_factory=lambda: (Winnings(HUNL.big_blind), Winnings(HUNL.big_blind))
    )
    chips: int = 0
    baseline: Winnings = field(default_factory=lambda: Winnings(HUNL.big_blind))
    """Slumbot's own results with the same cards, for hands whose answers report them."""
    recovered: int = 0
    """Hands whose end we did not see; their result follows from the session's total."""
    lost: int = 0
    """Hands whose result is unknown."""
    disagreements: int = 0
    """Results that contradict the rules."""
    refusals: int = 0
    """Our actions that the server rejected."""
    retries: int = 0
    """Requests repeated after a failure."""
    decisions: dict[str, int] = field(default_factory=dict)
    """Number of decisions by rung of the ladder of fallbacks."""

    @property
    def hands(self) -> int:
        """The number of hands with a result."""
        return self.winnings.hands


class Journal:
    """Appends events to a file, if there is one, and tallies them with those already in it."""

    def __init__(self, path: Path | None, url: str, username: str | None) -> None:
        """Open or create the file; raises `JournalError` if it belongs to another match."""
        self.tally = Tally()
        self.token: str | None = None
        self.session_hands: int | None = None
        self.session_total: int | None = None
        self._file: int | None = None
        whole = b""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            whole = path.read_bytes()
            end = whole.rfind(b"\n") + 1
            os.ftruncate(self._file, end)
            whole = whole[:end]
        match = {"url": url, "username": username}
        try:
            records = [json.loads(line) for line in whole.splitlines()]
            if records and records[0].get(_START) != match:
                raise JournalError(
                    f"{path} is the journal of another match, {records[0].get(_START)}: give another file"
                )
            for record in records:
                self._count(record)
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            self.close()
            if isinstance(error, JournalError):
                raise
            raise JournalError(f"{path} is not the journal of a match: give another file") from error
        if not records:
            self._write({_START: match})

    @property
    def goes_on(self) -> bool:
        """Whether the journal continues an earlier match."""
        return self.tally.hands > 0 or self.token is not None

    def close(self) -> None:
        """Close the file. Idempotent."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def keep_token(self, token: str | None) -> None:
        """Record a new token, or the loss of the token (None)."""
        if token != self.token:
            self._add({"token": token})

    def keep_hand(self, hand: dict[str, Any]) -> None:
        """Record a finished hand; winnings, position, session_hands and session_total are tallied."""
        self._add({"hand": hand})

    def keep_recovered(self, hands: int, chips: int) -> None:
        """Record the total result of hands whose end we did not see."""
        self._add({"recovered": {"hands": hands, "chips": chips}})

    def keep_lost(self) -> None:
        """Record a hand whose result will remain unknown."""
        self._add({"lost": 1})

    def _add(self, record: dict[str, Any]) -> None:
        self._write(record)
        self._count(record)

    def _write(self, record: dict[str, Any]) -> None:
        if self._file is not None:
            os.write(self._file, json.dumps(record, separators=(",", ":")).encode() + b"\n")

    def _count(self, record: dict[str, Any]) -> None:
        tally = self.tally
        if "token" in record:
            self.token = record["token"]
            if self.token is None:
                self.session_hands = self.session_total = None
        elif "hand" in record:
            hand = record["hand"]
            chips = int(hand["winnings"])
            tally.winnings.add(chips)
            tally.by_position[hand["position"]].add(chips)
            tally.chips += chips
            if hand.get("baseline_winnings") is not None:
                tally.baseline.add(hand["baseline_winnings"])
            tally.disagreements += bool(hand.get("disagreement"))
            self.session_hands, self.session_total = hand["session_hands"], hand["session_total"]
        elif "recovered" in record:
            hands, chips = record["recovered"]["hands"], record["recovered"]["chips"]
            tally.recovered += hands
            tally.chips += chips
            for _ in range(hands):
                tally.winnings.add(chips / hands)
        elif "lost" in record:
            tally.lost += 1
