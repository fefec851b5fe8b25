from __future__ import annotations

import json

import numpy as np
import pytest

from bench.quality import convergence
from solver.blueprint.abstract_game import ListDealer
from solver.blueprint.layout import Deals


def eight_cards() -> ListDealer:
    """Each player holds one of eight cards, which is its bucket in every round: perfect recall."""
    first, second = (grid.ravel() for grid in np.meshgrid(np.arange(8), np.arange(8)))
    buckets = np.stack([first] * 4 + [second] * 4, axis=1).astype(np.int32)
    outcome = np.sign(first - second).astype(np.float32)
    return ListDealer(Deals(buckets, np.repeat(outcome[:, None], 4, axis=1)))


@pytest.mark.slow
def test_exploitability_falls_with_the_length_of_the_training(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tiny preset's betting with synthetic cards, since its real buckets take a minute to prepare."""
    monkeypatch.setattr(convergence, "make_card_abstraction", lambda *_: None)
    monkeypatch.setattr(convergence, "open_tables", lambda *_: None)
    monkeypatch.setattr(convergence, "HoldemDealer", lambda _: eight_cards())
    arguments = ["--json", "--iterations", "200000,10000", "--deals", "40000", "--threads", "1"]
    assert convergence.main(arguments) == 0
    (line,) = capsys.readouterr().out.splitlines()
    figures = json.loads(line)
    assert figures["falls"]
    uniform, short, long = figures["rows"]
    assert uniform["iterations"] == 0
    assert long["exploitability_at_most_bb"] < 0.5 * short["exploitability_at_most_bb"]
    assert figures["share_of_uniform"] == long["share_of_uniform_at_most"] < 0.05
