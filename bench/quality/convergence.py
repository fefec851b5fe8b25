"""Exploitability of a preset's blueprint by length of training.

Every length is a separate training from scratch, with its schedule scaled to the length. Exploitability is
measured in the abstract game, in big blinds per hand, by best responses on a list of sampled deals
(`solver/training/deal_response.py`): the upper bound is the gain on the deals the response was chosen for,
the lower bound is the gain on held-out deals.

rows              iterations, seconds of training, exploitability_at_most_bb, exploitability_at_least_bb and
                  share_of_uniform_at_most for each length; 0 iterations is uniform play
share_of_uniform  the same upper bound for the longest training
falls             whether every training is less exploitable than all shorter ones
"""

from __future__ import annotations

import argparse
import json
import os

import numpy as np

from abstraction.presets import make_card_abstraction
from abstraction.tables import open_tables
from bench.figures import figure_parser
from numeric.arrays import F32
from server.cli.parts.numbers import whole_number
from solver.blueprint.abstract_game import Dealer, TrainingGame, new_deals
from solver.training.deal_response import Response, respond, uniform_strategy
from solver.training.deals import HoldemDealer
from solver.training.presets import named_preset
from solver.training.trainer import Trainer, batch_seed, make_plan

QUICK = ("--iterations", "100000,500000", "--deals", "500000")

Row = dict[str, float]


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("convergence", __doc__)
    parser.add_argument("--preset", default="tiny", help="default: %(default)s")
    parser.add_argument(
        "--iterations",
        default="10000,50000,250000,6000000",
        help="lengths, separated by commas (default: %(default)s)",
    )
    parser.add_argument(
        "--deals",
        type=whole_number(100),
        default=10_000_000,
        help="deals to measure with (default: %(default)s)",
    )
    parser.add_argument(
        "--threads", type=whole_number(), default=os.cpu_count() or 1, help="default: all (%(default)s)"
    )
    parser.add_argument("--seed", type=whole_number(0), default=1, help="default: %(default)s")
    args = parser.parse_args(argv)
    lengths = sorted({int(word) for word in args.iterations.split(",")})
    preset = named_preset(args.preset)
    dealer = HoldemDealer(open_tables(make_card_abstraction(preset.cards, args.seed)))
    rows = _measure(preset.game(), dealer, lengths, args)
    gains = [row["exploitability_at_most_bb"] for row in rows]
    figures = {
        "bench": "convergence",
        "preset": preset.name,
        "deals": args.deals,
        "share_of_uniform": rows[-1]["share_of_uniform_at_most"],
        "falls": gains == sorted(gains, reverse=True),
        "rows": rows,
    }
    if args.json:
        print(json.dumps(figures))
        return 0
    print("| iterations | seconds | exploitability, bb per hand: at least | at most | of uniform, at most |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        print(
            f"| {row['iterations']:,.0f} | {row['seconds']:.1f} | {row['exploitability_at_least_bb']:.3f}"
            f" | {row['exploitability_at_most_bb']:.3f} | {row['share_of_uniform_at_most']:.2%} |"
        )
    return 0


def _measure(game: TrainingGame, dealer: Dealer, lengths: list[int], args: argparse.Namespace) -> list[Row]:
    deals = new_deals(args.deals, game.num_rounds)
    dealer.fill(np.array([batch_seed(args.seed, 2**62)], dtype=np.uint64), deals)  # no training batch's seed

    def response(strategy: F32) -> Response:
        return respond(game, strategy, deals, held_out=0.2, threads=args.threads)

    uniform = response(uniform_strategy(game))
    rows = [_row(0, 0.0, uniform, uniform)]
    for length in lengths:
        plan = make_plan(named_preset(args.preset).settings, args.seed, length)
        trainer = Trainer(game, dealer, plan, args.threads)
        while not trainer.is_done:
            trainer.run_slice()
        trainer.close()
        rows.append(_row(trainer.iterations, trainer.seconds, response(trainer.average_strategy()), uniform))
    return rows


def _row(iterations: int, seconds: float, found: Response, uniform: Response) -> Row:
    return {
        "iterations": iterations,
        "seconds": round(seconds, 1),
        "exploitability_at_most_bb": round(found.exploitability, 4),
        "exploitability_at_least_bb": round(found.held_out_exploitability, 4),
        "share_of_uniform_at_most": round(found.exploitability / uniform.held_out_exploitability, 4),
    }
