"""How fast the blueprint trainer is: deals dealt, walked for both players, and learned from.

traversals_per_s    walks of one deal for one player
nodes_per_s         nodes visited in them, terminal nodes included
deals_per_s         how fast one thread deals alone: cards, buckets of all rounds, who wins
nodes_per_traversal how far a walk goes; more as strategies develop, fewer when pruning

The figure is taken after --warm-up seconds of training, when strategies have become uneven and the tables no
longer fit a cache. Without --tables deals are made up, buckets from random strengths, so that no bucket
tables are built first; then real cards are slower to deal.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from abstraction.presets import make_card_abstraction
from abstraction.tables import open_tables
from solver.blueprint_presets import named_preset
from solver.holdem_deals import HoldemDealer
from solver.mccfr import Trainer, TrainingSettings, make_plan
from solver.training_game import Dealer, ListDealer, TrainingGame, new_deals

MADE_UP_DEALS = 1_000_000
_BLUR = (0.3, 0.2, 0.12, 0.04)


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = argparse.ArgumentParser(prog="fathom bench mccfr", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--preset", default="default", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=10.0, help="to measure (default: %(default)s)")
    parser.add_argument("--warm-up", type=float, default=20.0, help="seconds before (default: %(default)s)")
    parser.add_argument(
        "--tables", action="store_true", help="deal real cards; builds the bucket tables once"
    )
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    args = parser.parse_args(argv)
    figures = _measure(args)
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:20} {value:,}" if isinstance(value, int | float) else f"{name:20} {value}")
    return 0


def _measure(args: argparse.Namespace) -> dict[str, float | int | str]:
    preset = named_preset(args.preset)
    game = preset.game()
    dealer = _real_dealer(preset.cards, args.seed) if args.tables else _made_up_dealer(game, args.seed)
    settings = TrainingSettings(burn_in=0.0, prune_below=float("-inf"), floor=float("-inf"))
    plan = make_plan(settings, args.seed, seconds=args.seconds + args.warm_up)
    trainer = Trainer(game, dealer, plan, args.threads)
    while trainer.seconds < args.warm_up:
        trainer.run_slice()
    seconds, iterations, nodes = trainer.seconds, trainer.iterations, trainer.nodes_visited
    while not trainer.is_done:
        trainer.run_slice()
    seconds, iterations = trainer.seconds - seconds, trainer.iterations - iterations
    nodes = trainer.nodes_visited - nodes
    trainer.close()
    return {
        "bench": "mccfr",
        "traversals_per_s": round(2 * iterations / seconds),
        "nodes_per_s": round(nodes / seconds),
        "threads": args.threads,
        "deals_per_s": round(_deal_rate(dealer, game.num_rounds)),
        "nodes_per_traversal": round(nodes / (2 * iterations), 1),
        "preset": preset.name,
        "betting_nodes": len(game.betting.base),
        "table_mb": round(8 * game.table_size / 1e6, 1),
        "cards": "real" if args.tables else "made up",
    }


def _real_dealer(cards: str, seed: int) -> Dealer:
    return HoldemDealer(open_tables(make_card_abstraction(cards, seed)))


def _made_up_dealer(game: TrainingGame, seed: int) -> Dealer:
    """Buckets that blur a hidden strength less and less from round to round; the stronger one wins."""
    rng = np.random.default_rng(seed)
    strengths = rng.random((MADE_UP_DEALS, 2))
    deals = new_deals(MADE_UP_DEALS, game.num_rounds)
    for p in range(2):
        for r, count in enumerate(game.num_buckets):
            seen = strengths[:, p] + _BLUR[r] * rng.normal(size=MADE_UP_DEALS)
            deals.buckets[:, p * game.num_rounds + r] = np.clip(seen, 0, 0.9999) * count
    deals.outcome[:] = np.sign(strengths[:, 0] - strengths[:, 1])
    return ListDealer(deals)


def _deal_rate(dealer: Dealer, num_rounds: int) -> float:
    deals, state = new_deals(100_000, num_rounds), np.ones(1, dtype=np.uint64)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        dealer.fill(state, deals)
        seconds.append(time.perf_counter() - start)
    return len(deals.outcome) / min(seconds)
