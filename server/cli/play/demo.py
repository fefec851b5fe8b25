"""`fathom demo`: a dealer and two simple players in one command, with hands described in words."""

from __future__ import annotations

import argparse
import io
import os
import queue
import random
import threading
import time
from typing import TYPE_CHECKING, BinaryIO

from server.cli.parts.numbers import whole_number

if TYPE_CHECKING:
    from rich.console import Console

    from arena.dealer.match import HandResult
    from game.state import HandState

_NAMES = ("Alice", "Bob")
_ROUNDS = ("before the flop", "flop", "turn", "river")
_SUITS = {"c": "[green]♣[/]", "d": "[blue]♦[/]", "h": "[red]♥[/]", "s": "♠"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument(
        "--hands", type=whole_number(), default=200, help="hands to play (default: %(default)s)"
    )
    parser.add_argument(
        "--show", type=whole_number(0), default=4, help="hands to describe in full (default: %(default)s)"
    )
    parser.add_argument(
        "--seed",
        type=whole_number(0),
        default=7,
        help="random seed of cards and players (default: %(default)s)",
    )
    parser.add_argument(
        "--alice", default="pot-odds", metavar="POLICY", help="Alice's policy (default: %(default)s)"
    )
    parser.add_argument(
        "--bob", default="random", metavar="POLICY", help="Bob's policy (default: %(default)s)"
    )
    parser.epilog = "example:\n  fathom demo --hands 1000 --alice pot-odds --bob all-in"


def run(args: argparse.Namespace) -> int:
    """Play and describe the hands; returns 0 if the dealer succeeded, else 1."""
    from rich.console import Console

    from arena.players.policies import POLICIES

    for policy in (args.alice, args.bob):
        if policy not in POLICIES:
            raise ValueError(f"unknown policy {policy!r}: choose from {', '.join(POLICIES)}")
    if args.hands < 1:
        raise ValueError("--hands: play at least one hand")
    console = Console(highlight=False)
    console.print(
        f"[bold]{_NAMES[0]}[/] ({args.alice}) and [bold]{_NAMES[1]}[/] ({args.bob}) play {args.hands:,} hands"
        " of no-limit hold'em: blinds 50/100, stacks of 20,000 for every hand.\n"
    )
    results: queue.SimpleQueue[HandResult | None] = queue.SimpleQueue()
    statuses: list[int] = []
    errors = io.BytesIO()
    reading, writing = os.pipe()
    dealer = threading.Thread(
        target=_deal, args=(args, os.fdopen(writing, "wb"), errors, results, statuses), daemon=True
    )
    dealer.start()
    with os.fdopen(reading, "rb") as ports:
        for seat, port in enumerate(ports.readline().split()):
            policy = (args.alice, args.bob)[seat]
            threading.Thread(target=_play, args=(int(port), policy, args.seed + seat), daemon=True).start()
        _tell(console, args.hands, args.show, results)
        dealer.join()
    if statuses != [0]:
        console.print(errors.getvalue().decode("utf-8", "replace"), style="red", markup=False)
        return 1
    return 0


def _deal(
    args: argparse.Namespace,
    out: BinaryIO,
    err: BinaryIO,
    results: queue.SimpleQueue[HandResult | None],
    statuses: list[int],
) -> None:
    from arena.dealer.dealer import DealerOptions, run_dealer
    from arena.dealer.match import MatchTerms
    from game.definition import HUNL

    terms = MatchTerms(HUNL, args.hands, args.seed, _NAMES)
    options = DealerOptions(
        "demo", "hunl", terms, host="127.0.0.1", log=False, quiet=True, start_timeout_ms=10_000
    )
    with out:
        statuses.append(run_dealer(options, out, err, results.put))
    results.put(None)


def _play(port: int, policy_name: str, seed: int) -> None:
    from arena.players.policies import POLICIES
    from game.definition import HUNL
    from server.matches.acpc_client import connect, play

    policy, rng = POLICIES[policy_name], random.Random(seed)
    with connect("127.0.0.1", port, 5.0, lambda _: None) as connection:
        play(connection, HUNL, lambda match: policy(match.state, match.position, rng), lambda _: None)


def _tell(console: Console, hands: int, shown: int, results: queue.SimpleQueue[HandResult | None]) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from arena.runs.statistics import Winnings

    winnings = Winnings(big_blind=100)
    started = time.monotonic()
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=hands)
        while (result := results.get()) is not None:
            winnings.add(result.values[result.first_seat])  # what Alice won: seat 1's position
            if result.hand_id < shown:
                progress.console.print(describe_hand(result), highlight=False)
            progress.update(task, advance=1, description=f"{_NAMES[0]} {winnings}")
    speed = winnings.hands / max(time.monotonic() - started, 1e-9)
    console.print(
        f"After {winnings.hands:,} hands: [bold]{_NAMES[0]} {winnings}[/]"
        f" (thousandths of a big blind per hand, 95 % interval), {speed:,.0f} hands/s.\n"
        "Next: [bold]fathom dealer --help[/], [bold]fathom acpc --help[/]."
    )


def describe_hand(result: HandResult) -> str:
    """A finished hand in words, with rich markup."""
    state, names = result.state, result.names
    definition, betting = state.definition, state.betting
    holes = [f"[bold]{names[p]}[/] {_cards(state.hole[p])}" for p in (1, 0)]
    lines = [f"Hand {result.hand_id + 1}: {holes[0]} on the button, {holes[1]}"]
    spent, highest = list(definition.blinds), definition.big_blind
    for round_index, actions in enumerate(betting.actions):
        actor, round_start = definition.first_player[round_index], highest if round_index else 0
        words = []
        for action in actions:
            letter = action.kind.value
            if letter == "f":
                words.append(f"{names[actor]} folds")
            elif letter == "c":
                words.append(f"{names[actor]} {'calls' if spent[actor] < highest else 'checks'}")
                spent[actor] = highest
            else:
                opening = round_index > 0 and spent[actor] == highest
                all_in = ", all-in" if action.raise_to == definition.stacks[actor] else ""
                verb = "bets" if opening else "raises to"
                words.append(f"{names[actor]} {verb} {action.raise_to - round_start:,}{all_in}")
                spent[actor] = highest = action.raise_to
            actor = 1 - actor
        board = state.board[definition.board_size(round_index - 1) : definition.board_size(round_index)]
        cards = f" {_cards(board)}" if board and round_index else ""
        if words or cards:
            lines.append(f"  {_ROUNDS[round_index]}{cards}: {', '.join(words) or 'no more betting'}")
    lines.append(f"  {_outcome(state, result.values, names)}\n")
    return "\n".join(lines)


def _outcome(state: HandState, values: tuple[int, int], names: tuple[str, str]) -> str:
    from game.showdown import showdown_category, showdown_rank

    if values == (0, 0):
        return "The pot is split."
    winner = 0 if values[0] > 0 else 1
    how = ""
    if state.betting.is_showdown:
        category = showdown_category(showdown_rank(state.hole[winner] + state.board))
        how = f" with {category.name.lower().replace('_', ' ')}"
    return f"[bold]{names[winner]} wins {values[winner]:,}[/]{how}."


def _cards(cards: tuple[int, ...]) -> str:
    from game.cards import card_text

    return " ".join(f"{text[0]}{_SUITS[text[1]]}" for text in map(card_text, cards))
