"""Quality of decisions in play: the loss of each against an opponent who responds, without sampling noise.

Recorded decisions (`bench/quality/_play_spots.py`: 200 big blinds, single-raised, limped and re-raised pots,
both positions, bets in and off the blueprint's tree, flop, turn and river) are made by the blueprint, by the
agent with flops looked up (`offtree`) and by the agent with flops solved (`solve`), the latter with the time
that its clock allows. Then long solves measure the loss of each strategy (`bench/quality/_play_loss.py`).

loss_pct       % of pot lost per time the decision is reached: mean over the spots
worst_pct      the same for the worst spot
by_street      mean on flop, turn and river
distance_pct   % of the range that folds, calls or raises differently from the reference
iterations     mean number; seconds: mean time per decision
itself_pct     loss_pct of the reference's own strategy: the possible error of the figures
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from arena.players.blueprint_player import BlueprintPlayer
from bench.figures import figure_parser, print_figures
from bench.quality._play_loss import Reference
from bench.quality._play_spots import Spot, load_spots, record_spots
from server.cli.parts.numbers import whole_number
from solver.agent.agent import Agent
from solver.agent.time_bank import MatchClock
from solver.blueprint.default import default_blueprint_path
from solver.blueprint.file import Blueprint, open_blueprint
from solver.decisions.limits import Limits
from solver.decisions.range_strategy import RangeStrategy
from solver.decisions.settings import FLOP, SOLVE_OFF_TREE, make_settings
from solver.games.history import action_code, coded_action

QUICK = ("--spots", "r300c/cc/cc/", "--budgets", "0.5", "--iterations", "50")

BUDGETS = "0.5,1,2.5,7,20"
STREETS = ("pre-flop", "flop", "turn", "river")
_BLUEPRINT, _ITSELF = "blueprint", "itself"
_OTHER_RUN_OUTS = 1_000_000
"""First seed of references, so that no strategy is measured on the run-outs it was solved with."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A player's strategy at a spot."""

    who: str
    strategy: RangeStrategy
    iterations: int = 0
    seconds: float = 0.0


def main(argv: list[str]) -> int:
    """Measure and print; exit status 0."""
    parser = figure_parser("play", __doc__)
    parser.add_argument("--blueprint", type=Path, help="blueprint file (default: the default blueprint)")
    parser.add_argument("--budgets", default=BUDGETS, help="seconds per hand (default: %(default)s)")
    parser.add_argument(
        "--threads", type=whole_number(), default=2, help="threads per decision (default: %(default)s)"
    )
    parser.add_argument("--spots", default="", metavar="TEXT", help="only spots whose name contains TEXT")
    parser.add_argument(
        "--iterations",
        type=whole_number(),
        default=1500,
        help="iterations of references (default: %(default)s)",
    )
    parser.add_argument(
        "--references",
        type=whole_number(),
        default=1,
        metavar="N",
        help="references per flop, with different run-outs, to average losses over (default: %(default)s)",
    )
    parser.add_argument("--seed", type=whole_number(0), default=1, help="seed (default: %(default)s)")
    parser.add_argument("--fresh", action="store_true", help="make every decision in a new process")
    parser.add_argument(
        "--busy",
        type=whole_number(0),
        default=0,
        metavar="N",
        help="processes that load the machine meanwhile",
    )
    parser.add_argument(
        "--workers", type=whole_number(), default=os.cpu_count() or 1,
        help="processes that measure losses (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--details", type=Path, metavar="FILE", help="write a JSON line per answer to FILE")
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="recompute the spots' contexts, write them to FILE and exit",
    )
    parser.add_argument("--decide", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    path = args.blueprint or default_blueprint_path()
    blueprint = open_blueprint(path)
    if args.record:
        agent = Agent(blueprint, make_settings(iterations=2000, threads=args.threads))
        args.record.write_bytes(record_spots(agent, _say))
        return 0
    spots = load_spots()
    budgets = [float(text) for text in args.budgets.split(",")]
    if args.decide is not None:
        answer = solved(blueprint, spots[args.decide], budgets[0], args.threads, args.seed)
        print(_tell(answer))
        return 0
    chosen = [i for i, spot in enumerate(spots) if args.spots in spot.name]
    if not chosen:
        names = ", ".join(spot.name for spot in spots)
        parser.error(f"--spots {args.spots}: no spot has this text in its name: choose from {names}")
    started = time.perf_counter()
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.busy)]
    try:
        answers = {i: list(_answers(blueprint, spots, i, budgets, args)) for i in chosen}
    finally:
        for other in others:
            other.kill()
            other.wait()
    seeds = range(_OTHER_RUN_OUTS + args.seed, _OTHER_RUN_OUTS + args.seed + args.references)
    tasks = [(path, spots[i], answers[i], args.iterations, seeds) for i in chosen]
    rows = []
    with ProcessPoolExecutor(args.workers, get_context("spawn")) as pool:
        for found in pool.map(_losses, tasks):
            rows += found
            shown = ", ".join(f"{row['who']} {row['loss_pct']:.2f}" for row in found)
            _say(f"{found[0]['spot']} (met {found[0]['met_pct']:.0f} %): {shown}")
    if args.details:
        args.details.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    figures = {
        "bench": "play", **_figures(rows), "spots": len(chosen), "reference_iterations": args.iterations,
        "references": args.references,
        "threads": args.threads, "fresh": args.fresh, "busy": args.busy, "blueprint": blueprint.identity,
        "seconds": round(time.perf_counter() - started, 1),
    }  # fmt: skip
    print_figures(figures, args.json)
    return 0


