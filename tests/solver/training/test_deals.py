from __future__ import annotations

import numpy as np
import pytest

from abstraction.buckets import BLOCKED
from abstraction.isomorphism import NUM_CANONICAL_BOARDS, board_locations, canonical_board, canonical_boards
from abstraction.tables import BucketTables
from game.evaluator import evaluate
from game.hands import HAND_CLASS, NUM_HANDS, class_text, hand_index
from solver.blueprint.abstract_game import new_deals
from solver.equity.all_in import pair_wins
from solver.training.deal_response import respond
from solver.training.deals import RUNOUTS, HoldemDealer, PreflopDealer, fill_outcomes
from solver.training.toys import push_fold
from solver.training.trainer import Trainer, TrainingSettings, make_plan
from tests.reference.mccfr import xorshift
from tests.solver.training_setups import small_cards

SEED = 2**40 + 12345

# The largest stack in big blinds with which to push in equilibrium (holdemresources.net, 2007), 20 for more.
# Rows are the first card, A to 2; suited hands are above the diagonal. 63s, 53s and 43s have gaps: 0 here.
PUSH = """
20 20 20 20 20 20 20 20 20 20 20 20 20
20 20 20 20 20 20 20 20 20 20 20 19.9 19.3
20 20 20 20 20 20 20 20 20 20 16.3 13.5 12.7
20 20 20 20 20 20 20 20 18.6 14.7 13.5 10.6 8.5
20 20 20 20 20 20 20 20 20 11.9 10.5 7.7 6.5
20 20 20 20 20 20 20 20 20 14.4 6.9 4.9 3.7
20 18.0 13.0 13.3 17.5 20 20 20 20 18.8 10.1 2.7 2.5
20 16.1 10.3 8.5 9.0 10.8 14.7 20 20 20 13.9 2.5 2.1
20 15.1 9.6 6.5 5.7 5.2 7.0 10.7 20 20 16.3 0 2.0
20 14.2 8.9 6.0 4.1 3.5 3.0 2.6 2.4 20 20 0 2.0
20 13.1 7.9 5.4 3.8 2.7 2.3 2.1 2.0 2.1 20 0 1.8
20 12.2 7.5 5.0 3.4 2.5 1.9 1.8 1.7 1.8 1.6 20 1.7
20 11.6 7.0 4.6 2.9 2.2 1.8 1.6 1.5 1.5 1.4 1.4 20
"""


def reference_deals(count: int, rounds: int) -> list[tuple[list[int], list[float]]]:
    """Nine cards and their outcomes by round, dealt as the kernel does: the deck keeps its order."""
    random, deck, dealt = xorshift(SEED), list(range(52)), []

    def deal(known: int) -> list[int]:
        for i in range(known, 9):
            j = i + int(np.float32(next(random)) * np.float32(52 - i))
            deck[i], deck[j] = deck[j], deck[i]
        return deck[:9]

    for _ in range(count):
        cards = deal(0)
        outcomes = [float(winner(cards))] * rounds
        for r in reversed(range(min(rounds, 3))):
            ways = [cards, *[deal((4, 7, 8)[r]) for _ in range(RUNOUTS - 1)]]
            outcomes[r] = sum(map(winner, ways)) / RUNOUTS
        dealt.append((cards, outcomes))
    return dealt


def winner(cards: list[int]) -> int:
    strengths = evaluate([cards[0:2] + cards[4:], cards[2:4] + cards[4:]]).astype(int)
    return int(np.sign(strengths[0] - strengths[1]))


@pytest.mark.kernel
def test_preflop_deals_match_the_reference() -> None:
    deals, state = new_deals(50, 1), np.array([SEED], dtype=np.uint64)
    PreflopDealer().fill(state, deals)
    for d, (cards, outcomes) in enumerate(reference_deals(50, rounds=1)):
        classes = [HAND_CLASS[hand_index(*cards[0:2])], HAND_CLASS[hand_index(*cards[2:4])]]
        assert deals.buckets[d].tolist() == classes
        assert deals.outcome[d].tolist() == outcomes


