"""What a profile earns at every place, deal by deal, by recursion: dictionaries and float64."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from arena.aivat.self_play import Places
from solver.blueprint.abstract_game import TrainingGame
from solver.blueprint.layout import Deals

Sums = dict[tuple[int, int, int], list[float]]  # place, player, bucket → weight, weight × value


def self_play(
    game: TrainingGame, places: Places, deals: Deals, chances: Callable[[int, int], list[float]]
) -> Sums:
    """`chances` of (trainer's node, bucket)."""
    betting, rounds = game.betting, game.num_rounds
    sums: Sums = defaultdict(lambda: [0.0, 0.0])

    def note(d: int, place: int, weight: float, value: float) -> None:
        for player in range(2):
            bucket = int(deals.buckets[d, player * rounds + places.round[place]])
            found = sums[int(place), player, bucket]
            found[0] += weight
            found[1] += weight * value

    def value(d: int, n: int, weight: float) -> float:
        total = 0.0
        for a, chance in enumerate(chances(n, int(deals.buckets[d, betting.column[n]]))):
            entry = betting.first_entry[n] + a
            if chance == 0:
                continue
            if betting.child[entry] >= 0:
                below = value(d, int(betting.child[entry]), weight * chance)
            else:
                outcome = deals.outcome[d, betting.column[n] % rounds]
                below = float(betting.fixed[entry] + betting.stake[entry] * outcome)
            if places.of_entry[entry] >= 0:
                note(d, places.of_entry[entry], weight * chance, below)
            total += chance * below
        if places.of_node[n] >= 0:
            note(d, places.of_node[n], weight, total)
        return total

    for d in range(len(deals.outcome)):
        value(d, 0, 1.0)
    return sums
