"""Legality and validity of the agent's answers to bets of any size on every street.

Random hands in which the opponent, at random decisions, raises by an amount between the minimum raise and
five pots, log-uniform. The agent solves with a few iterations: its answers are rough, but must be valid. It
calls instead of half of its folds, to reach later streets.

decisions        the agent's decisions, by street
bets             the opponent's bets, by street; smallest and largest as fractions of the pot after calling
looked_up        decisions before the flop that were not solved: no bet was off the blueprint's tree, or the
                 blueprint has no table of values for the first round
unsolved         other decisions that were not solved
illegal          illegal or repeated actions in a strategy
bad_strategies   strategies that are not a probability distribution for every possible hand
bad_ranges       ranges that are empty, negative or NaN, or incompatible between the two players
different        decisions with a different result when another agent was given the same decision
asked_twice      decisions that were repeated with another agent
errors           hands that ended in an exception

Exit status 1 unless all of unsolved .. different and errors are 0.
"""

from __future__ import annotations

import math
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

from bench.figures import figure_parser, print_figures
from game.actions import CALL, Action, ActionKind, raise_to
from game.betting import BettingState, start
from game.cards import NUM_CARDS, Cards, cards_text
from game.hands import HAND_CARDS, unblocked
from numeric.arrays import F32
from server.cli.parts.numbers import whole_number
from server.config.machine import usable_cores
from solver.agent.agent import Agent
from solver.blueprint.default import default_blueprint_path
from solver.blueprint.file import Blueprint, open_blueprint
from solver.decisions.decision import Decision, Method
from solver.decisions.settings import PREFLOP, make_settings
from solver.depth_limited.opponent_values import has_values
from solver.games.game import unblocked_weight
from solver.games.history import action_code
from solver.resolving.context import Context

QUICK = ("--hands", "40")

STREETS = ("preflop", "flop", "turn", "river")
FAULTS = ("unsolved", "illegal", "bad_strategies", "bad_ranges", "different", "errors")

_LARGEST_BET = 5.0
"""Largest bet of the opponent, as a fraction of the pot after calling."""
_BET_CHANCE = 0.55
_BLOCK = 20
"""Hands per job."""


@dataclass(slots=True)
class Tally:
    """Counts of decisions, bets and faults."""

    counts: Counter[str] = field(default_factory=Counter)
    sizes: dict[str, list[float]] = field(default_factory=dict)
    """Smallest and largest bet by street."""
    messages: list[str] = field(default_factory=list)

    def blame(self, fault: str, where: str) -> None:
        """Count a fault and record where it was."""
        self.counts[fault] += 1
        self.messages.append(f"{fault}: {where}")

    def saw_bet(self, street: str, size: float) -> None:
        """Count a bet of the opponent."""
        self.counts[f"bets {street}"] += 1
        low, high = self.sizes.get(street, [math.inf, 0.0])
        self.sizes[street] = [min(low, size), max(high, size)]

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.counts.update(other.counts)
        self.messages += other.messages
        for street, (low, high) in other.sizes.items():
            known_low, known_high = self.sizes.get(street, [math.inf, 0.0])
            self.sizes[street] = [min(low, known_low), max(high, known_high)]


def main(argv: list[str]) -> int:
    """Play and print; exit status 1 on any fault."""
    parser = figure_parser("offtree", __doc__)
    parser.add_argument("--blueprint", type=Path, help="blueprint file (default: the default blueprint)")
    parser.add_argument("--hands", type=whole_number(), default=2000, help="hands (default: %(default)s)")
    parser.add_argument(
        "--iterations",
        type=whole_number(),
        default=3,
        help="iterations of flop solves (default: %(default)s)",
    )
    parser.add_argument(
        "--again", type=float, default=0.1, help="share of decisions to repeat (default: %(default)s)"
    )
    parser.add_argument("--seed", type=whole_number(0), default=1, help="seed (default: %(default)s)")
    parser.add_argument(
        "--processes", type=whole_number(), default=usable_cores(), help="processes (default: %(default)s)"
    )
    args = parser.parse_args(argv)
    if not 0 <= args.again <= 1:
        parser.error(f"--again {args.again:g}: write a share between 0 and 1")
    path = args.blueprint or default_blueprint_path()
    open_blueprint(path)  # unpacks the file once, and raises an error for an invalid one
    started = time.perf_counter()
    work = partial(_play_block, path, args.iterations, args.again, args.seed)
    blocks = [range(n, min(n + _BLOCK, args.hands)) for n in range(0, args.hands, _BLOCK)]
    total = Tally()
    if args.processes <= 1:
        for block in blocks:
            total.add(work(block))
    else:
        with multiprocessing.get_context("spawn").Pool(args.processes) as pool:
            for tally in pool.imap_unordered(work, blocks):
                total.add(tally)
    counts = total.counts
    figures: dict[str, object] = {
        "hands": args.hands,
        "decisions": {street: counts[f"decisions {street}"] for street in STREETS},
        "bets": {
            street: {
                "count": counts[f"bets {street}"],
                "smallest": round(total.sizes[street][0], 4),
                "largest": round(total.sizes[street][1], 3),
            }
            for street in STREETS
            if street in total.sizes
        },
        "looked_up": counts["looked_up"],
        **{fault: counts[fault] for fault in FAULTS},
        "asked_twice": counts["asked_twice"],
        "iterations": args.iterations,
        "seconds": round(time.perf_counter() - started, 1),
    }
    for message in total.messages[:20]:
        print(message, file=sys.stderr)
    print_figures(figures, args.json)
    return int(any(counts[fault] for fault in FAULTS))


