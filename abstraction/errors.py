"""What can go wrong with an abstraction.

AbstractionError     centroids, tables or a request that make no sense; the message says what to do
"""

from __future__ import annotations


class AbstractionError(ValueError):
    """Base of everything this package raises about its input."""
