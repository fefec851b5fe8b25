from __future__ import annotations

from dataclasses import replace
from random import Random

from bench.robustness import rules
from bench.robustness._oracles import PokerKitHand
from game.definition import LIMIT_HOLDEM


def test_a_sample_of_hands_agrees_with_openspiel_and_pokerkit() -> None:
    tally = rules.compare(hands=600, pokerkit_hands=80, seed=20)
    assert tally.disagreements == ()
    assert tally.hands == 600
    assert tally.pokerkit_hands == 80
    assert tally.decisions > 2000


def test_limit_games_with_short_stacks_agree_with_pokerkit() -> None:
    # OpenSpiel plays limit games without stacks.
    short = replace(LIMIT_HOLDEM, max_raises=(4, 4, 4, 4), stacks=(105, 105))
    rng = Random(4)
    for _ in range(150):
        state = rules.deal(short, rng)
        assert rules.compare_hand(state, [PokerKitHand(state)], rng)[1] is None
