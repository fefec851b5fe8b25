"""Speed of the blueprint trainer (Monte Carlo CFR).

traversals_per_s     traversals of one deal for one player
nodes_per_s          nodes visited in them, terminal nodes included
nodes_per_cpu_s      the same per second of CPU time, which other load does not change
deals_per_s          deals per second of one thread: cards, buckets of all rounds, winner
nodes_per_traversal  nodes visited per traversal
speedup              with several threads: their nodes_per_s over that of one thread, on the same tables, in
                     alternation; the best of each, to reduce the influence of other load

Real cards, full-size tables, averaging on and pruning off. Measured after a warm-up, when strategies are no
longer uniform and memory accesses miss the caches. Buckets come from the current strength of a hand, in
tables as large as the real ones; --clustered uses the real ones, which take a minute longer to build.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from math import inf

import numpy as np

from abstraction.buckets import BLOCKED
from abstraction.isomorphism import board_locations, canonical_boards
from abstraction.presets import make_card_abstraction
from abstraction.tables import BucketTables, open_tables
from bench.figures import figure_parser, print_figures
from game.evaluator import START, strength_5, strength_6, strength_7, strength_counts
from game.evaluator_tables import CARD_BITS, CARD_KEYS
from game.hands import HAND_CARDS, NUM_CLASSES, NUM_HANDS
from numeric.arrays import U8, U16
from numeric.jit import kernel
from server.cli.parts.numbers import positive_number, whole_number
from solver.blueprint.abstract_game import Dealer, make_training_game, new_deals
from solver.training.deals import HoldemDealer
from solver.training.presets import named_preset
from solver.training.trainer import Trainer, TrainingSettings, make_plan

QUICK = ("--warm-up", "5", "--seconds", "5")


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("mccfr", __doc__)
    parser.add_argument("--threads", type=whole_number(), default=1, help="threads (default: %(default)s)")
    parser.add_argument("--preset", default="default", help="tiny, default or paper (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=positive_number, default=10.0, help="seconds to measure (default: %(default)s)"
    )
    parser.add_argument(
        "--warm-up", type=positive_number, default=20.0, help="seconds of warm-up (default: %(default)s)"
    )
    buckets = parser.add_mutually_exclusive_group()
    buckets.add_argument("--clustered", action="store_true", help="use the preset's own buckets")
    buckets.add_argument(
        "--buckets",
        type=whole_number(1, BLOCKED - 1),
        metavar="N",
        help="use N buckets on each round after the first",
    )
    parser.add_argument("--seed", type=whole_number(0), default=1, help="seed (default: %(default)s)")
    args = parser.parse_args(argv)
    figures = _measure(args)
    print_figures(figures, args.json)
    return 0


def _measure(args: argparse.Namespace) -> dict[str, float | int | str | None]:
    preset = named_preset(args.preset)
    game = preset.game()
    if args.buckets is not None:
        game = make_training_game(game.tree, (NUM_CLASSES, *[args.buckets] * 3), game.unit)
    if args.clustered:
        tables = open_tables(make_card_abstraction(preset.cards, args.seed))
    else:
        tables = _strength_tables(game.num_buckets)
    dealer = HoldemDealer(tables)
    settings = TrainingSettings(burn_in=0.0, prune_below=-inf, floor=-inf)
    plan = make_plan(settings, args.seed, seconds=args.warm_up + args.seconds)
    trainer = Trainer(game, dealer, plan, args.threads)
    while trainer.seconds < args.warm_up:
        trainer.run_slice()
    seconds, iterations, nodes = trainer.seconds, trainer.iterations, trainer.nodes_visited
    cpu_seconds = time.process_time()
    while trainer.seconds - seconds < args.seconds:
        trainer.run_slice()
    cpu_seconds = time.process_time() - cpu_seconds
    seconds, iterations = trainer.seconds - seconds, trainer.iterations - iterations
    nodes = trainer.nodes_visited - nodes
    speedup = _speedup(trainer) if args.threads > 1 else None
    trainer.close()
    return {
        "bench": "mccfr",
        "traversals_per_s": round(2 * iterations / seconds),
        "nodes_per_s": round(nodes / seconds),
        "nodes_per_cpu_s": round(nodes / cpu_seconds),
        "threads": args.threads,
        "speedup": speedup,
        "deals_per_s": round(_deal_rate(dealer)),
        "nodes_per_traversal": round(nodes / (2 * iterations), 1),
        "preset": preset.name,
        "betting_nodes": len(game.betting.base),
        "infosets": game.num_infosets,
        "table_mb": round(8 * game.table_size / 1e6, 1),
        "buckets": "clustered" if args.clustered else "by strength",
    }


def _speedup(trainer: Trainer) -> float:
    alone = Trainer(trainer.game, trainer.dealer, trainer.plan)
    alone.regret, alone.sums = trainer.regret, trainer.sums
    rates: dict[Trainer, list[float]] = {trainer: [], alone: []}
    trainer.plan = alone.plan = replace(
        trainer.plan, slice_batches=16
    )  # short runs, of which at least one is undisturbed
    for _ in range(20):
        for one, found in rates.items():
            seconds, nodes = one.seconds, one.nodes_visited
            one.run_slice()
            found.append((one.nodes_visited - nodes) / (one.seconds - seconds))
    alone.close()
    return round(max(rates[trainer]) / max(rates[alone]), 2)


def _strength_tables(num_buckets: tuple[int, ...]) -> BucketTables:
    """Buckets by the share of all seven-card hands that are weaker than the current hand."""
    shares = np.cumsum(strength_counts()) / 133_784_561

    def table(num_cards: int, count: int) -> U16:
        boards = canonical_boards(num_cards)
        filled = np.empty((len(boards), NUM_HANDS), dtype=np.uint16)
        _fill_by_strength(boards, (shares * count).astype(np.uint16), filled)
        return filled

    flop, turn, river = (table(n, count) for n, count in zip((3, 4, 5), num_buckets[1:], strict=True))
    return BucketTables(flop, turn, river, board_locations(3), board_locations(4), board_locations(5))


@kernel
def _fill_by_strength(boards: U8, bucket_of: U16, table: U16) -> None:
    for n in range(boards.shape[0]):
        key, held = START, np.uint64(0)
        for i in range(boards.shape[1]):
            key += CARD_KEYS[boards[n, i]]
            held |= CARD_BITS[boards[n, i]]
        for hand in range(NUM_HANDS):
            low, high = HAND_CARDS[hand, 0], HAND_CARDS[hand, 1]
            own = CARD_BITS[low] | CARD_BITS[high]
            total = key + CARD_KEYS[low] + CARD_KEYS[high]
            if held & own:
                strength = np.uint16(0)
            elif boards.shape[1] == 3:
                strength = strength_5(total, held | own)
            elif boards.shape[1] == 4:
                strength = strength_6(total, held | own)
            else:
                strength = strength_7(total, held | own)
            table[n, hand] = bucket_of[strength]


def _deal_rate(dealer: Dealer) -> float:
    deals, state = new_deals(100_000, 4), np.ones(1, dtype=np.uint64)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        dealer.fill(state, deals)
        seconds.append(time.perf_counter() - start)
    return len(deals.outcome) / min(seconds)
