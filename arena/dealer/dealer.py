"""The ACPC dealer as a program: files, ports and the reference dealer's messages around a `Match`."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from arena.dealer.match import HandObserver, HandResult, Match, MatchTerms
from arena.dealer.seats import ANY_ADDRESS, accept_all, listen
from arena.dealer.transactions import TransactionFile
from arena.dealer.transcript import Progress, Transcript
from arena.errors import MatchAborted
from protocol.acpc_log import LogHeader, score_line

DEFAULT_VERSION_TIMEOUT_MS = 600_000


@dataclass(frozen=True, slots=True)
class DealerOptions:
    """Settings of a dealer run. Times are in milliseconds, None for no limit."""

    match_name: str
    """Also the path of the log and transaction files, to which `.log` and `.tlog` are added."""
    game_name: str
    terms: MatchTerms
    host: str = ANY_ADDRESS
    ports: tuple[int, int] = (0, 0)
    log: bool = True
    transactions: bool = False
    append: bool = False
    quiet: bool = False
    progress: bool = False
    start_timeout_ms: int | None = None
    version_timeout_ms: int | None = field(default=DEFAULT_VERSION_TIMEOUT_MS)


def run_dealer(
    options: DealerOptions, out: BinaryIO, err: BinaryIO, observer: HandObserver | None = None
) -> int:
    """Deal one match; blocks. Writes ports and score to `out`, the rest to `err`; returns the exit status."""
    transcript = Transcript(err, options.quiet)
    try:
        _run(options, out, transcript, err, observer)
    except MatchAborted as error:
        transcript.say(f"ERROR: {error}\n")
        return 1
    except BrokenPipeError:
        raise  # the reader of our output is gone, so there is nobody to report to
    except OSError as error:
        transcript.say(f"ERROR: could not write the match's files: {error.strerror}\n")
        return 1
    finally:
        transcript.flush()
    return 0


def _run(
    options: DealerOptions,
    out: BinaryIO,
    transcript: Transcript,
    err: BinaryIO,
    observer: HandObserver | None,
) -> None:
    terms = options.terms
    with contextlib.ExitStack() as open_things:
        log = transactions = None
        if options.log:
            log = open_things.enter_context(_open_log(Path(options.match_name + ".log"), options.append))
        if options.transactions:
            path = Path(options.match_name + ".tlog")
            transactions = open_things.enter_context(TransactionFile(path, options.append))
        listeners = listen(options.host, options.ports)
        for listener in listeners:
            open_things.callback(listener.close)
        ports = [listener.getsockname()[1] for listener in listeners]
        out.write(f"{ports[0]} {ports[1]}\n".encode())
        out.flush()
        header = str(_header(options))
        transcript.say(header)
        transcript.flush()
        if log is not None:
            log.write(os.fsencode(header))
        seats = accept_all(listeners, terms.limits, options.start_timeout_ms)
        for seat in seats:
            open_things.callback(seat.close)
        if options.progress:
            observer = _with_progress(options, err, observer)
        totals = Match(terms, seats, transcript, log, transactions, observer).play(options.version_timeout_ms)
        score = score_line(totals, terms.names)
        out.write(os.fsencode(score))
        out.flush()
        transcript.say(score)
        if log is not None:
            log.write(os.fsencode(score))


def _header(options: DealerOptions) -> LogHeader:
    terms = options.terms
    limits = terms.limits
    return LogHeader(
        match=options.match_name,
        game=options.game_name,
        hands=terms.hands,
        seed=terms.seed,
        response_ms=limits.response_us() // 1000,
        hand_ms=limits.hand_us() // 1000,
        per_hand_ms=limits.match_us(terms.hands) // terms.hands // 1000,
    )


def _open_log(path: Path, append: bool) -> BinaryIO:
    try:
        return path.open("ab" if append else "wb", buffering=0)
    except OSError as error:
        raise MatchAborted(f"could not open log file {path}: {error.strerror}") from error


def _with_progress(options: DealerOptions, err: BinaryIO, observer: HandObserver | None) -> HandObserver:
    terms = options.terms
    progress = Progress(err, terms.names[0], terms.hands, terms.definition.big_blind, overwrite=options.quiet)

    def observe(result: HandResult) -> None:
        progress.hand_finished(result.hand_id, result.values[result.first_seat])  # seat 1's position
        if observer is not None:
            observer(result)

    return observe
