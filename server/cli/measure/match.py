"""`fathom match A B`: a resumable duplicate match between any two players, on all cores."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from server.cli.parts.numbers import whole_number
from server.cli.parts.outputs import check_output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from arena.duplicate.adjusted import Adjusted
    from arena.duplicate.duplicate import DuplicateTerms
    from arena.duplicate.results import MatchResult

_KEPT = "the hands played so far are saved: run the same command to continue"

_EPILOG = """\
players:
  call, fold, random, min-raise, all-in, check-down, pot-odds       simple policies
  blueprint                                                         the shipped blueprint
  blueprint:FILE,bias=call*10,threshold=0.1,purify=0.2              another blueprint, with options:
      bias       multiplies the probability of fold, call or raise
      threshold  drops actions less likely than this
      purify     folds if folding is likelier than this, else takes the likeliest of fold, call, raise
  agent, agent:FILE,budget=2                                        solves its decisions; seconds per hand
  agent,iterations=100,leaf=rollouts,values=4                       options:
      iterations of flop solves (turns get half, rivers four times as many) instead of a budget; reproducible
      leaf       leaf values of flop solves: learned, adapted, rollouts or net
      values     opponent continuations at each leaf (not for learned leaves): 1, 2 or 4
      preflop    when to solve the first round: offtree (after a bet that the blueprint does not have), solve
                 (always) or lookup (never)
      flop       when to solve the flop: solve (always) or offtree, which takes half the time
      safe=0     turn off safe re-solving
      threads    threads per solve
  python:mybot.py:NAME                                              your own function or class
  acpc:COMMAND                                                      a program that speaks ACPC, started as
                                                                    COMMAND HOST PORT and played on the dealer

Every deal is played twice, with the seats swapped. A's result is given in mbb/hand (thousandths of a big
blind) with a 95 % interval over pairs of hands. The same seed gives the same match. With --save NAME every
pair of hands is written to NAME.match as it is played; run the same command again to continue, even after a
kill. If hands were all-in before the river, an all-in adjusted result is added (the mean over all run-outs).
--aivat removes the luck of the cards, and of the choices of players whose strategy is known. It is unbiased
whatever the opponent does, who may be acpc:COMMAND. Except between two blueprints it works during play: a
journal written with --aivat cannot be resumed without it, nor the other way round.

examples:
  fathom match pot-odds call --hands 2000
  fathom match blueprint blueprint,bias=call --hands 1000000 --save bias --html bias.html
  fathom match blueprint blueprint,bias=call --hands 20000 --aivat
  fathom match agent,budget=1 'acpc:./bot.sh' --hands 2000 --aivat --save bot"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("a", metavar="A", help="the player whose result is shown")
    parser.add_argument("b", metavar="B", help="the opponent")
    parser.add_argument("--hands", type=int, default=10_000, help="hands, two per deal (default: 10000)")
    parser.add_argument(
        "--seed",
        type=whole_number(0),
        help="random seed, to repeat a match exactly (default: random, or 1 with --save)",
    )
    parser.add_argument("--game", default="hunl", help="a preset or an ACPC .game file (default: hunl)")
    parser.add_argument("--workers", type=whole_number(), help="processes (default: one per core)")
    parser.add_argument(
        "--save", type=Path, metavar="NAME", help="write a journal, NAME.match, or resume from it"
    )
    parser.add_argument(
        "--dealer",
        action="store_true",
        help="play on the ACPC dealer, each player in its own process; the default with acpc:COMMAND, unless"
        " --aivat is given",
    )
    parser.add_argument(
        "--aivat", action="store_true", help="reduce variance by AIVAT, using the known strategies"
    )
    add_outputs(parser)
    parser.epilog = _EPILOG


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Declare the output options of a finished match."""
    outputs = parser.add_argument_group("results")
    outputs.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    outputs.add_argument("--html", type=Path, metavar="FILE", help="write a report as one HTML file")
    outputs.add_argument(
        "--png", type=Path, metavar="FILE", help="write the report as an image; needs matplotlib"
    )
    outputs.add_argument("--log", type=Path, metavar="FILE", help="write all hands as an ACPC log")
    outputs.add_argument("--phh", type=Path, metavar="FILE", help="write all hands as a .phhs hand history")


def run(args: argparse.Namespace) -> int:
    """Play until all hands are played or the command is interrupted."""
    from rich.console import Console

    from arena.duplicate.duplicate import DuplicateTerms
    from arena.errors import JournalError, MatchAborted
    from arena.players.registry import external_command, player_labels
    from server.config.game_files import load_definition

    if args.hands < 2:
        raise ValueError(f"--hands {args.hands}: give at least 2, one pair")
    if args.aivat and args.dealer:
        raise ValueError("--aivat queries the players' strategies during play: leave out --dealer")
    check_outputs(args)
    seed = args.seed
    if seed is None:
        seed = 1 if args.save else random.SystemRandom().getrandbits(32)
    texts = args.a, args.b
    labels, pairs = player_labels(texts), (args.hands + 1) // 2
    journal = args.save.with_name(args.save.name + ".match") if args.save else None
    check_output("--save", journal)
    terms = DuplicateTerms(load_definition(args.game), texts, labels, seed, pairs)
    console = Console(stderr=True)
    try:
        if args.aivat:
            terms = _with_aivat(terms)
        if args.dealer or (not args.aivat and any(external_command(text) for text in texts)):
            result = _play_over_dealer(terms, args.game, args.save, console)
        else:
            result = _play(terms, journal, args.workers, console)
        adjustments = _adjust(args, terms, result, console)
    except KeyboardInterrupt:
        if journal is not None:
            console.print(f"stopped; {_KEPT}")
        return 130
    except MatchAborted as error:
        if journal is not None and journal.exists() and not isinstance(error, JournalError):
            console.print(f"aborted; {_KEPT}")
        raise
    print_result(args, result, seed, adjustments)
    if not args.json:
        console.print(f"seed {seed}", style="dim")
    write_outputs(args, result, seed, adjustments)
    return 0


def check_outputs(args: argparse.Namespace) -> None:
    """Check before the match that its output files can be written."""
    for name in ("html", "png", "log", "phh"):
        check_output(f"--{name}", getattr(args, name))
    if args.png:
        from arena.report.png import verify_drawing

        verify_drawing()


def write_outputs(
    args: argparse.Namespace, result: MatchResult, seed: int, adjustments: Mapping[str, Adjusted]
) -> None:
    """Write the requested files."""
    from arena.report.hand_files import write_histories, write_log

    if args.log:
        write_log(args.log, result, args.game, seed)
    if args.phh:
        write_histories(args.phh, result)
    if args.html or args.png:
        _write_report(args, result, seed, adjustments)


def print_result(
    args: argparse.Namespace, result: MatchResult, seed: int, adjustments: Mapping[str, Adjusted]
) -> None:
    """Print the result, before any file is written.

    adjustments  by their JSON key
    """
    if args.json:
        more = {name: found.to_json() for name, found in adjustments.items()}
        print(json.dumps({**result.to_json(), **more, "seed": seed}), flush=True)
        return
    a, b = result.names
    print(f"{a} against {b}: {result.total} over {result.num_hands:,} hands (95 % interval)")
    for found in adjustments.values():
        print(f"  {found}")


def all_in_adjustment(result: MatchResult) -> dict[str, Adjusted]:
    """The all-in adjustment; empty if no hand was all-in before the last card."""
    from arena.duplicate.adjusted import adjusted
    from arena.duplicate.all_in import allin_chips

    chips = allin_chips(result)
    return {"allin": adjusted(result, "all-in adjusted", chips)} if (chips != result.chips).any() else {}


def _with_aivat(terms: DuplicateTerms) -> DuplicateTerms:
    """The terms for AIVAT; raises before play if neither player's strategy is known."""
    from dataclasses import replace

    from arena.aivat.hand import tells_strategy, verify_known
    from arena.duplicate.duplicate import corrects_on_the_way
    from arena.players.registry import make_match_player

    first, second = (make_match_player(text) for text in terms.players)
    verify_known((tells_strategy(first), tells_strategy(second)))
    return replace(terms, aivat=corrects_on_the_way(terms))


