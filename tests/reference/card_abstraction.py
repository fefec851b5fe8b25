"""Card abstraction by enumeration: every opponent, every run-out, every relabelling, in plain loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

from tests.reference.evaluator import best_value

NUM_BINS = 32


def relabelled(cards: Iterable[int], suits: Sequence[int]) -> frozenset[int]:
    """The cards after every suit s has become suits[s]."""
    return frozenset(card // 4 * 4 + suits[card % 4] for card in cards)


def are_isomorphic(one: Iterable[int], other: Iterable[int]) -> bool:
    """Whether some relabelling of suits turns one set of cards into the other."""
    one, other = frozenset(one), frozenset(other)
    return any(relabelled(one, suits) == other for suits in permutations(range(4)))


def river_score(
    hand: tuple[int, int],
    board: Sequence[int],
    *,
    plays: Callable[[tuple[int, int]], bool] = lambda _: True,
    value: Callable[[tuple[int, ...]], Any] = best_value,
) -> tuple[int, int]:
    """(2 × wins + ties, opponents) of a hand against the unblocked opponent hands for which `plays` holds."""
    dead = {*hand, *board}
    own = value((*hand, *board))
    score = count = 0
    for opponent in combinations([card for card in range(52) if card not in dead], 2):
        if plays(opponent):
            other = value((*opponent, *board))
            score += 2 if own > other else 1 if own == other else 0
            count += 1
    return score, count


def river_equities(
    hand: tuple[int, int], board: Sequence[int], value: Callable[[tuple[int, ...]], Any] = best_value
) -> list[Fraction]:
    """Equity against a uniformly random opponent on every completion of a board of three to five cards."""
    deck = [card for card in range(52) if card not in {*hand, *board}]
    scores = [river_score(hand, (*board, *rest), value=value) for rest in combinations(deck, 5 - len(board))]
    return [Fraction(score, 2 * count) for score, count in scores]


def smooth_tail(equities: Sequence[Fraction]) -> list[Fraction]:
    """The chance of an equity above a level, averaged over the levels of each bin: exact, in 0..1."""
    tail = []
    for j in range(NUM_BINS):
        start, end = Fraction(j, NUM_BINS), Fraction(j + 1, NUM_BINS)
        # ∫ [equity > t] dt over the bin, for each equity
        covered = [min(max(equity, start), end) - start for equity in equities]
        tail.append(sum(covered, Fraction()) * NUM_BINS / len(equities))
    return tail


def nearest(point: Sequence[int], centroids: Sequence[Sequence[int]], power: int) -> int:
    """The first of the nearest centroids by the sum of |difference| ** power."""
    distances = [
        sum(abs(int(x) - int(y)) ** power for x, y in zip(point, centroid, strict=True))
        for centroid in centroids
    ]
    return distances.index(min(distances))
