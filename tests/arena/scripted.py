"""Deterministic players over loopback, and matches between them on this dealer or the reference dealer.

What a scripted player sends depends only on its seed and the lines it has received, so two dealers with the
same behaviour write the same log and the same messages.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import socket
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from arena.dealer.clock import TimeLimits
from arena.dealer.dealer import DealerOptions, run_dealer
from arena.dealer.match import HandObserver, MatchTerms
from game.definition import GameDefinition
from protocol.acpc import MatchState, parse_match_state

JOIN_SECONDS = 60
Script = Callable[[MatchState | None, str], list[bytes]]
"""From a state (None when it is not ours to act) and its line to what the player sends."""

_WILD_ACTIONS = (
    *(
        "c",
        "f",
        "k",
        "C",
        "K",
        "F",
        "x",
        "",
        " c",
        ":c",
        "c300",
        "fold",
        "call",
        "r",
        "R",
        "b",
        "rabc",
        "r-5",
    ),
    *("r0", "r1", "r 300", "r+400", "b500", "R600", "B700", "r300.5", "r99999", "r2147483647", "r2147483648"),
    *("r4294967596", "r9223372036854775808", "r-99999999999999999999", "r99999999999999999999", "r12000x"),
)
_JUNK = (
    b"\r\n", b"\n", b"junk\r\n", b"# a remark\r\n", b"; another\n", b"\0\n", b"#\0\r\n", b"MATCHSTATE\r\n",
    b"MATCHSTATE:\r\n", b"MATCHSTATE:0\r\n", b"MATCHSTATE:0:\n", b"MATCHSTATE:2:0::AsKs|:c\r\n",
    b"MATCHSTATE:0:0:x:AsKs|:c\r\n", b"MATCHSTATE:0:0::As|:c\r\n", b"MATCHSTATE:x:0::AsKs|\r\n",
    b"MATCHSTATE:1:99999999999:cc/cc/:|AsKs/2c3c4c/5c:c\r\n", b"MATCHSTATE:1:0:cc/:|AsKs/2c3c:c\r\n",
    b"MATCHSTATE:0:0:ccccccccccc:AsKs|:c\r\n", b"\xff\xfe\x80\r\n", b"x" * 5000 + b"\r\n",
    b"VERSION:2.0.0\r\n",
    b"MATCHSTATE:0:0:" + b"/" * 4100 + b":\r\n", b"matchstate:0:0::AsKs|:c\r\n", b"  \t\r\n",
)  # fmt: skip


def calls(state: MatchState | None, line: str) -> list[bytes]:
    return [] if state is None else [f"{line}:c\r\n".encode()]


def sensible(seed: int) -> Script:
    """Legal actions only, many raises, some folds."""

    def script(state: MatchState | None, line: str) -> list[bytes]:
        if state is None:
            return []
        rng = random.Random(zlib.crc32(line.encode()) ^ seed)
        return [f"{line}:{_legal_action(state, rng)}\r\n".encode()]

    return script


def chaotic(seed: int) -> Script:
    """Everything the reference dealer is known to tolerate, followed by a sensible reply."""

    def script(state: MatchState | None, line: str) -> list[bytes]:
        rng = random.Random(zlib.crc32(line.encode()) ^ seed)
        if state is None:
            return [f"{line}:c\r\n".encode()] if rng.random() < 0.05 else []
        sent = [rng.choice(_JUNK) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
        if rng.random() < 0.6:
            action = rng.choice(_WILD_ACTIONS) if rng.random() < 0.5 else _legal_action(state, rng)
            separator = ":" if rng.random() < 0.97 else ""
            end = rng.choice((b"\r\n", b"\n", b"\r\n", b"\0tail\r\n", b" \r\n"))
            sent.append(f"{_respelled(state, rng)}{separator}{action}".encode() + end)
        sent.append(f"{line}:{_legal_action(state, rng)}\r\n".encode())
        return sent

    return script


def raise_war(seed: int) -> Script:
    """Always the smallest raise, even at the limit of actions per round."""

    def script(state: MatchState | None, line: str) -> list[bytes]:
        if state is None:
            return []
        bounds = state.state.betting.raise_bounds()
        rng = random.Random(zlib.crc32(line.encode()) ^ seed)
        action = "c" if rng.random() < 0.002 else f"r{bounds[0] if bounds else 20000}"
        return [f"{line}:{action}\r\n".encode()]

    return script


def _legal_action(state: MatchState, rng: random.Random) -> str:
    betting = state.state.betting
    bounds = betting.raise_bounds()
    choice = rng.random()
    if bounds is not None and choice < 0.4:
        if not betting.definition.no_limit:
            return "r"
        return f"r{min(bounds[1], bounds[0] + int(rng.expovariate(1 / 300)))}"
    if betting.can_fold() and choice > 0.9:
        return "f"
    return "c"


def _respelled(state: MatchState, rng: random.Random) -> str:
    """The same state as a careless client might write it."""
    _, position, hand, betting, cards = state.text.split(":")
    position = rng.choice(
        (position, position, "+" + position, " " + position, "0" + position, str(int(position) + 256))
    )
    hand = rng.choice((hand, hand, hand, "+" + hand, " " + hand, "00" + hand, str(int(hand) + 2**32)))
    if rng.random() < 0.2:
        betting = betting.replace("/", rng.choice(("", "//", "/")))
    if rng.random() < 0.1:
        betting = betting.upper().replace("C", "k").replace("R", "b")
    if rng.random() < 0.2:
        cards = cards.swapcase()
    if rng.random() < 0.1 and state.position == 0:
        cards = cards.replace("|", rng.choice(("", "|2c2d")), 1)
    if rng.random() < 0.1 and state.position == 1:
        cards = "2h2s" + cards
    if rng.random() < 0.1:
        cards = cards.replace("/", "", 1)
    return ":".join(("MATCHSTATE", position, hand, betting, cards))


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    status: int
    log: bytes
    stdout: bytes
    stderr: bytes

    @property
    def timeless_stderr(self) -> bytes:
        """The dealer's messages without times, which differ from run to run."""
        text = re.sub(rb" at [0-9]+\.[0-9]{6}", b"", self.stderr)
        text = re.sub(rb"spent in match for seat ([01]): [0-9]+", rb"spent in match for seat \1: 0", text)
        return re.sub(rb"[0-9.]+ seconds spent", b"0.0 seconds spent", text)


