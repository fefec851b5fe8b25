"""A duplicate match over the ACPC dealer: two legs with the same cards and swapped seats.

1. Fathom's players run as `fathom versus`, other programs as the ACPC starts them: COMMAND HOST PORT.
2. Each leg has a log and a transaction file, NAME-1.log and so on: an interrupted or killed match is resumed
   from them, like any match of the dealer. The result is read from the logs.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from arena.dealer.clock import TimeLimits
from arena.dealer.dealer import DealerOptions, run_dealer
from arena.dealer.match import HandResult, MatchTerms
from arena.duplicate.results import MatchResult, recorded_result
from arena.errors import JournalError, MatchAborted
from arena.players.base import HANDS_PER_PAIR
from arena.players.registry import external_command, make_player
from game.definition import GameDefinition
from protocol.acpc_log_reader import read_log
from protocol.records import HandRecord

HOST = "127.0.0.1"
_START_MS = 120_000  # players may have to map tables and load kernels
_NO_LIMIT_MS = 24 * 3600 * 1000
_GOODBYE_SECONDS = 5.0
_POLL_SECONDS = 0.05
_SEED_MASK = (1 << 32) - 1  # the dealer's seeds have 32 bits

Tick = Callable[[HandResult], None]


@dataclass(frozen=True, slots=True)
class DealerMatchTerms:
    """The terms of a match. Players are written as in `arena.players.registry`."""

    definition: GameDefinition
    game: str
    """The game as the user named it."""
    players: tuple[str, str]
    names: tuple[str, str]
    seed: int
    pairs: int


def play_over_dealer(terms: DealerMatchTerms, save: Path | None, tick: Tick) -> MatchResult:
    """Play both legs, or the rest of them; blocks. Raises `MatchAborted`."""
    for text in terms.players:
        if external_command(text) is None:
            make_player(text)  # report errors here rather than in a child process
    with _folder(save) as base:
        legs = [_play_leg(terms, base.with_name(f"{base.name}-{leg + 1}"), leg, tick) for leg in (0, 1)]
    records = [hand for pair in zip(*legs, strict=True) for hand in pair]
    result = recorded_result(terms.definition, terms.names, records)
    return replace(result, hands_per_sample=HANDS_PER_PAIR)


def _play_leg(terms: DealerMatchTerms, base: Path, leg: int, tick: Tick) -> list[HandRecord]:
    log = base.with_name(base.name + ".log")
    order = (0, 1) if leg == 0 else (1, 0)
    hands = _read(log, terms)
    if len(hands) < terms.pairs:
        match_terms = MatchTerms(
            terms.definition,
            terms.pairs,
            terms.seed & _SEED_MASK,
            (terms.names[order[0]], terms.names[order[1]]),
            limits=TimeLimits(_NO_LIMIT_MS, _NO_LIMIT_MS, _NO_LIMIT_MS),
        )
        options = DealerOptions(
            str(base), terms.game, match_terms, host=HOST, transactions=True, append=True, quiet=True,
            start_timeout_ms=_START_MS,
        )  # fmt: skip
        texts = terms.players[order[0]], terms.players[order[1]]
        _deal(options, terms, texts, leg, tick)
        hands = _read(log, terms)
    if len(hands) < terms.pairs:
        raise MatchAborted(f"{log} has {len(hands)} hands, expected {terms.pairs}")
    return hands[: terms.pairs]


def _read(log: Path, terms: DealerMatchTerms) -> list[HandRecord]:
    """The complete hands of a log that may be truncated; the score line is ignored."""
    if not log.exists():
        return []
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n") and not line.startswith("SCORE")]
    read = read_log(whole, terms.definition)
    seeds = {comment.split()[-1] for comment in read.comments if comment.startswith("# name/game/hands/seed")}
    players = {name for hand in read.hands for name in hand.players}
    if seeds - {str(terms.seed & _SEED_MASK)} or players - set(terms.names):
        raise JournalError(f"{log} is the log of another match: choose another --save NAME, or delete it")
    hands = {hand.hand_id: hand for hand in read.hands}
    return [hands[hand_id] for hand_id in sorted(hands)]


def _deal(
    options: DealerOptions, terms: DealerMatchTerms, texts: tuple[str, str], leg: int, tick: Tick
) -> None:
    """Run the dealer in a thread and the players as processes."""
    errors, statuses = io.BytesIO(), []
    ports_end, out_end = os.pipe()

    def deal() -> None:
        with os.fdopen(out_end, "wb") as out:
            statuses.append(run_dealer(options, out, errors, tick))

    dealer = threading.Thread(target=deal, daemon=True)
    dealer.start()
    with os.fdopen(ports_end, "rb") as out, tempfile.TemporaryFile() as said:
        ports = out.readline().split()
        players: list[subprocess.Popen[bytes]] = []
        try:
            for seat, port in enumerate(ports):
                command = _command(texts[seat], terms, int(port), 2 * leg + seat)
                try:
                    players.append(_start(command, said))
                except OSError as error:
                    raise MatchAborted(f"could not start {command[0]}: {error.strerror}") from None
            _wait(dealer, players)
        finally:
            for player in players:
                if player.poll() is None:
                    player.terminate()
                    player.wait()
        if statuses != [0]:
            said.seek(0)
            lines = errors.getvalue().decode("utf-8", "replace").splitlines()
            words = [line for line in lines if not line.startswith("#")]
            words += said.read().decode("utf-8", "replace").strip().splitlines()[-5:]
            raise MatchAborted("\n".join(["the match was aborted", *words]))


def _wait(dealer: threading.Thread, players: list[subprocess.Popen[bytes]]) -> None:
    """Wait until the match is over and all players have exited, or until a player exits too early."""
    patience = _GOODBYE_SECONDS
    while patience > 0:
        dealer.join(_POLL_SECONDS)
        running = [player for player in players if player.poll() is None]
        if not dealer.is_alive() and not running:
            return
        if not dealer.is_alive() or len(running) < len(players):
            patience -= _POLL_SECONDS
            if not dealer.is_alive():
                time.sleep(_POLL_SECONDS)


def _command(text: str, terms: DealerMatchTerms, port: int, key: int) -> list[str]:
    words = external_command(text)
    if words is not None:
        return [*words, HOST, str(port)]
    own = [sys.executable, "-m", "server.cli", "versus", text, HOST, str(port), "--game", terms.game]
    return [*own, "--seed", str(4 * terms.seed + key), "--quiet"]


def _start(command: list[str], said: io.BufferedRandom) -> subprocess.Popen[bytes]:
    home = str(Path(__file__).resolve().parent.parent.parent)
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=environment)  # noqa: S603 - the user names it


@contextmanager
def _folder(save: Path | None) -> Iterator[Path]:
    if save is not None:
        yield save
        return
    with tempfile.TemporaryDirectory(prefix="fathom-match-") as folder:
        yield Path(folder) / "match"
