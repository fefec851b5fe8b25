from __future__ import annotations

from hypothesis import settings

# JIT compilation makes first examples slow, which says nothing about the code under test.
settings.register_profile("fathom", deadline=None, derandomize=True)
settings.load_profile("fathom")
