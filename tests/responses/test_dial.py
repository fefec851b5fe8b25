from __future__ import annotations

import numpy as np
import pytest

from responses.dial import blend, checked_dial, exploitability_bound, join_reaches


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_a_wrong_p_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=r"from 0 .* to 1"):
        checked_dial(p)


def test_reaches_are_joined_in_any_precision() -> None:
    model, free = np.array([1.0, 0.0], dtype=np.float32), np.array([0.0, 1.0], dtype=np.float32)
    joined = join_reaches(model, free, 0.25)
    assert joined.dtype == np.float32
    assert joined.tolist() == [0.25, 0.75]


def test_blending_goes_from_safe_to_exploiting() -> None:
    safe, exploiting = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert blend(safe, exploiting, 0.0).tolist() == safe.tolist()
    assert blend(safe, exploiting, 1.0).tolist() == exploiting.tolist()


def test_the_bound_is_the_gain_at_one_half() -> None:
    assert exploitability_bound(0.3, 0.5) == 0.3
    assert exploitability_bound(0.3, 0.0) == 0.0
    assert exploitability_bound(0.3, 1.0) == np.inf
