"""The public interface: its names, the cost of the import, and agreement with the packages behind it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fathom
from fathom import _spots

SOURCE = Path(fathom.__file__).read_text(encoding="utf-8")
RIVER = {"board": "AsKd7h4c2s", "pot": 100, "stack": 200, "oop": "QQ,JTs,A5s", "ip": "KQs,TT,99"}


def test_type_checkers_and_programs_see_the_same_names() -> None:
    block = next(node for node in ast.parse(SOURCE).body if isinstance(node, ast.If))
    typed = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == fathom._MODULE_OF
    assert sorted(typed) == sorted(fathom.__all__) == sorted(dir(fathom))


def test_every_name_exists_and_is_documented() -> None:
    for name in fathom.__all__:
        value = getattr(fathom, name)
        assert value.__doc__ or name in ("CALL", "FOLD"), name
    with pytest.raises(AttributeError, match="solve_spott"):
        _ = fathom.solve_spott


def test_the_reference_has_every_name() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: fathom\.(\w+)$", page, re.MULTILINE)) == sorted(fathom.__all__)


def test_the_import_loads_no_other_package() -> None:
    program = (
        "import sys, fathom; print(sorted({name.split('.')[0] for name in sys.modules}"
        " & {'numpy', 'numba', 'game', 'solver', 'arena', 'server', 'asyncio'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_values_and_strategies_of_a_solved_spot_add_up() -> None:
    spot = fathom.solve_spot(**RIVER, iterations=50)
    assert spot.iterations == 50
    assert sum(spot.ev) == pytest.approx(100)
    for path in ("root", "x", "b50%"):
        node = spot.look(path)
        held = node.reach[node.player] > 0
        assert node.strategy[:, held].sum(axis=0) == pytest.approx(1)
        assert sum(node.mean_ev) == pytest.approx(node.pot)
        assert sum(node.frequencies.values()) == pytest.approx(1)
        best, mixed = node.action_ev.max(axis=0), (node.strategy * node.action_ev).sum(axis=0)
        assert (best[held] >= mixed[held] - 1e-3).all()


def test_ranges_are_text_or_weights() -> None:
    weights = fathom.parse_range("QQ,JTs,A5s")
    by_weights = fathom.solve_spot(**{**RIVER, "oop": weights}, iterations=20)
    by_text = fathom.solve_spot(**RIVER, iterations=20)
    np.testing.assert_array_equal(by_weights.look().strategy, by_text.look().strategy)


def test_a_saved_spot_is_the_same(tmp_path: Path) -> None:
    spot = fathom.solve_spot(**RIVER, locks=["b50% = f random:0.5; c rest"], iterations=20)
    spot.save(tmp_path / "spot.solve")
    again = fathom.open_spot(tmp_path / "spot.solve")
    assert again.to_json("x")["locked"] == ["b50"]
    np.testing.assert_array_equal(again.look("x").strategy, spot.look("x").strategy)
    assert again.exploitability == pytest.approx(spot.exploitability, abs=1e-6)
    with pytest.raises(ValueError, match="copy that file"):
        again.save(tmp_path / "copy.solve")


def test_nodes_after_symmetric_rivers_have_their_own_board() -> None:
    spot = fathom.solve_spot("7h7d2h2d", 100, 100, "AA,KK", "QQ,JJ", menu="a | a", iterations=20)
    for card in ("4c", "4s"):
        assert spot.look(f"x/x/{card}").board == f"7h7d2h2d{card}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"oop": "AsKs"}, "oop: no hand of the range is possible"),
        ({"board": "AsKd"}, "3, 4 or 5 cards"),
        ({"locks": ["b77% = f rest"]}, "b77%"),
    ],
)
def test_invalid_spots_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fathom.solve_spot(**{**RIVER, **given})


def test_a_spot_too_large_for_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_spots, "fits_memory", lambda needed: False)
    with pytest.raises(ValueError, match="offer fewer sizes"):
        fathom.solve_spot(**RIVER)


def test_decisions_agree_with_the_blueprint_where_nothing_is_solved() -> None:
    agent = fathom.make_agent(iterations=10)
    decision = fathom.decide(agent, "AsKd")
    looked_up = fathom.look_up(agent.blueprint)
    assert tuple(map(str, looked_up.actions)) == decision.actions
    np.testing.assert_allclose(looked_up.probabilities, decision.all_hands.probabilities, atol=1e-6)
    assert decision.of("7h2c")["f"] == pytest.approx(
        looked_up.probabilities[decision.actions.index("f"), fathom.parse_hand("7h2c")]
    )
    assert decision.values is decision.exploitability is None
    assert decision.action in decision.strategy


@pytest.mark.parametrize(
    ("betting", "board", "message"),
    [("f", "", "the hand is over"), ("r300c/", "Th9c", "needs 3"), ("x", "", "x")],
)
def test_invalid_hands_are_refused(betting: str, board: str, message: str) -> None:
    agent = fathom.make_agent(iterations=10)
    with pytest.raises(ValueError, match=message):
        fathom.decide(agent, "AsKd", betting, board)
    with pytest.raises(ValueError, match=message):
        fathom.look_up(agent.blueprint, betting, board)


def test_a_budget_excludes_iterations() -> None:
    with pytest.raises(ValueError, match="not both"):
        fathom.make_agent(budget=1, iterations=10)


def test_a_function_plays_like_the_named_player() -> None:
    def call(state: fathom.HandState, position: int, rng: object) -> fathom.Action:
        return fathom.CALL

    named = fathom.play_match("pot-odds", "call", 100, seed=3)
    written = fathom.play_match("pot-odds", call, 99, seed=3)
    assert written.names == named.names == ("pot-odds", "call")
    np.testing.assert_array_equal(written.chips, named.chips)
    assert fathom.play_match(call, call, 2).names == ("call-A", "call-B")
    with pytest.raises(ValueError, match="need players by name"):
        fathom.play_match(call, "call", 2, workers=2)
    with pytest.raises(ValueError, match="at least one"):
        fathom.play_match("call", "call", 0)


def test_local_best_response_gives_the_same_result_in_other_processes() -> None:
    here = fathom.local_best_response("call", 20)
    there = fathom.local_best_response("call", 20, workers=2)
    np.testing.assert_array_equal(here.chips, there.chips)
