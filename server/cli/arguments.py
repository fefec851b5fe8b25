"""Types of arguments that several commands take: what is refused is refused before anything runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import inf, isfinite, isnan


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Whole numbers from `least` on, up to `most`."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            upper = "" if most is None else f", at most {most:,}"
            raise argparse.ArgumentTypeError(f"'{text}': give a whole number, at least {least:,}{upper}")
        return number

    return parse


def seconds(text: str) -> float:
    """A length of time, above 0 and not infinite."""
    number = _number(text)
    if not (isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"'{text}': give a number of seconds above 0, e.g. 3600")
    return number


def real(text: str) -> float:
    """Any number, infinite ones, too."""
    number = _number(text)
    if isnan(number):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number")
    return number


def threshold(text: str) -> float:
    """A number, or `never`."""
    # `-inf` after a blank looks like an option to argparse.
    return -inf if text == "never" else real(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
