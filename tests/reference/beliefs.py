"""Sums over two beliefs, pair of hands by pair of hands; beliefs are dictionaries hand → weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from game.hands import HAND_CARDS
from game.showdown import showdown_rank
from solver.blueprint.abstract_game import TrainingGame

Belief = dict[int, float]
Cards = tuple[int, ...]
Buckets = Callable[[Cards], Mapping[int, int]]


def cards_of(hand: int) -> Cards:
    return tuple(int(card) for card in HAND_CARDS[hand])


def pairs(first: Belief, second: Belief, board: Cards) -> Iterator[tuple[int, int, float]]:
    for a, weight in first.items():
        for b, other in second.items():
            if len({*cards_of(a), *cards_of(b), *board}) == 4 + len(board):
                yield a, b, weight * other


def mass(first: Belief, second: Belief, board: Cards) -> float:
    return sum(weight for _, _, weight in pairs(first, second, board))


def wins_of(a: int, b: int, board: Cards) -> int:
    ranks = [showdown_rank(cards_of(hand) + board) for hand in (a, b)]
    return (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])


def runouts(a: int, b: int, board: Cards) -> list[Cards]:
    left = [card for card in range(52) if card not in {*cards_of(a), *cards_of(b), *board}]
    return [(*board, *more) for more in combinations(left, 5 - len(board))]


def board_wins(first: Belief, second: Belief, board: Cards) -> float:
    """Sum of weight × mean wins over run-outs."""
    total = 0.0
    for a, b, weight in pairs(first, second, board):
        ends = runouts(a, b, board)
        total += weight * sum(wins_of(a, b, end) for end in ends) / len(ends)
    return total


def added(
    first: Belief,
    second: Belief,
    board: Cards,
    buckets: Mapping[int, int],
    values: tuple[list[float], list[float]],
    mean: float,
) -> float:
    """Mean over pairs of value of his bucket + value of hers - mean."""
    total = sum(
        weight * (values[0][buckets[a]] + values[1][buckets[b]] - mean)
        for a, b, weight in pairs(first, second, board)
    )
    return total / mass(first, second, board)


def river_value(
    game: TrainingGame,
    chances: Callable[[int, int], list[float]],
    node: int,
    first: Belief,
    second: Belief,
    board: Cards,
) -> float:
    """Mean payoff when both follow a profile; `chances` of (trainer's node, hand)."""
    betting = game.betting

    def value(n: int, a: int, b: int) -> float:
        total = 0.0
        for action, chance in enumerate(chances(n, (a, b)[betting.player[n]])):
            entry = betting.first_entry[n] + action
            if betting.child[entry] >= 0:
                total += chance * value(int(betting.child[entry]), a, b)
            else:
                total += chance * float(betting.fixed[entry] + betting.stake[entry] * wins_of(a, b, board))
        return total

    found = sum(weight * value(node, a, b) for a, b, weight in pairs(first, second, board))
    return found / mass(first, second, board)
