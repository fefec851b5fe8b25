"""The dealer's output while a match runs: lines to and from the players, warnings, progress."""

from __future__ import annotations

import os
import time
from typing import BinaryIO

from arena.runs.statistics import Winnings
from protocol.acpc_log import MICROSECONDS
from protocol.acpc_scan import c_string

_PROGRESS_SECONDS = 1.0

_Exchanged = tuple[int, int, tuple[bytes, ...]]
"""Time in microseconds, sender (the dealer or a seat), and the lines: one per seat, or the seat's own."""
_DEALER = -1


class Transcript:
    """Output in the reference dealer's wording, collected and written when no player waits for the dealer."""

    def __init__(self, stream: BinaryIO, quiet: bool) -> None:
        self._stream = stream
        self._gathered: list[bytes | _Exchanged] = []
        self.quiet = quiet

    def say(self, text: str) -> None:
        """Add a line even if quiet: errors, warnings, results."""
        self._gathered.append(os.fsencode(text))

    def remark(self, text: str) -> None:
        """Add a line unless quiet."""
        if not self.quiet:
            self._gathered.append(os.fsencode(text))

    def sent(self, time_us: int, lines: tuple[bytes, bytes]) -> None:
        """Record that a line (given without line ending) was sent to each seat."""
        self._gathered.append((time_us, _DEALER, lines))

    def received(self, time_us: int, seat: int, line: bytes) -> None:
        """Record a line received from a seat."""
        self._gathered.append((time_us, seat, (line,)))

    def flush(self) -> None:
        """Write the collected output."""
        if self._gathered:
            lines = [
                entry if isinstance(entry, bytes) else _exchanged_text(entry) for entry in self._gathered
            ]
            self._stream.write(b"".join(lines))
            self._stream.flush()
            self._gathered.clear()


class Progress:
    """Progress line of a match: hands, the first player's win rate with a 95 % interval, speed."""

    def __init__(self, stream: BinaryIO, name: str, hands: int, big_blind: int, overwrite: bool) -> None:
        self._stream = stream
        self._name = name
        self._hands = hands
        self._overwrite = overwrite
        self._winnings = Winnings(big_blind)
        self._started = self._shown = time.monotonic()

    def hand_finished(self, hand_id: int, chips: int) -> None:
        """Add a hand's result for the first player, and show a line if one is due."""
        self._winnings.add(chips)
        now = time.monotonic()
        if now - self._shown >= _PROGRESS_SECONDS or hand_id + 1 == self._hands:
            self._shown = now
            self._stream.write(os.fsencode(self._line(hand_id + 1, now)))
            self._stream.flush()

    def _line(self, hands: int, now: float) -> str:
        speed = self._winnings.hands / max(now - self._started, 1e-9)
        text = f"{hands:,} of {self._hands:,} hands  {self._name} {self._winnings}  {speed:,.0f} hands/s"
        if self._overwrite:
            return f"\r{text}\x1b[K" + ("\n" if hands == self._hands else "")
        return f"# {text}\n"


def _exchanged_text(exchanged: _Exchanged) -> bytes:
    time_us, sender, lines = exchanged
    at = b"at %d.%06d" % divmod(time_us, MICROSECONDS)
    if sender == _DEALER:
        return b"TO 1 %b %b\r\nTO 2 %b %b\r\n" % (at, lines[0], at, lines[1])
    return b"FROM %d %b %b" % (sender + 1, at, c_string(lines[0]))
