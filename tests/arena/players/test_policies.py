from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from arena.players.policies import POLICIES, Policy, check_down, fold, min_raise, pot_odds, random_hand_equity
from game.actions import CALL, FOLD, raise_to
from game.cards import parse_cards
from game.definition import HUNL, KUHN, LEDUC, LIMIT_HOLDEM, NLFH, GameDefinition
from game.state import HandState, new_hand

GAMES = {
    "hunl": HUNL,
    "short": replace(HUNL, stacks=(500, 300), blinds=(20, 10)),
    "nlfh": NLFH,
    "limit": LIMIT_HOLDEM,
    "kuhn": KUHN,
    "leduc": LEDUC,
}


def deal(definition: GameDefinition, rng: Random) -> HandState:
    n = definition.num_hole_cards
    cards = tuple(rng.sample(sorted(definition.deck), 2 * n + sum(definition.board_cards)))
    return new_hand(definition, (cards[:n], cards[n : 2 * n]), cards[2 * n :])


def play_hand(definition: GameDefinition, policies: tuple[Policy, Policy], rng: Random) -> HandState:
    state = deal(definition, rng)
    while not state.betting.is_finished:
        actor = state.betting.actor
        state = state.apply(policies[actor](state, actor, rng))
    return state


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("game", GAMES)
def test_policies_play_legally_and_reproducibly(name: str, game: str) -> None:
    opponents = (POLICIES[name], POLICIES["random"])
    num_hands = 3 if name == "pot-odds" else 30
    matches = []
    for _ in range(2):
        rng = Random(5)
        hands = [play_hand(GAMES[game], opponents, rng) for _ in range(num_hands)]
        hands += [play_hand(GAMES[game], opponents[::-1], rng) for _ in range(num_hands)]
        matches.append([hand.betting.text for hand in hands])
        assert all(sum(hand.values()) == 0 for hand in hands)
    assert matches[0] == matches[1]


def test_simple_policies_do_what_their_names_say() -> None:
    rng = Random(1)
    fresh = deal(HUNL, rng)
    assert fold(fresh, 1, rng) == FOLD
    assert fold(fresh.apply(CALL), 0, rng) == CALL
    assert check_down(fresh, 1, rng) == CALL
    assert check_down(fresh.apply(raise_to(200)), 0, rng) == FOLD
    assert min_raise(fresh.apply(raise_to(300)), 0, rng) == raise_to(500)
    war = play_hand(HUNL, (min_raise, min_raise), rng).betting
    assert war.text.startswith("r200r300r400r500")
    assert len(war.actions[0]) == 64


def test_equity_against_a_random_hand() -> None:
    aces = new_hand(HUNL, (parse_cards("AsAh"), ()))
    assert random_hand_equity(aces, 0, Random(3), samples=4000) == pytest.approx(0.852, abs=0.025)
    royal = new_hand(HUNL, ((), parse_cards("AsKs")), parse_cards("QsJsTs2c2d"))
    for action in (CALL, CALL, CALL, CALL, CALL, CALL):
        royal = royal.apply(action)
    assert random_hand_equity(royal, 1, Random(3)) == 1.0


def test_pot_odds_folds_weak_hands_to_an_all_in_and_never_folds_the_nuts() -> None:
    rng = Random(3)
    for text, expected in [("7c2d", FOLD), ("AsAh", CALL)]:
        state = new_hand(HUNL, (parse_cards(text), ())).apply(raise_to(20000))
        assert {pot_odds(state, 0, rng) for _ in range(20)} == {expected}