@dataclass(frozen=True, slots=True)
class Setup:
    """A match that can be played on either dealer."""

    game: str
    """The text of a `.game` file."""
    definition: GameDefinition
    hands: int
    seed: int
    flags: tuple[str, ...] = ()


def player(
    port: int, definition: GameDefinition, script: Script, version: bytes = b"VERSION:2.0.0\r\n"
) -> None:
    """Play until the dealer closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=JOIN_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            connection.sendall(version)
            received = b""
            while chunk := connection.recv(65536):
                *lines, received = (received + chunk).split(b"\r\n")
                for raw in lines:
                    line = raw.decode()
                    state = parse_match_state(line, definition)
                    for message in script(state if state.is_our_turn else None, line):
                        connection.sendall(message)
        except (ConnectionResetError, BrokenPipeError):
            pass


def play_reference(
    binary: str, setup: Setup, scripts: tuple[Script, Script], directory: Path
) -> MatchOutcome:
    """A match on the reference dealer."""
    (directory / "match.game").write_text(setup.game)
    command = [binary, "match", "match.game", str(setup.hands), str(setup.seed), "Alice", "Bob", *setup.flags]
    with (directory / "stderr").open("w+b") as err:
        dealer = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=err)
        try:
            assert dealer.stdout is not None
            ports = [int(port) for port in dealer.stdout.readline().split()]
            _run_players(ports, setup.definition, scripts)
            rest = dealer.stdout.read()
            status = dealer.wait(JOIN_SECONDS)
        finally:
            dealer.kill()
            dealer.wait()
            if dealer.stdout is not None:
                dealer.stdout.close()
    log = (directory / "match.log").read_bytes()
    return MatchOutcome(status, log, rest, (directory / "stderr").read_bytes())


def play_ours(
    setup: Setup,
    scripts: tuple[Script, Script],
    directory: Path,
    observer: HandObserver | None = None,
) -> MatchOutcome:
    """The same match on this dealer, in a thread."""
    with deal_in_thread(setup, directory, observer) as dealer:
        _run_players(dealer.ports, setup.definition, scripts)
    # The match's name is a path here; the header must contain the name the reference dealer would write.
    full_name = str(directory / "match").encode()
    log = (directory / "match.log").read_bytes().replace(full_name, b"match", 1)
    stderr = (directory / "stderr").read_bytes().replace(full_name, b"match", 1)
    return MatchOutcome(dealer.status, log, dealer.stdout, stderr)


@dataclass(slots=True)
class RunningDealer:
    """This dealer in a thread: the ports are known first, the other fields when it has finished."""

    ports: list[int]
    status: int = -1
    stdout: bytes = b""


@contextlib.contextmanager
def deal_in_thread(
    setup: Setup,
    directory: Path,
    observer: HandObserver | None = None,
    start_timeout_ms: int | None = None,
    version_timeout_ms: int | None = None,
) -> Iterator[RunningDealer]:
    """Run the dealer while the body runs, then wait for the end of the match."""
    flags = setup.flags
    fixed_seats, limits = "-f" in flags, _limits(flags)
    options = DealerOptions(
        str(directory / "match"),
        "match.game",
        MatchTerms(setup.definition, setup.hands, setup.seed, ("Alice", "Bob"), fixed_seats, limits),
        host="127.0.0.1",
        transactions="-T" in flags,
        append="-a" in flags,
        quiet="-q" in flags,
        start_timeout_ms=start_timeout_ms,
        version_timeout_ms=version_timeout_ms,
    )
    reading, writing = os.pipe()
    statuses: list[int] = []

    def deal(out: BinaryIO, err: BinaryIO) -> None:
        with out, err:
            statuses.append(run_dealer(options, out, err, observer))

    with os.fdopen(reading, "rb") as output:
        err = (directory / "stderr").open("wb")
        thread = threading.Thread(target=deal, args=(os.fdopen(writing, "wb"), err), daemon=True)
        thread.start()
        dealer = RunningDealer([int(port) for port in output.readline().split()])
        yield dealer
        dealer.stdout = output.read()
        thread.join(JOIN_SECONDS)
        assert not thread.is_alive()
    dealer.status = statuses[0]


def timeless_transactions(path: Path) -> list[bytes]:
    """The actions and hand numbers of a transaction file, without times."""
    return [b" ".join(line.split()[:2]) for line in path.read_bytes().splitlines()]


def _limits(flags: tuple[str, ...]) -> TimeLimits:
    given = {flag: int(value) for flag, value in itertools.pairwise(flags) if flag.startswith("--t_")}
    defaults = TimeLimits()
    return TimeLimits(
        given.get("--t_response", defaults.response_ms),
        given.get("--t_hand", defaults.hand_ms),
        given.get("--t_per_hand", defaults.per_hand_ms),
    )


def _run_players(ports: list[int], definition: GameDefinition, scripts: tuple[Script, Script]) -> None:
    threads = [
        threading.Thread(target=player, args=(port, definition, script), daemon=True)
        for port, script in zip(ports, scripts, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_SECONDS)
        assert not thread.is_alive()
