from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _words_may_wrap() -> Iterator[None]:
    """Run as plain Python, kernels that count in uint64 words would warn where machine code wraps around."""
    with np.errstate(over="ignore"):
        yield
