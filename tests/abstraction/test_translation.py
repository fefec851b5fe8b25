from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.translation import pot_fraction, pseudo_harmonic, same_fraction
from tests.reference import translation as slow


@pytest.mark.kernel
@given(st.integers(1, 400), st.integers(1, 400), st.integers(0, 100))
def test_mapping_matches_the_papers_table(low: int, gap: int, percent: int) -> None:
    a, b = Fraction(low, 20), Fraction(low + gap, 20)
    x = a + (b - a) * percent / 100
    assert pseudo_harmonic(float(x), float(a), float(b)) == pytest.approx(
        float(slow.pseudo_harmonic(x, a, b)), abs=1e-12
    )


@pytest.mark.kernel
def test_published_properties() -> None:
    # Table 1 of the paper: between sizes A and B, e.g. 0.01 and 1, the size that is mapped to either with
    # probability 1/2 is (A + B + 2AB) / (A + B + 2).
    for a, b in ((0.01, 1.0), (0.05, 1.0), (0.25, 1.0), (0.25, 0.75), (0.5, 4.0)):
        middle = (a + b + 2 * a * b) / (a + b + 2)
        assert pseudo_harmonic(middle, a, b) == pytest.approx(0.5)
        assert pseudo_harmonic(a, a, b) == 1.0
        assert pseudo_harmonic(b, a, b) == 0.0
    # The clairvoyance game's own numbers: A = 0.1, B = 1, x = 0.5 gives 11/27.
    assert pseudo_harmonic(0.5, 0.1, 1.0) == pytest.approx(11 / 27)


@pytest.mark.kernel
@given(st.integers(1, 10_000), st.integers(0, 20_000), st.integers(1, 10_000))
def test_the_same_fraction_in_another_pot(faced: int, more: int, own_faced: int) -> None:
    total = faced + more
    assert same_fraction(total, faced, faced) == total
    exact = own_faced + slow.fraction(total, faced) * 2 * own_faced
    assert abs(same_fraction(total, faced, own_faced) - exact) <= Fraction(1, 2)
    assert pot_fraction(total, faced) == pytest.approx(float(slow.fraction(total, faced)))
