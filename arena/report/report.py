"""The content of a match report, before it is drawn: win rate curve, groups of hands, biggest pots.

Groups show *contributions*: a group's share of the result in mbb per hand of the whole match, so that the
bars of a chart add up to the total. Confidence intervals are over samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from arena.duplicate.results import Estimate, MatchResult, estimate
from arena.report.hand_words import describe_betting
from arena.runs.statistics import Z_95
from game.cards import Cards
from numeric.arrays import F64, Mask

CURVE_POINTS = 400
BIGGEST_POTS = 10
STREETS = ("pre-flop", "flop", "turn", "river")
POT_EDGES = (2, 6, 20, 60, 200)
"""Upper ends of the groups of pots, in big blinds; the last group is open."""


@dataclass(frozen=True, slots=True, eq=False)
class RunningRate:
    """The win rate as the match goes on, and half the width of its 95 % interval."""

    hands: F64
    mean: F64
    margin: F64


@dataclass(frozen=True, slots=True)
class Group:
    """A group of hands and its contribution to the result."""

    label: str
    share: float
    """The group's share of all hands."""
    contribution: Estimate


@dataclass(frozen=True, slots=True)
class GroupChart:
    """A chart of groups that together contain all hands."""

    title: str
    note: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class BigPot:
    """One of the hands with the biggest pots."""

    number: int
    """The number of the hand, from 1."""
    pot_chips: int
    chips: int
    """Chips won by A."""
    hole: tuple[Cards, Cards]
    """The hole cards of A and B."""
    board: Cards
    story: str


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a report."""

    names: tuple[str, str]
    verdict: str
    headline: Estimate
    """The estimate that decides the verdict: the last one, which has the smallest variance."""
    headline_unit: str
    """The unit of the headline."""
    estimates: tuple[tuple[str, Estimate], ...]
    """Named estimates of A's win rate: as played, then variance-reduced ones. Empty if there is only one."""
    facts: tuple[tuple[str, str], ...]
    running: RunningRate
    charts: tuple[GroupChart, ...]
    pots: tuple[BigPot, ...]
    big_blind: int


def make_report(
    result: MatchResult, facts: Sequence[tuple[str, str]] = (), more: Sequence[tuple[str, Estimate]] = ()
) -> Report:
    """Make the report of a match.

    facts  further names and values to show, e.g. the seed
    more   further estimates of A's win rate; the last one becomes the headline
    """
    duplicate = result.hands_per_sample > 1
    estimates = (("as played", result.total), *more)
    described = (
        ("hands", f"{result.num_hands:,}" + (" (every deal twice, seats swapped)" if duplicate else "")),
        ("game", _game_text(result)),
        *facts,
    )
    return Report(
        names=result.names,
        verdict=_verdict(result.names, estimates[-1][1]),
        headline=estimates[-1][1],
        headline_unit=f"mbb/hand for {result.names[0]}" + (f", {estimates[-1][0]}" if more else ""),
        estimates=estimates if more else (),
        facts=described,
        running=_running(result.samples, result.hands_per_sample),
        charts=(_by_position(result), _by_street(result), _by_pot(result)),
        pots=_biggest_pots(result),
        big_blind=max(result.definition.big_blind, 1),
    )


def _verdict(names: tuple[str, str], total: Estimate) -> str:
    if abs(total.mean) <= total.margin:
        return f"{names[0]} against {names[1]}: too close to call"
    winner, loser = names if total.mean > 0 else (names[1], names[0])
    return f"{winner} beats {loser}"


def _game_text(result: MatchResult) -> str:
    definition = result.definition
    depth = min(definition.stacks) // max(definition.big_blind, 1)
    return f"{'no-limit' if definition.no_limit else 'limit'}, blinds {min(definition.blinds)}/" + (
        f"{definition.big_blind}, stacks {min(definition.stacks):,} ({depth} big blinds)"
        if definition.no_limit
        else f"{definition.big_blind}"
    )


def _running(samples: F64, hands_per_sample: int) -> RunningRate:
    count = np.arange(1, len(samples) + 1)
    mean = np.cumsum(samples) / count
    variance = np.maximum(np.cumsum(samples**2) / count - mean**2, 0.0)
    margin = Z_95 * np.sqrt(variance / np.maximum(count - 1, 1))
    shown = np.unique(np.linspace(0, len(samples) - 1, CURVE_POINTS).astype(np.int64))
    return RunningRate(hands_per_sample * count[shown].astype(np.float64), mean[shown], margin[shown])


def _group(result: MatchResult, label: str, chosen: Mask) -> Group:
    values = np.where(chosen, result.mbb, 0.0).reshape(-1, result.hands_per_sample).mean(axis=1)
    return Group(label, float(chosen.mean()), estimate(values))


def _by_position(result: MatchResult) -> GroupChart:
    # Position 1 has the button in the ACPC's hold'em; other games have no button.
    button = result.definition.first_player[0] == 1
    labels = ("big blind", "button") if button else ("first seat", "second seat")
    groups = [_group(result, labels[p], result.position == p) for p in (1, 0)]
    return GroupChart("By position", f"where {result.names[0]} sat", tuple(groups))


def _by_street(result: MatchResult) -> GroupChart:
    names = (
        STREETS
        if result.definition.num_rounds == len(STREETS)
        else [f"round {r + 1}" for r in range(result.definition.num_rounds)]
    )
    groups = [_group(result, name, result.street == r) for r, name in enumerate(names)]
    return GroupChart("By street", "the last street on which somebody made a decision", tuple(groups))


def _by_pot(result: MatchResult) -> GroupChart:
    pots = 2 * result.stake / max(result.definition.big_blind, 1)
    edges = (0.0, *POT_EDGES, np.inf)
    groups = []
    for low, high in pairwise(edges):
        chosen = (pots > low) & (pots <= high) if low else pots <= high
        label = (
            f"up to {high:g} bb"
            if not low
            else f"over {low:g} bb"
            if high == np.inf
            else f"{low:g}–{high:g} bb"
        )
        if chosen.any():
            groups.append(_group(result, label, chosen))
    return GroupChart("By pot size", "what both players had put in at the end, in big blinds", tuple(groups))


def _biggest_pots(result: MatchResult) -> tuple[BigPot, ...]:
    # Among equal pots, won ones come before split ones, then earlier ones before later ones.
    order = np.lexsort((np.arange(result.num_hands), result.chips == 0, -result.stake))
    pots = []
    for index in order[:BIGGEST_POTS].tolist():
        record = result.record(index)
        own = int(result.position[index])
        names = ("A", "B") if own == 0 else ("B", "A")
        hole = record.state.hole
        pots.append(
            BigPot(
                number=index + 1,
                pot_chips=2 * int(result.stake[index]),
                chips=int(result.chips[index]),
                hole=(hole[own], hole[1 - own]),
                board=record.state.board,
                story=describe_betting(record.state.betting, names),
            )
        )
    return tuple(pots)
