"""AIVAT is unbiased: its exact expectation over all hands is the true value."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from arena.aivat.aivat import Beliefs, corrected_value, mean_start
from game.definition import KUHN, LEDUC, GameDefinition
from tests.arena.one_card_aivat import Guess, OneCardGame, State, Strategies

BOTH, FIRST, SECOND, NEITHER = (True, True), (True, False), (False, True), (False, False)


def any_number(state: State, beliefs: Beliefs) -> float:
    """An arbitrary guess, different for every state and belief."""
    data = repr(state).encode() + b"".join(np.round(belief, 9).tobytes() for belief in beliefs)
    return zlib.crc32(data) / 2**30 - 2.0


def nothing(state: State, beliefs: Beliefs) -> float:
    return 0.0


def random_pairs(seed: int) -> Guess:
    """The mean over random values for pairs of hands: the form of the paper's value functions."""
    rng = np.random.default_rng(seed)
    matrices: dict[State, np.ndarray] = {}

    def guess(state: State, beliefs: Beliefs) -> float:
        size = len(beliefs[0])
        matrix = matrices.setdefault(state, rng.normal(scale=3.0, size=(size, size)))
        weights = np.outer(*beliefs)
        np.fill_diagonal(weights, 0.0)
        return float((weights * matrix).sum() / weights.sum())

    return guess


def expectation(game: OneCardGame, strategies: Strategies, known: tuple[bool, bool]) -> tuple[float, float]:
    """The exact mean and standard deviation of the estimate."""
    start = mean_start(game, (0, ()), known)
    total = squares = chances = 0.0
    for probability, hand in game.all_hands(strategies, known):
        value = corrected_value(game, hand, start)
        total += probability * value
        squares += probability * value**2
        chances += probability
    assert chances == pytest.approx(1.0, abs=1e-12)
    return total, (max(squares - total**2, 0.0)) ** 0.5


@pytest.mark.parametrize("known", [BOTH, FIRST, SECOND, NEITHER])
@pytest.mark.parametrize("guess", [any_number, nothing, random_pairs(5)])
def test_unbiased_on_kuhn(known: tuple[bool, bool], guess: Guess) -> None:
    game = OneCardGame(KUHN, guess)
    for seed in range(5):
        strategies = game.random_strategies(np.random.default_rng(seed))
        assert expectation(game, strategies, known)[0] == pytest.approx(game.true_value(strategies), abs=1e-9)


@pytest.mark.parametrize(
    ("known", "guess", "seed"),
    [(BOTH, any_number, 1), (FIRST, random_pairs(6), 2), (SECOND, any_number, 3), (BOTH, random_pairs(7), 4)],
)
def test_unbiased_on_leduc(known: tuple[bool, bool], guess: Guess, seed: int) -> None:
    game = OneCardGame(LEDUC, guess)
    strategies = game.random_strategies(np.random.default_rng(seed))
    assert expectation(game, strategies, known)[0] == pytest.approx(game.true_value(strategies), abs=1e-9)


@pytest.mark.parametrize("definition", [KUHN, LEDUC])
def test_true_values_give_zero_variance_when_both_players_are_known(definition: GameDefinition) -> None:
    strategies = OneCardGame(definition, nothing).random_strategies(np.random.default_rng(8))

    values: dict[tuple[State, int, int], float] = {}

    def exact(state: State, beliefs: Beliefs) -> float:
        def value(first: int, second: int) -> float:
            key = (state, first, second)
            if key not in values:
                values[key] = game.value(state, (first, second), strategies)
            return values[key]

        return game.mean(state, beliefs, value)

    game = OneCardGame(definition, exact)
    if definition is LEDUC:  # one deal suffices: all its hands have the same estimate
        start, value = mean_start(game, (0, ()), BOTH), game.true_value(strategies)
        hands = (hand for _, hand in game.all_hands(strategies, BOTH))
        estimates = [corrected_value(game, hand, start) for _, hand in zip(range(60), hands, strict=False)]
        np.testing.assert_allclose(estimates, value, atol=1e-9)
    else:
        mean, deviation = expectation(game, strategies, BOTH)
        assert mean == pytest.approx(game.true_value(strategies), abs=1e-9)
        assert deviation < 1e-6


@pytest.mark.parametrize(("definition", "boxes"), [(KUHN, 6), (LEDUC, 1)])
@pytest.mark.parametrize("own", [0, 1])
def test_an_unknown_player_is_measured_without_bias(definition: GameDefinition, boxes: int, own: int) -> None:
    """Guesses are our values against an assumed opponent; the real one plays any other strategy."""
    rng = np.random.default_rng(9)
    believed = OneCardGame(definition, nothing).random_strategies(rng)
    values: dict[tuple[State, int, int], float] = {}

    def own_values(state: State, beliefs: Beliefs) -> float:
        def value(first: int, second: int) -> float:
            key = (state, first, second)
            if key not in values:
                values[key] = game.value(state, (first, second), believed)
            return values[key]

        return game.mean(state, beliefs, value)

    game, known = OneCardGame(definition, own_values), (own == 0, own == 1)
    for _ in range(boxes):
        box = game.random_strategies(rng)
        for rows in box.values():  # deterministic
            rows[:] = rows == rows.max(axis=0)
        ours = {state: rows for state, rows in believed.items() if game.tree.player[state[0]] == own}
        strategies = {**box, **ours}
        mean, deviation = expectation(game, strategies, known)
        assert mean == pytest.approx(game.true_value(strategies), abs=1e-9)
        plain = expectation(OneCardGame(definition, nothing), strategies, (False, False))[1]
        assert deviation < plain