def solved(
    blueprint: Blueprint, spot: Spot, budget: float, threads: int, seed: int, flop: str = "solve",
    agent: Agent | None = None,
) -> Answer:  # fmt: skip
    """The agent's answer, with the time its clock allows for the decision in a first hand."""
    agent = agent or Agent(blueprint, make_settings(budget, threads=threads, flop=flop))
    clock = MatchClock(budget)
    clock.start_hand()
    for state in spot.own_decisions():
        if state.round_index > 0:
            clock.spend(clock.seconds_for(state))
    limits = Limits(clock.seconds_for(spot.betting))
    decision = agent.decide(spot.betting, spot.board, spot.context, seed, limits)
    who = f"{flop} {budget:g}"
    return Answer(who, decision.strategy, decision.iterations, decision.seconds)


def _answers(
    blueprint: Blueprint, spots: list[Spot], i: int, budgets: list[float], args: argparse.Namespace
) -> Iterable[Answer]:
    spot = spots[i]
    yield _looked_up(blueprint, spot)
    yield solved(blueprint, spot, 2.5, args.threads, args.seed, SOLVE_OFF_TREE)
    agents = {budget: Agent(blueprint, make_settings(budget, threads=args.threads)) for budget in budgets}
    for budget, agent in agents.items():
        if args.fresh:
            yield _in_a_new_process(i, budget, args)
        else:
            agent.warm_up()
            yield solved(blueprint, spot, budget, args.threads, args.seed, agent=agent)


def _looked_up(blueprint: Blueprint, spot: Spot) -> Answer:
    """The blueprint's strategy, with off-tree bets translated."""
    player = BlueprintPlayer(_BLUEPRINT, blueprint)
    return Answer(_BLUEPRINT, player.in_public().strategy(spot.betting, spot.board))


def _in_a_new_process(i: int, budget: float, args: argparse.Namespace) -> Answer:
    command = [sys.executable, "-m", "server.cli", "bench", "play", "--decide", str(i)]
    command += ["--budgets", str(budget), "--threads", str(args.threads), "--seed", str(args.seed)]
    if args.blueprint:
        command += ["--blueprint", str(args.blueprint)]
    told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    actions = tuple([coded_action(code) for code in told["actions"]])
    rows = np.frombuffer(b64decode(told["rows"]), dtype=np.float32).reshape(len(actions), -1)
    return Answer(told["who"], RangeStrategy(actions, rows), told["iterations"], told["seconds"])


def _tell(answer: Answer) -> str:
    """Encode an answer for the parent process."""
    strategy = answer.strategy
    return json.dumps(
        {
            "who": answer.who,
            "actions": [action_code(action) for action in strategy.actions],
            "rows": b64encode(strategy.probabilities.tobytes()).decode("ascii"),
            "iterations": answer.iterations,
            "seconds": answer.seconds,
        }
    )


def _losses(task: tuple[Path, Spot, list[Answer], int, range]) -> list[dict[str, object]]:
    """Compute a row for each answer at a spot, in a separate process."""
    path, spot, answers, iterations, seeds = task
    if spot.betting.round_index > FLOP:
        seeds = seeds[:1]  # nothing is sampled
    references = [Reference(spot, open_blueprint(path), iterations, seed) for seed in seeds]
    itself = Answer(_ITSELF, references[0].strategy)

    def mean(found: Iterable[float], digits: int) -> float:
        return round(float(np.mean(list(found))), digits)

    rows: list[dict[str, object]] = []
    for answer in (*answers, itself):
        losses = [reference.loss(answer.strategy) for reference in references]
        rows.append(
            {
                "spot": spot.name,
                "street": STREETS[spot.betting.round_index],
                "who": answer.who,
                "loss_pct": mean([loss.percent for loss in losses], 3),
                "spread_pct": round(float(np.std([loss.percent for loss in losses])), 3),
                "distance_pct": mean([loss.distance for loss in losses], 1),
                "passive_pct": mean([one.passive_percent(answer.strategy) for one in references], 1),
                "reference_passive_pct": mean([one.passive_percent(one.strategy) for one in references], 1),
                "met_pct": mean([100 * reference.met for reference in references], 1),
                "iterations": answer.iterations,
                "seconds": round(answer.seconds, 3),
            }
        )
    return rows


def _figures(rows: list[dict[str, object]]) -> dict[str, object]:
    """Means over the spots."""
    names = list(dict.fromkeys(str(row["who"]) for row in rows))

    def mean(name: str, column: str, street: str | None = None) -> float:
        found = [row[column] for row in rows if row["who"] == name and street in {None, row["street"]}]
        return round(float(np.mean(np.array(found, dtype=np.float64))), 3) if found else float("nan")

    streets = [street for street in STREETS if any(row["street"] == street for row in rows)]
    measured = [name for name in names if name != _ITSELF]
    return {
        "loss_pct": {name: mean(name, "loss_pct") for name in measured},
        "worst_pct": {
            name: max(float(str(row["loss_pct"])) for row in rows if row["who"] == name) for name in measured
        },
        "by_street": {street: {n: mean(n, "loss_pct", street) for n in measured} for street in streets},
        "distance_pct": {name: mean(name, "distance_pct") for name in measured},
        "iterations": {name: mean(name, "iterations") for name in measured},
        "decision_seconds": {name: mean(name, "seconds") for name in measured},
        "itself_pct": mean(_ITSELF, "loss_pct"),
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
