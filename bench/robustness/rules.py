"""Comparison of our rules with OpenSpiel and PokerKit on random hands.

At every decision the actor, the legality of folding and all legal raises must agree, and at the end the chips
won. OpenSpiel checks all hands, PokerKit the first few (it is slow). Both must be installed
(`pip install '.[dev]'`).
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from random import Random
from typing import TYPE_CHECKING

from arena.players.policies import Policy, all_in, call, check_down, min_raise, uniform
from bench.figures import figure_parser
from game.actions import Action
from game.betting import MAX_ACTIONS_PER_ROUND
from game.definition import HUNL, KUHN, LEDUC, LIMIT_HOLDEM, NLFH, GameDefinition
from game.state import HandState, new_hand
from server.cli.parts.numbers import whole_number
from server.config.machine import usable_cores

if TYPE_CHECKING:
    from bench.robustness._oracles import Oracle, SpielGame


GAMES: dict[str, GameDefinition] = {
    "hunl": HUNL,
    "nlfh": NLFH,
    "hunl 20 big blinds": replace(HUNL, stacks=(400, 400), blinds=(20, 10)),
    "hunl odd blinds": replace(HUNL, stacks=(997, 997), blinds=(7, 3)),
    "hunl uneven stacks": replace(HUNL, stacks=(500, 300), blinds=(20, 10)),
    "hunl big blind short": replace(HUNL, stacks=(30, 400), blinds=(20, 10)),
    "hunl big blind all-in": replace(HUNL, stacks=(20, 400), blinds=(20, 10)),
    "hunl small blind all-in": replace(HUNL, stacks=(400, 10), blinds=(20, 10)),
    "hunl equal blinds": replace(HUNL, stacks=(300, 300), blinds=(5, 5)),
    "hunl capped": replace(HUNL, stacks=(600, 600), blinds=(4, 2), max_raises=(3, 2, 1, 4)),
    "hunl deep": replace(HUNL, stacks=(1000, 1000), blinds=(2, 1)),
    "limit": LIMIT_HOLDEM,
    "limit four raises": replace(LIMIT_HOLDEM, max_raises=(4, 4, 4, 4)),
    "kuhn": KUHN,
    "leduc": LEDUC,
}
_HUNL_SHARE = 0.4  # share of all hands; the other games share the rest
_POKERKIT_GAMES = frozenset({
    "hunl", "hunl 20 big blinds", "hunl odd blinds", "hunl uneven stacks", "hunl big blind short",
    "hunl big blind all-in", "hunl deep", "limit four raises",
})  # fmt: skip
QUICK = ("--hands", "10000", "--pokerkit", "200")
_DEVIATION = 0.1  # probability of a random action, so that not all raising wars are the same


@dataclass(frozen=True, slots=True)
class Tally:
    """The result of a run of hands."""

    hands: int
    decisions: int
    pokerkit_hands: int
    disagreements: tuple[str, ...]


def main(argv: list[str]) -> int:
    """Compare and print; exit status 1 on any disagreement."""
    parser = figure_parser("rules", __doc__)
    parser.add_argument(
        "--hands",
        type=whole_number(),
        default=100_000,
        help="hands to compare with OpenSpiel (default: %(default)s)",
    )
    parser.add_argument(
        "--pokerkit",
        type=int,
        default=2_000,
        help="of these, hands to compare with PokerKit too (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, help="seed of cards and players (default: %(default)s)"
    )
    parser.add_argument(
        "--processes", type=whole_number(), default=usable_cores(), help="processes (default: %(default)s)"
    )
    args = parser.parse_args(argv)
    try:
        importlib.import_module("bench.robustness._oracles")
    except ImportError as error:
        parser.error(f"{error}: install OpenSpiel and PokerKit with pip install '.[dev]'")
    began = time.perf_counter()
    tally = compare(args.hands, args.pokerkit, args.seed, args.processes)
    result = {
        "bench": "rules",
        "hands": tally.hands,
        "decisions": tally.decisions,
        "pokerkit_hands": tally.pokerkit_hands,
        "disagreements": len(tally.disagreements),
        "seconds": round(time.perf_counter() - began, 1),
    }
    print(json.dumps(result) if args.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    if not args.json:
        print("\n".join(tally.disagreements[:20]))
    return 1 if tally.disagreements else 0


def compare(hands: int, pokerkit_hands: int, seed: int, processes: int = 1) -> Tally:
    """Play random hands; each has its own seed, so the split over processes changes nothing."""
    block = 500
    blocks = [range(begin, min(begin + block, hands)) for begin in range(0, hands, block)]
    work = partial(_compare_block, seed=seed, pokerkit_hands=pokerkit_hands)
    if processes <= 1:
        return _sum_up(map(work, blocks))
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return _sum_up(pool.imap(work, blocks))


def _sum_up(tallies: Iterator[Tally]) -> Tally:
    hands = decisions = pokerkit_hands = 0
    disagreements: list[str] = []
    for tally in tallies:
        hands += tally.hands
        decisions += tally.decisions
        pokerkit_hands += tally.pokerkit_hands
        disagreements += tally.disagreements
    return Tally(hands, decisions, pokerkit_hands, tuple(disagreements))


def _compare_block(indices: range, seed: int, pokerkit_hands: int) -> Tally:
    from bench.robustness._oracles import PokerKitHand  # noqa: PLC0415 - needs development dependencies

    decisions = judged_by_pokerkit = 0
    disagreements: list[str] = []
    for index in indices:
        rng = Random(f"{seed} {index}")
        wants_pokerkit = index < pokerkit_hands
        name = _pick_game(rng, wants_pokerkit)
        state = deal(GAMES[name], rng)
        oracles: list[Oracle] = [_spiel_game(name).deal(state)]
        if wants_pokerkit:
            oracles.append(PokerKitHand(state))
            judged_by_pokerkit += 1
        count, complaint = compare_hand(state, oracles, rng)
        decisions += count
        if complaint:
            disagreements.append(f"hand {index} ({name}): {complaint}")
    return Tally(len(indices), decisions, judged_by_pokerkit, tuple(disagreements))


def compare_hand(state: HandState, oracles: list[Oracle], rng: Random) -> tuple[int, str | None]:
    """Play one hand with a random policy; returns the number of decisions and the first difference."""
    from bench.robustness._oracles import legal  # noqa: PLC0415

    policies = [_pick_policy(rng), _pick_policy(rng)]
    decisions = 0
    while True:
        betting = state.betting
        ours = legal(betting)
        for oracle in oracles:
            # The dealer's limit on actions is not a rule of poker.
            if oracle.name == "pokerkit" and len(betting.actions[-1]) > MAX_ACTIONS_PER_ROUND - 2:
                continue
            theirs = oracle.legal()
            if theirs != ours:
                return decisions, f"after {betting.text!r}: {oracle.name} allows {theirs}, we {ours}"
        if betting.is_finished:
            break
        actor = betting.actor
        action = policies[actor](state, actor, rng)
        state = state.apply(action)
        for oracle in oracles:
            oracle.apply(action)
        decisions += 1
    for oracle in oracles:
        if oracle.values() != state.values():
            return (
                decisions,
                f"{state.betting.text!r}: {oracle.name} pays {oracle.values()}, we {state.values()}",
            )
    return decisions, None


def deal(definition: GameDefinition, rng: Random) -> HandState:
    """Deal a new hand with every card known."""
    per_hand = definition.num_hole_cards
    cards = tuple(rng.sample(sorted(definition.deck), 2 * per_hand + sum(definition.board_cards)))
    hole = cards[:per_hand], cards[per_hand : 2 * per_hand]
    return new_hand(definition, hole, cards[2 * per_hand :])


def _pick_game(rng: Random, wants_pokerkit: bool) -> str:
    if rng.random() < _HUNL_SHARE:
        return "hunl"
    return rng.choice(sorted(_POKERKIT_GAMES if wants_pokerkit else GAMES))


def _pick_policy(rng: Random) -> Policy:
    habit = rng.choice((uniform, min_raise, all_in, check_down, call))

    def policy(state: HandState, position: int, rng: Random) -> Action:
        return (uniform if rng.random() < _DEVIATION else habit)(state, position, rng)

    return policy


@cache
def _spiel_game(name: str) -> SpielGame:
    from bench.robustness._oracles import SpielGame  # noqa: PLC0415

    return SpielGame(GAMES[name])
