"""Rules against OpenSpiel, history by history."""

from __future__ import annotations

from typing import Any

import pyspiel
import pytest

from lab.flat.registry import game_named
from lab.games.goofspiel import Goofspiel
from lab.games.interface import CHANCE, TERMINAL
from lab.games.leduc import Leduc
from lab.games.liars_dice import LiarsDice


def goofspiel(cards: int, order: str, returns: str) -> Any:
    parameters = f"imp_info=True,num_cards={cards},points_order={order},returns_type={returns}"
    return pyspiel.convert_to_turn_based(pyspiel.load_game(f"goofspiel({parameters})"))


GAMES = [
    (Leduc(), pyspiel.load_game("leduc_poker"), 5520),
    (LiarsDice(4), pyspiel.load_game("liars_dice(numdice=1,dice_sides=4)"), 16 * 255),
    (Goofspiel(4), goofspiel(4, "descending", "point_difference"), 576),
    (Goofspiel(4, "ascending", "win_loss"), goofspiel(4, "ascending", "win_loss"), 576),
    pytest.param(Goofspiel(5), goofspiel(5, "descending", "point_difference"), 14400, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("rules", "oracle", "terminals"), GAMES)
def test_all_histories_agree(rules: Any, oracle: Any, terminals: int) -> None:
    seen = 0
    waiting = [(rules.start(), oracle.new_initial_state())]
    known: dict[Any, Any] = {}
    while waiting:
        state, other = waiting.pop()
        actor = rules.actor(state)
        if actor == TERMINAL:
            assert other.is_terminal()
            assert rules.utility(state) == other.returns()[0]
            seen += 1
            continue
        actions = list(rules.actions(state))
        if actor == CHANCE:
            assert other.is_chance_node()
            assert dict(other.chance_outcomes()) == pytest.approx(
                dict(zip(actions, rules.chance(state), strict=True))
            )
        else:
            assert actor == other.current_player()
            assert actions == other.legal_actions()
            # What we tell apart, OpenSpiel tells apart. It tells suits apart, too.
            told = other.information_state_string(actor)
            assert known.setdefault((actor, told), rules.private(state, actor)) == rules.private(state, actor)
        waiting += [(rules.next(state, action), other.child(action)) for action in actions]
    assert seen == terminals
    if not isinstance(rules, Leduc):
        assert len(known) == len({(player, key) for (player, _), key in known.items()})


def test_leduc_has_the_known_number_of_information_sets_without_suits() -> None:
    # 288, with suit isomorphism (Southey et al., 2005): 144 for each player.
    assert [side.num_infosets for side in game_named("leduc").sides] == [144, 144]
