"""Errors of the abstraction package.

AbstractionError     invalid centroids, tables or request; the message says what to do
"""

from __future__ import annotations


class AbstractionError(ValueError):
    """Base class of the errors this package raises about its input."""
