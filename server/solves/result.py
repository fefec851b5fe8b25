"""A solve's result as plain values: the record that `fathom solve --json` prints."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from abstraction.menu import SEATS
from game.cards import cards_text
from game.hands import hand_text
from solver.decisions.convergence import Convergence, judge
from solver.decisions.decision import Method
from solver.exact.exploitability import Quality
from solver.exact.solution import Solution
from solver.exact.values import NodeValues, node_values
from solver.games.paths import Place, action_names, action_words, chips_paid
from solver.games.spot import Spot


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished solve."""

    spot: Spot
    solution: Solution
    quality: Quality
    seconds: float
    """Seconds spent iterating, over all sessions of a resumed solve."""
    memory_bytes: int
    threads: int
    variant: str
    locked: tuple[str, ...]
    """Paths of locked nodes; * for later cards."""

    @property
    def exploitability_share(self) -> float:
        """Exploitability as a fraction of the root's pot."""
        return self.quality.exploitability / self.spot.pot

    def convergence(self) -> Convergence:
        """Whether the solution has converged."""
        return judge(Method.EXACT, 100 * self.exploitability_share)

    def root_evs(self) -> tuple[float, float]:
        """Each player's expected share of the root's pot, in chips."""
        half = self.spot.pot / 2
        return half + self.quality.values[0], half + self.quality.values[1]


@dataclass(frozen=True, slots=True)
class View:
    """A node to show."""

    place: Place
    values: NodeValues
    words: tuple[str, ...]
    names: tuple[str, ...]
    pot: float
    """Chips in the pot."""


def look_at(outcome: Outcome, place: Place) -> View:
    """The values and strategy of one node. Blocks for two passes over its subtree."""
    spot, solution = outcome.spot, outcome.solution
    paid = chips_paid(spot, place)
    values = node_values(
        solution, place.node, solution.board_index(place.cards), paid, threads=outcome.threads
    )
    tree = solution.game.tree
    return View(place, values, action_words(spot, tree, place), action_names(spot, tree, place), sum(paid))


def result_record(outcome: Outcome, view: View) -> dict[str, object]:
    """The outcome and one node as plain values; undefined numbers are None."""
    spot, quality, found = outcome.spot, outcome.quality, outcome.convergence()
    return {
        "board": cards_text(spot.board),
        "pot": _plain(spot.pot),
        "stack": spot.behind,
        "menu": spot.menu,
        "variant": outcome.variant,
        "threads": outcome.threads,
        "locked": list(outcome.locked),
        "iterations": outcome.solution.iterations,
        "seconds": round(outcome.seconds, 4),
        "memory_bytes": outcome.memory_bytes,
        "exploitability_chips": _number(quality.exploitability),
        "exploitability_pct": _number(outcome.exploitability_share * 100),
        "converged": found.converged,
        "quality": found.quality,
        "ev": {seat: _number(ev) for seat, ev in zip(SEATS, outcome.root_evs(), strict=True)},
        "node": _node_record(outcome, view),
    }


def _node_record(outcome: Outcome, view: View) -> dict[str, object]:
    values = view.values
    frequencies = values.frequencies()
    actions = [
        {
            "action": word,
            "name": name,
            "frequency": _number(frequencies[a]),
            "ev": _number(action_mean(values, a)),
        }
        for a, (word, name) in enumerate(zip(view.words, view.names, strict=True))
    ]
    return {
        "path": view.place.path,
        "board": cards_text(view.place.cards),
        "pot": _plain(view.pot),
        "actor": SEATS[values.actor],
        "actions": actions,
        "players": {seat: _player_record(outcome, values, player) for player, seat in enumerate(SEATS)},
    }


def _player_record(outcome: Outcome, values: NodeValues, player: int) -> dict[str, object]:
    labels = outcome.solution.game.labels
    reach = values.reach[player]
    hands = {}
    for h in (h for h in np.argsort(labels) if reach[h] > 0):
        record: dict[str, object] = {
            "weight": _number(reach[h]),
            "ev": _number(values.ev[player, h]),
            "equity": _number(values.equity[player, h]),
        }
        if player == values.actor:
            record["strategy"] = [_number(share) for share in values.strategy[:, h]]
            record["action_ev"] = [_number(ev) for ev in values.action_ev[:, h]]
        hands[hand_text(int(labels[h]))] = record
    return {
        "ev": _number(values.mean(player, values.ev[player])),
        "equity": _number(values.mean(player, values.equity[player])),
        "weight": _number(reach.sum()),
        "hands": hands,
    }


def action_mean(values: NodeValues, action: int) -> float:
    """The mean value of an action over the hands that take it; NaN if none does."""
    actor = values.actor
    weight = values.reach[actor] * values.matched[actor] * values.strategy[action]
    total = float(weight.sum())
    return (
        float(np.where(weight > 0, values.action_ev[action], 0) @ weight) / total if total > 0 else math.nan
    )


def _number(value: float) -> float | None:
    """Rounded to six significant digits, more than a solve's accuracy; None if not finite."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _plain(chips: float) -> float | int:
    return int(chips) if chips == int(chips) else chips
