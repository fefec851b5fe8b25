from __future__ import annotations

import pytest

from bench.robustness import fuzz


@pytest.mark.parametrize("side", fuzz.SIDES)
def test_mutated_lines_are_parsed_or_refused(side: str) -> None:
    tally = fuzz.fuzz(side, lines=5000, seed=6)
    assert tally.failures == ()
    assert tally.answers.total() == 5000
    assert len(tally.answers) > 5


def test_the_search_is_reproducible() -> None:
    assert fuzz.fuzz("client", lines=500, seed=6) == fuzz.fuzz("client", lines=500, seed=6)