def _adjust(
    args: argparse.Namespace, terms: DuplicateTerms, result: MatchResult, console: Console
) -> dict[str, Adjusted]:
    from arena.duplicate.adjusted import adjusted
    from arena.duplicate.aivat_match import aivat_chips

    found = all_in_adjustment(result)
    if result.corrected is not None:
        found["aivat"] = adjusted(result, "AIVAT", result.corrected)
    elif args.aivat:
        with _progress(console) as progress:
            task = progress.add_task("AIVAT", total=result.num_hands)
            chips = aivat_chips(
                terms, result, args.workers, lambda done: progress.update(task, completed=done)
            )
        found["aivat"] = adjusted(result, "AIVAT", chips)
    return found


def _write_report(
    args: argparse.Namespace, result: MatchResult, seed: int, adjustments: Mapping[str, Adjusted]
) -> None:
    from arena.report.html import html_report
    from arena.report.report import make_report

    more = [(found.name, found.estimate) for found in adjustments.values()]
    report = make_report(result, [("seed", str(seed))], more)
    if args.html:
        args.html.write_text(html_report(report), encoding="utf-8")
    if args.png:
        from arena.report.png import write_png

        write_png(args.png, report)


def _play(terms: DuplicateTerms, journal: Path | None, workers: int | None, console: Console) -> MatchResult:
    from arena.duplicate.duplicate import play_duplicate
    from arena.players.base import HANDS_PER_PAIR
    from arena.runs.journal import Journal
    from arena.runs.statistics import PairWinnings

    winnings = PairWinnings(terms.definition.big_blind)
    with _progress(console) as progress:
        task = progress.add_task("starting", total=HANDS_PER_PAIR * terms.pairs)

        def tick(journal: Journal) -> None:
            winnings.add_lines(journal.lines[winnings.pairs :])
            progress.update(
                task, completed=HANDS_PER_PAIR * winnings.pairs, description=f"{terms.names[0]} {winnings}"
            )

        return play_duplicate(terms, journal, workers, tick, progress)


def _play_over_dealer(terms: DuplicateTerms, game: str, save: Path | None, console: Console) -> MatchResult:
    from arena.dealer.match import HandResult
    from arena.runs.statistics import Winnings
    from server.matches.dealer_match import DealerMatchTerms, play_over_dealer

    winnings = Winnings(terms.definition.big_blind)
    dealer_terms = DealerMatchTerms(
        terms.definition, game, terms.players, terms.names, terms.seed, terms.pairs
    )
    with _progress(console) as progress:
        task = progress.add_task("starting", total=2 * terms.pairs)

        def tick(hand: HandResult) -> None:
            winnings.add(hand.values[hand.names.index(terms.names[0])])
            progress.update(task, advance=1, description=f"{terms.names[0]} {winnings}")

        return play_over_dealer(dealer_terms, save, tick)


def _progress(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("hands"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
