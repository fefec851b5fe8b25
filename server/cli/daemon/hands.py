"""`fathom hands`: list, show and export stored hands."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from server.cli.parts.configuration import add_store_arguments, chosen_store
from server.cli.parts.numbers import whole_number

if TYPE_CHECKING:
    from server.store.hand_reader import HandReader
    from server.store.hand_records import StoredDecision, StoredHand

_EPILOG = """\
The hand store is one file with every hand that the daemon or `fathom slumbot` played, finished or not. It can
be read while the daemon writes it. Cards of hands in progress are not shown.

examples:
  fathom hands list                                    the newest hands
  fathom hands list --channel acpc --finished --json   one JSON line per hand
  fathom hands show Pq3xW                              one hand, action by action
  fathom hands export --format phh > hands.phhs        everything, for other programs
  fathom hands export --format acpc --match table-7    STATE lines of one match"""

_LEAST_SHOWN = 6
"""Fewest characters of an id to print: a shorter beginning would soon become ambiguous."""
_MOST = 1_000_000_000
_SQLITE_MAGIC = b"SQLite format 3\0"
_GAP = 2
_FIRST_TO_GO = ("board", "cards", "betting", "channel", "opponent", "when")
"""Columns to drop, in this order, if the terminal is too narrow."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    from server.store.hand_records import Channel

    parser.epilog = _EPILOG
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="list the newest hands, one line each")
    export = verbs.add_parser("export", help="export finished hands for other programs")
    show = verbs.add_parser("show", help="show one hand and our decisions in it")
    for verb in (listing, export, show):
        add_store_arguments(verb)
    for verb in (listing, export):
        verb.add_argument(
            "--channel", choices=[str(channel) for channel in Channel], help="only hands of this channel"
        )
        verb.add_argument("--match", metavar="NAME", help="only hands of this match or session")
        verb.add_argument("--opponent", metavar="NAME", help="only hands against this opponent")
    listing.add_argument("--finished", action="store_true", help="only finished hands")
    listing.add_argument(
        "--limit", type=whole_number(1, _MOST), default=20, help="number of hands (default: %(default)s)"
    )
    listing.add_argument("--json", action="store_true", help="print one JSON line per hand")
    show.add_argument("hand", metavar="ID", help="a hand's id, or its beginning, as `list` prints it")
    show.add_argument("--json", action="store_true", help="print one JSON line")
    export.add_argument(
        "--format",
        choices=("phh", "acpc"),
        default="phh",
        help="PHH hand histories, or the lines of an ACPC dealer's log (default: phh)",
    )
    export.add_argument(
        "--limit", type=whole_number(1, _MOST), default=_MOST, help="only the newest N hands (default: all)"
    )
    export.add_argument("--output", type=Path, metavar="FILE", help="output file (default: standard output)")


def run(args: argparse.Namespace) -> int:
    """Run the chosen verb."""
    from server.store.hand_reader import HandReader

    reader = HandReader(chosen_store(args))
    try:
        return {"list": _list, "show": _show, "export": _export}[args.verb](args, reader)
    finally:
        reader.close()


def _list(args: argparse.Namespace, reader: HandReader) -> int:
    from server.store.hand_reader import HandQuery

    query = HandQuery(
        channel=args.channel,
        match=args.match,
        opponent=args.opponent,
        finished=True if args.finished else None,
        limit=args.limit,
    )
    hands = [hand for _, hand in reader.hands(query)]
    if args.json:
        for hand in hands:
            print(json.dumps(_record(hand)))
        return 0
    if not hands:
        any_hand = next(reader.hands(HandQuery(limit=1)), None)
        print("no matching hands" if any_hand else "no hands yet: play some (fathom serve, fathom slumbot)")
        return 0
    _print_table([_row(hand, reader) for hand in hands])
    return 0


def _row(hand: StoredHand, reader: HandReader) -> dict[str, str]:
    record = _record(hand)
    return {
        "hand": reader.unique_beginning(hand.id, _LEAST_SHOWN),
        "when": _when(hand.started_at),
        "channel": str(hand.channel),
        "opponent": hand.opponent,
        "chips": "in progress" if hand.chips is None else f"{hand.chips:+,}",
        "cards": str(record["hole"]),
        "board": str(record["board"]),
        "betting": hand.betting,
    }


