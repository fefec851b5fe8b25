"""Push/fold: the small blind goes all-in or folds, the big blind calls or folds. Solved exactly.

Stacks and values are in big blinds; hands are the 169 classes, in the order of `game.hands`. All-in results
are exact means over all boards (`solver.equity.class_pairs`), including card removal, so the only error is
that of the iteration, which `exploitability` measures.

Strategies are float64[169]: the probability that a class goes all-in, or calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from game.hands import NUM_CLASSES
from numeric.arrays import F64
from solver.equity.class_pairs import class_pairs, class_wins

SMALL_BLIND, BIG_BLIND = 0.5, 1.0
LEAST_STACK, MOST_STACK = 1.0, 100.0

_TARGET = 1e-7
"""Exploitability to stop at, in big blinds per hand; far below the precision of published thresholds."""
_CHECK_EVERY = 500
_MOST_ITERATIONS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class PushFold:
    """An equilibrium at one stack."""

    stack: float
    push: F64
    call: F64
    value: float
    """Expected value of the small blind per hand."""
    exploitability: float
    """Gain of a best responder, averaged over both positions."""
    iterations: int


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """Gains of going all-in over folding, by class, against a strategy; float64[169]."""

    push: F64
    """Gains of the small blind, against calls."""
    call: F64
    """Gains of the big blind after a push; NaN if the small blind never pushes."""


@cache
def solve_push_fold(stack: float) -> PushFold:
    """The equilibrium for stacks of this many big blinds.

    Takes some seconds, more the first time on a machine. It depends on nothing but the stack and is computed
    once per process. Uses CFR+ with alternating updates and averages weighted by the square of the iteration.
    """
    if not LEAST_STACK <= stack <= MOST_STACK:
        raise ValueError(f"stack: must be from {LEAST_STACK:g} to {MOST_STACK:g} big blinds")
    pairs, wins = _tables()
    stakes = pairs * wins * stack
    regret_push, regret_call = np.zeros((2, NUM_CLASSES)), np.zeros((2, NUM_CLASSES))
    push, call = np.full(NUM_CLASSES, 0.5), np.full(NUM_CLASSES, 0.5)
    sum_push, sum_call = np.zeros(NUM_CLASSES), np.zeros(NUM_CLASSES)
    found, iteration = None, 0
    while iteration < _MOST_ITERATIONS:
        iteration += 1
        push = _update(regret_push, push, _push_gain(pairs, stakes, call))
        call = _update(regret_call, call, _call_gain(pairs, stakes, push))
        weight = float(iteration) ** 2
        sum_push += weight * push
        sum_call += weight * call
        if iteration % _CHECK_EVERY == 0:
            total = sum(float(t) ** 2 for t in range(1, iteration + 1))
            found = _measured(stack, sum_push / total, sum_call / total, iteration)
            if found.exploitability <= _TARGET:
                break
    assert found is not None
    return found


def gains(stack: float, push: F64, call: F64) -> Gains:
    """Gain of each class in both positions by going all-in against the other's strategy."""
    pairs, wins = _tables()
    stakes = pairs * wins * stack
    met = pairs.sum(axis=1)
    pushed = pairs @ push
    called = _call_gain(pairs, stakes, push)
    return Gains(
        push=_push_gain(pairs, stakes, call) / met,
        call=np.divide(called, pushed, out=np.full(NUM_CLASSES, np.nan), where=pushed > 0),
    )


def small_blind_value(stack: float, push: F64, call: F64) -> float:
    """Expected value of the small blind per hand when both play given strategies."""
    pairs, wins = _tables()
    gained = push @ _push_gain(pairs, pairs * wins * stack, call)
    return float(gained / pairs.sum()) - SMALL_BLIND


def class_shares() -> F64:
    """float64[169]: probability that each class is dealt."""
    pairs, _ = _tables()
    met = pairs.sum(axis=1)
    return np.asarray(met / met.sum())


def _push_gain(pairs: F64, stakes: F64, call: F64) -> F64:
    """Gain of pushing over folding for each class of the small blind, summed over pairs of hands."""
    return np.asarray(pairs @ (1 - call) * BIG_BLIND + stakes @ call + pairs.sum(axis=1) * SMALL_BLIND)


def _call_gain(pairs: F64, stakes: F64, push: F64) -> F64:
    """Gain of calling over folding for each class of the big blind, summed over pairs that push."""
    return np.asarray(stakes @ push + (pairs @ push) * BIG_BLIND)


def _update(regret: F64, strategy: F64, gain: F64) -> F64:
    """One step of CFR+; the regrets of going all-in and of folding are modified in place."""
    regret[0] = np.maximum(regret[0] + (1 - strategy) * gain, 0)
    regret[1] = np.maximum(regret[1] - strategy * gain, 0)
    total = regret.sum(axis=0)
    return np.asarray(np.divide(regret[0], total, out=np.full(NUM_CLASSES, 0.5), where=total > 0))


def _measured(stack: float, push: F64, call: F64, iterations: int) -> PushFold:
    pairs, wins = _tables()
    stakes, total = pairs * wins * stack, float(pairs.sum())
    gain = _push_gain(pairs, stakes, call)
    value = float(push @ gain) / total - SMALL_BLIND
    best_push = float(np.maximum(gain, 0).sum()) / total - SMALL_BLIND
    called = _call_gain(pairs, stakes, push)
    missed = float(np.maximum(called, 0).sum() - call @ called) / total
    return PushFold(stack, push, call, value, ((best_push - value) + missed) / 2, iterations)


@cache
def _tables() -> tuple[F64, F64]:
    return class_pairs().astype(np.float64), class_wins().astype(np.float64)
