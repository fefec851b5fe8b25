"""What the dealer tells people while a match runs: lines to and from the players, warnings, progress."""

from __future__ import annotations

import os
import time
from typing import BinaryIO

from arena.statistics import Winnings
from protocol.acpc_log import MICROSECONDS
from protocol.acpc_scan import c_string

_PROGRESS_SECONDS = 1.0

_Exchanged = tuple[int, int, tuple[bytes, ...]]
"""The time in microseconds, the sender (the dealer or a seat), the line for each seat or from that one."""
_DEALER = -1


class Transcript:
    """Lines in the reference dealer's wording, gathered, and written when nobody waits for the dealer."""

    def __init__(self, stream: BinaryIO, quiet: bool) -> None:
        self._stream = stream
        self._gathered: list[bytes | _Exchanged] = []
        self.quiet = quiet

    def say(self, text: str) -> None:
        """A line in any case: errors, warnings, results."""
        self._gathered.append(os.fsencode(text))

    def remark(self, text: str) -> None:
        """A line unless quiet."""
        if not self.quiet:
            self._gathered.append(os.fsencode(text))

    def sent(self, time_us: int, lines: tuple[bytes, bytes]) -> None:
        """A line, here without its end, went to each seat."""
        self._gathered.append((time_us, _DEALER, lines))

    def received(self, time_us: int, seat: int, line: bytes) -> None:
        """A line came from a player."""
        self._gathered.append((time_us, seat, (line,)))

    def flush(self) -> None:
        """Write what was gathered."""
        if self._gathered:
            lines = [
                entry if isinstance(entry, bytes) else _exchanged_text(entry) for entry in self._gathered
            ]
            self._stream.write(b"".join(lines))
            self._stream.flush()
            self._gathered.clear()


class Progress:
    """A line about the match as it goes: hands, the first player's result with a 95 % interval, speed."""

    def __init__(self, stream: BinaryIO, name: str, hands: int, big_blind: int, overwrite: bool) -> None:
        self._stream = stream
        self._name = name
        self._hands = hands
        self._overwrite = overwrite
        self._winnings = Winnings(big_blind)
        self._started = self._shown = time.monotonic()

    def hand_finished(self, hand_id: int, chips: int) -> None:
        """Count a hand in which the first player won so many chips, and show a line if one is due."""
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