def play_hand(agent: Agent, other: Agent, rng: Random, again: float, tally: Tally) -> None:
    """Play one hand against bets of any size.

    other  agent for repeated decisions
    """
    betting = start(agent.blueprint.definition)
    deal, seed, seat = tuple(rng.sample(range(NUM_CARDS), 5)), rng.getrandbits(62), rng.randrange(2)
    context: Context | None = None
    try:
        while not betting.is_finished:
            board = deal[: betting.definition.board_size(betting.round_index)]
            if betting.actor != seat:
                betting = betting.apply(_opponents_action(betting, rng, tally))
                continue
            tally.counts[f"decisions {STREETS[betting.round_index]}"] += 1
            decision = agent.decide(betting, board, context, seed)
            examine(decision, tally, may_look_up=_may_look_up(agent.blueprint, betting))
            if rng.random() < again:
                tally.counts["asked_twice"] += 1
                carried = None if context is None else Context.from_bytes(context.to_bytes())
                if not _same(decision, other.decide(betting, board, carried, seed)):
                    tally.blame("different", _where(betting, board))
            action = _agents_action(decision, rng)
            context = decision.after(action)
            if not _sound(context.ranges):
                tally.blame("bad_ranges", f"after {action}, {_where(betting, board)}")
            betting = betting.apply(action)
    except Exception:  # any exception is a failure
        tally.blame("errors", f"{_where(betting, deal)}\n{traceback.format_exc()}")


def examine(decision: Decision, tally: Tally, may_look_up: bool = False) -> None:
    """Check everything that must hold for a decision.

    may_look_up  the decision may come from the blueprint instead of a solve
    """
    betting, strategy = decision.betting, decision.strategy
    where = _where(betting, decision.board)
    if decision.method is Method.BLUEPRINT:
        if may_look_up:
            tally.counts["looked_up"] += 1
        else:
            tally.blame("unsolved", where)
    if len(set(strategy.actions)) < len(strategy.actions) or not all(map(betting.can, strategy.actions)):
        tally.blame("illegal", f"{strategy.actions} {where}")
    live, rows = unblocked(decision.board), strategy.probabilities
    total = rows.sum(axis=0)
    if not (rows >= 0).all() or np.abs(total[live] - 1).max() > 1e-3 or (total[~live] != 0).any():
        tally.blame("bad_strategies", where)
    if not _sound(decision.ranges * live):
        tally.blame("bad_ranges", where)


def _may_look_up(blueprint: Blueprint, betting: BettingState) -> bool:
    """Whether a decision is pre-flop, and the blueprint has all its bets or has no table of values."""
    if betting.round_index > PREFLOP:
        return False
    codes = [action_code(action) for actions in betting.actions for action in actions]
    try:
        blueprint.tree.find(tuple(codes))
    except KeyError:
        return not has_values(blueprint)
    return True


def _play_block(path: Path, iterations: int, again: float, seed: int, block: range) -> Tally:
    blueprint, settings = open_blueprint(path), make_settings(iterations=iterations)
    agent, other, tally = Agent(blueprint, settings), Agent(blueprint, settings), Tally()
    for index in block:
        play_hand(agent, other, Random(f"{seed} {index}"), again, tally)
    return tally


def _opponents_action(betting: BettingState, rng: Random, tally: Tally) -> Action:
    """Draw a bet of any size, or a call."""
    bounds = betting.raise_bounds()
    if bounds is None or rng.random() > _BET_CHANCE:
        return CALL
    faced = betting.max_spent
    pot = 2 * faced
    least, most = bounds[0] - faced, min(int(_LARGEST_BET * pot), bounds[1] - faced)
    by = round(math.exp(rng.uniform(math.log(least), math.log(max(least, most)))))
    tally.saw_bet(STREETS[betting.round_index], by / pot)
    return raise_to(faced + by)


def _agents_action(decision: Decision, rng: Random) -> Action:
    """Sample an action with a random hand; half of the folds become calls."""
    weights = decision.ranges[decision.betting.actor] * unblocked(decision.board)
    hand = rng.choices(range(len(weights)), weights.tolist())[0]
    action = decision.strategy.draw(hand, rng)
    if action.kind is ActionKind.FOLD and rng.random() < 0.5:
        return CALL
    return action


def _same(first: Decision, second: Decision) -> bool:
    return first.strategy.actions == second.strategy.actions and np.array_equal(
        first.strategy.probabilities, second.strategy.probabilities
    )


def _sound(ranges: F32) -> bool:
    """Whether both ranges are valid and contain compatible hands."""
    if not np.isfinite(ranges).all() or (ranges < 0).any():
        return False
    met = unblocked_weight(HAND_CARDS.astype(np.int64), ranges[0])
    return bool((met * ranges[1]).sum() > 0)


def _where(betting: BettingState, board: Cards) -> str:
    return f"{betting.text or 'first action'} on {cards_text(board) or 'no board'}"