def _print_table(rows: list[dict[str, str]]) -> None:
    """Print the rows, never truncating a value: a narrow terminal drops columns, but not the hand's id."""
    from rich.console import Console
    from rich.table import Table

    widths = {title: max(len(title), *[len(row[title]) for row in rows]) + _GAP for title in rows[0]}
    console = Console(highlight=False)
    if console.is_terminal:
        for title in _FIRST_TO_GO:
            if sum(widths.values()) > console.width:
                del widths[title]
    console.width = max(console.width, sum(widths.values()))
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, _GAP, 0, 0))
    for title in widths:
        table.add_column(title, justify="right" if title == "chips" else "left", no_wrap=True)
    for row in rows:
        table.add_row(*[row[title] for title in widths])
    console.print(table, markup=False)


def _show(args: argparse.Namespace, reader: HandReader) -> int:
    hand = _find(reader, args.hand)
    decisions = list(reader.decisions(hand.id))
    if args.json:
        print(json.dumps({**_record(hand), "decisions": [_decision_record(d) for d in decisions]}))
        return 0
    record = _record(hand)
    result = "in progress" if hand.chips is None else f"we won {hand.chips:+,} chips"
    seat = ("big blind", "button")[hand.position]
    print(f"hand {hand.id}, {_when(hand.started_at)}, {hand.channel}, against {hand.opponent}")
    print(f"{record['hole']} {record['board']}, we are the {seat}, {result}")
    print(f"betting {hand.betting or '(none yet)'}")
    for decision in decisions:
        shares = ", ".join(f"{name} {share:.1%}" for name, share in decision.strategy)
        print(
            f"  after {decision.betting or '(nothing)'}: {decision.action}  of {shares}; {decision.method},"
            f" {decision.rung}, {decision.iterations:,} iterations, {decision.seconds:.2f} s"
        )
    return 0


def _export(args: argparse.Namespace, reader: HandReader) -> int:
    from server.store.hand_reader import HandQuery
    from server.store.hand_records import acpc_text, phh_text

    if args.output is not None:
        _refuse_databases(args.output)
    query = HandQuery(
        channel=args.channel, match=args.match, opponent=args.opponent, finished=True, limit=args.limit
    )
    hands = [hand for _, hand in reader.hands(query)][::-1]
    if not hands:
        raise ValueError("no finished hand matches: see `fathom hands list`")
    text = (phh_text if args.format == "phh" else acpc_text)(hands)
    if args.output is None:
        sys.stdout.write(text)
    else:
        args.output.write_text(text, encoding="utf-8")
        print(f"{len(hands):,} hands written to {args.output}", file=sys.stderr)
    return 0


def _refuse_databases(path: Path) -> None:
    """Refuse to overwrite an SQLite file: it may be a hand store."""
    if path.is_dir():
        raise ValueError(f"--output {path}: is a folder: give a file name")
    if not path.is_file():
        return
    with path.open("rb") as file:
        if file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC:
            raise ValueError(f"--output {path}: is an SQLite file, perhaps a hand store: give another file")


def _find(reader: HandReader, beginning: str) -> StoredHand:
    beginning = beginning.removesuffix("…")
    hand = reader.hand(beginning)
    if hand is not None:
        return hand
    found = reader.beginning_with(beginning, limit=2)
    if len(found) != 1 or not beginning:
        what = "no hand id begins" if not found else "several hand ids begin"
        raise ValueError(f"{what} with {beginning!r}: see `fathom hands list`")
    return found[0]


def _record(hand: StoredHand) -> dict[str, object]:
    """A hand's public record: hole cards are hidden until it is finished."""
    from game.cards import cards_text

    hole = hand.hole if hand.is_finished else ((), ())
    return {
        "id": hand.id,
        "channel": str(hand.channel),
        "match": hand.match,
        "number": hand.number,
        "opponent": hand.opponent,
        "position": hand.position,
        "betting": hand.betting,
        "hole": "|".join([cards_text(cards) for cards in hole]),
        "board": cards_text(hand.state().board),
        "started_at": hand.started_at,
        "finished_at": hand.finished_at,
        "chips": hand.chips,
    }


def _decision_record(decision: StoredDecision) -> dict[str, object]:
    return {
        "betting": decision.betting,
        "action": decision.action,
        "strategy": dict(decision.strategy),
        "method": decision.method,
        "rung": decision.rung,
        "iterations": decision.iterations,
        "seconds": decision.seconds,
    }


def _when(seconds: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")