@pytest.mark.kernel
@pytest.mark.slow
def test_deals_match_the_reference() -> None:
    """Tables hold only the rows that these deals need, with the abstraction's buckets."""
    cards, dealt = small_cards(), reference_deals(6, rounds=4)
    rows = {n: np.full((NUM_CANONICAL_BOARDS[n], NUM_HANDS), BLOCKED, dtype=np.uint16) for n in (3, 4, 5)}
    for nine, _ in dealt:
        for n, table in rows.items():
            board = canonical_board(tuple(nine[4 : 4 + n]))[0]
            row = np.flatnonzero((canonical_boards(n) == board).all(axis=1))[0]
            table[row] = cards.buckets(board)
    tables = BucketTables(rows[3], rows[4], rows[5], *[board_locations(n) for n in (3, 4, 5)])
    deals = new_deals(len(dealt), 4)
    HoldemDealer(tables).fill(np.array([SEED], dtype=np.uint64), deals)
    for d, (nine, outcomes) in enumerate(dealt):
        for p in range(2):
            hand = hand_index(*nine[2 * p : 2 * p + 2])
            expected = [cards.bucket(tuple(nine[4 : 4 + n]), hand) for n in (0, 3, 4, 5)]
            assert deals.buckets[d, 4 * p : 4 * p + 4].tolist() == expected
        assert deals.outcome[d].tolist() == outcomes


@pytest.mark.kernel
@pytest.mark.parametrize(("r", "known"), [(1, 7), (2, 8)])
def test_outcomes_before_the_river_are_means_over_run_outs(r: int, known: int) -> None:
    deck, state = np.arange(52, dtype=np.uint8)[::-1].copy(), np.array([SEED], dtype=np.uint64)
    deck[[3, 20]] = deck[[20, 3]]  # aces against a king and a nine
    first, second, board = deck[:2].copy(), deck[2:4].copy(), deck[4:known].copy()
    outcome, total, count = np.empty(4, dtype=np.float32), 0.0, 400
    rest = np.setdiff1d(np.arange(52), [*first, *second, *board])
    rng = np.random.default_rng(1)
    for _ in range(count):
        deck[:] = [*first, *second, *board, *rng.permutation(rest)]
        fill_outcomes(state, deck, outcome)
        total += float(outcome[r])
    exact = pair_wins(tuple(first.tolist()), tuple(second.tolist()), tuple(board.tolist()))
    assert total / count == pytest.approx(exact, abs=4 / np.sqrt(RUNOUTS * count))


def test_deals_are_fair() -> None:
    deals = new_deals(200_000, 1)
    PreflopDealer().fill(np.array([SEED], dtype=np.uint64), deals)
    expected = np.bincount(HAND_CLASS, minlength=169) / NUM_HANDS
    for player in range(2):
        counts = np.bincount(deals.buckets[:, player], minlength=169)
        spread = np.sqrt(expected * len(deals.outcome))
        assert (np.abs(counts - expected * len(deals.outcome)) < 5 * spread).all()
    assert abs(deals.outcome.mean()) < 5 * deals.outcome.std() / np.sqrt(len(deals.outcome))


@pytest.mark.slow
def test_push_fold_training_reaches_the_published_equilibrium() -> None:
    """At ten big blinds clear pushes and folds of the chart are met; other hands gain nothing."""
    game = push_fold(10.0)
    settings = TrainingSettings(prune_below=-np.inf, floor=-np.inf)
    trainer = Trainer(game, PreflopDealer(), make_plan(settings, 1, iterations=16_000_000))
    while not trainer.is_done:  # one thread, so the result is reproducible
        trainer.run_slice()
    trainer.close()
    strategy = trainer.average_strategy()
    push, call = strategy[:338].reshape(169, 2)[:, 1], strategy[338:].reshape(169, 2)[:, 1]
    limits = [float(word) for word in PUSH.split()]
    wrong = [
        class_text(c)
        for c, limit in enumerate(limits)
        if (limit > 11.5 and push[c] < 0.5) or (0 < limit < 8.5 and push[c] > 0.5)
    ]
    assert wrong == []
    named = {class_text(c): c for c in range(169)}
    assert call[named["K5o"]] > 0.6  # to 10.2 big blinds
    assert call[named["K4o"]] < 0.4  # to 9.1
    assert call[named["J9o"]] < 0.6  # to 9.5
    assert call[named["Q8s"]] > 0.9  # to 13.0
    assert call[named["T8s"]] < 0.4  # to 9.3
    weights = np.bincount(HAND_CLASS, minlength=169) / NUM_HANDS
    assert push @ weights == pytest.approx(0.583, abs=0.02)
    assert call @ weights == pytest.approx(0.374, abs=0.02)
    deals = new_deals(2_000_000, 1)
    PreflopDealer().fill(np.array([SEED], dtype=np.uint64), deals)
    assert respond(game, strategy, deals, held_out=0.5).exploitability < 5e-3 / 1.5
