"""`fathom slumbot`: play against Slumbot, or a server that implements its API."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from server.cli.parts.configuration import add_store_arguments, chosen_store
from server.cli.parts.numbers import positive_number, whole_number
from server.cli.parts.outputs import check_output

if TYPE_CHECKING:
    from server.matches.slumbot_journal import Journal, Tally
    from server.matches.slumbot_transport import SlumbotHttp

_EPILOG = """\
Network failures are reported and retried, and the interrupted hand is resumed; no hand is abandoned. With
--journal FILE, running the same command again continues the session with all results so far. The first Ctrl-C
ends the match after the current hand, the second one at once. Hands and decisions are also written to the
hand store: `fathom hands list --channel slumbot`.

examples:
  fathom slumbot --hands 1000                                        as a guest
  fathom slumbot --hands 100000 --journal series.slumbot --username NAME   (password: $SLUMBOT_PASSWORD)
  fathom slumbot --hands 200 --url http://127.0.0.1:8080/api/ --budget 1   another Fathom"""

_PLAIN_SECONDS = 10.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    from server.matches.slumbot_transport import DEFAULT_URL

    parser.add_argument(
        "--hands",
        type=whole_number(),
        required=True,
        metavar="N",
        help="total hands to play, including those in the journal",
    )
    parser.add_argument("--url", default=DEFAULT_URL, help="base URL of the API (default: %(default)s)")
    parser.add_argument(
        "--username", help="log in as this user; password from $SLUMBOT_PASSWORD, or a prompt"
    )
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="write results to FILE, or continue from it"
    )
    parser.add_argument(
        "--opponent",
        default="slumbot",
        metavar="NAME",
        help="opponent's name in the hand store (default: %(default)s)",
    )
    parser.add_argument(
        "--budget",
        type=positive_number,
        default=7.0,
        metavar="SECONDS",
        help="time budget per hand (default: 7)",
    )
    parser.add_argument(
        "--blueprint", default="", metavar="FILE", help="blueprint to play (default: the shipped one)"
    )
    parser.add_argument(
        "--workers", type=whole_number(), default=1, help="solver processes (default: %(default)s)"
    )
    add_store_arguments(parser)
    parser.add_argument(
        "--patience",
        type=float,
        default=3600.0,
        metavar="SECONDS",
        help="how long to retry a failing server before giving up (default: 3600)",
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the result as JSON")
    parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Play; returns 1 if the server stayed unreachable and the match was given up."""
    import uvloop

    from server.matches.slumbot_journal import Journal
    from server.matches.slumbot_match import GaveUpError
    from server.matches.slumbot_transport import SlumbotHttp

    if not args.patience >= 0:
        raise ValueError(f"--patience {args.patience:g}: give a number of seconds, 0 or more")
    check_output("--report", args.report)
    transport = SlumbotHttp(args.url)
    password = ""
    if args.username is not None:
        password = os.environ.get("SLUMBOT_PASSWORD") or getpass.getpass("password: ")
    journal = Journal(args.journal, args.url, args.username)
    if journal.goes_on:
        _say(f"continuing after {journal.tally.hands:,} hands: {journal.tally.winnings}")
    started, status = time.monotonic(), 0
    try:
        import asyncio

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_play(args, transport, password, journal))
    except GaveUpError as error:
        kept = "; the results so far are saved: run the same command to continue" if args.journal else ""
        _say(f"{error}{kept}")
        status = 1
    finally:
        journal.close()
    record = result_record(args.url, args.username, journal.tally, time.monotonic() - started)
    print(json.dumps(record) if args.json else result_text(record), flush=True)
    if args.report is not None:
        args.report.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return status


async def _play(args: argparse.Namespace, transport: SlumbotHttp, password: str, journal: Journal) -> None:
    import asyncio
    import signal

    from server.config.blueprint_choice import choose_blueprint
    from server.config.config import LogConfig, WorkersConfig
    from server.matches.slumbot_match import SlumbotMatch, SlumbotTerms
    from server.pool.agent_pool import make_pool
    from server.store.hand_store import HandStore
    from server.telemetry.logs import configure_logging

    configure_logging(LogConfig(level="warning"))
    blueprint = choose_blueprint(args.blueprint, _say)
    terms = SlumbotTerms(args.opponent, args.username, password, args.budget, args.patience)
    _say("warming up the agent: seconds, or a minute or two the first time")
    pool = make_pool(WorkersConfig(count=args.workers, nice=0), blueprint)
    await pool.start()
    try:
        await pool.wait_until_ready()
        with HandStore(chosen_store(args)) as store:
            async with transport as post:
                live = _Live(args.hands)
                match = SlumbotMatch(post, pool, journal, terms, store, live, live.tell)
                loop = asyncio.get_running_loop()
                playing = loop.create_task(match.play(args.hands))
                asked: list[int] = []

                def stop(number: int) -> None:
                    asked.append(number)
                    match.leave()
                    if len(asked) > 1 or not match.hand_under_way:
                        playing.cancel()
                    else:
                        live.tell("stopping after this hand; press Ctrl-C again to stop at once")

                for number in (signal.SIGINT, signal.SIGTERM):
                    loop.add_signal_handler(number, stop, number)
                try:
                    await playing
                except asyncio.CancelledError:
                    if not asked:
                        raise
    finally:
        await pool.close()


class _Live:
    """Shows the result so far: one updating line on a terminal, occasional lines elsewhere."""

    def __init__(self, hands: int) -> None:
        self._hands = hands
        self._on_terminal = sys.stderr.isatty()
        self._told = -_PLAIN_SECONDS

    def __call__(self, tally: Tally) -> None:
        now = time.monotonic()
        text = f"{tally.hands:,} of {self._hands:,} hands, {tally.winnings}, {tally.retries} retries"
        last = tally.hands >= self._hands
        if self._on_terminal:
            print(f"\r\x1b[K{text}", end="\n" if last else "", file=sys.stderr, flush=True)
        elif now > self._told + _PLAIN_SECONDS or last:
            self._told = now
            _say(text)

    def tell(self, message: str) -> None:
        """Print a message on its own line."""
        if self._on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr)
        _say(message)


def result_record(url: str, username: str | None, tally: Tally, seconds: float) -> dict[str, Any]:
    """A match's result as plain values; undefined numbers are None."""
    baseline = tally.baseline
    return {
        "url": url,
        "username": username,
        "hands": tally.hands,
        "chips": tally.chips,
        "mbb_per_hand": round(tally.winnings.mean, 2),
        "margin_95": _finite(tally.winnings.margin),
        "big_blind": _seat(tally, 0),
        "button": _seat(tally, 1),
        "baseline_mbb_per_hand": round(baseline.mean, 2) if baseline.hands else None,
        "baseline_margin_95": _finite(baseline.margin) if baseline.hands else None,
        "recovered_hands": tally.recovered,
        "lost_hands": tally.lost,
        "disagreements": tally.disagreements,
        "refusals": tally.refusals,
        "retries": tally.retries,
        "decisions": dict(tally.decisions),
        "seconds": round(seconds, 1),
    }


def result_text(record: dict[str, Any]) -> str:
    """A match's result as text."""
    margin = record["margin_95"]
    lines = [
        f"{record['hands']:,} hands on {record['url']}: {record['chips']:+,} chips,"
        f" {record['mbb_per_hand']:+,.1f} ± {'∞' if margin is None else f'{margin:,.1f}'} mbb/hand"
        " (95 % interval)"
    ]
    for seat in ("big_blind", "button"):
        part = record[seat]
        if part["hands"]:
            lines.append(
                f"  {seat.replace('_', ' ')}: {part['hands']:,} hands, {part['mbb_per_hand']:+,.1f} mbb/hand"
            )
    if record["baseline_mbb_per_hand"] is not None:
        lines.append(f"  against Slumbot's own result: {record['baseline_mbb_per_hand']:+,.1f} mbb/hand")
    counts = ("recovered_hands", "lost_hands", "disagreements", "refusals", "retries")
    events = [f"{record[name]} {name.replace('_', ' ')}" for name in counts if record[name]]
    lines.append(f"  {record['seconds']:,.0f} s; {', '.join(events) or 'no failures'}")
    return "\n".join(lines)


def _seat(tally: Tally, position: int) -> dict[str, Any]:
    part = tally.by_position[position]
    return {
        "hands": part.hands,
        "mbb_per_hand": round(part.mean, 2),
        "margin_95": _finite(part.margin),
    }


def _finite(value: float) -> float | None:
    return round(value, 2) if value != float("inf") else None


def _say(message: str) -> None:
    print(f"fathom slumbot: {message}", file=sys.stderr, flush=True)
