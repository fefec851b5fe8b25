"""Number types for `argparse`: their errors say what is allowed, and argparse adds the option's name."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def whole_number(least: int = 1, most: int | None = None) -> Callable[[str], int]:
    """A parser of whole numbers within these limits, inclusive."""
    allowed = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"write a whole number {allowed}, not {text!r}")
        return number

    return read


def positive_number(text: str) -> float:
    """A number above 0, such as seconds."""
    number = _number(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"write a number above 0, not {text!r}")
    return number


def number_from_zero(text: str) -> float:
    """A number that is not negative."""
    number = _number(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"write a number of at least 0, not {text!r}")
    return number


def number_between(least: float, most: float) -> Callable[[str], float]:
    """A parser of numbers within these limits, inclusive."""

    def read(text: str) -> float:
        number = _number(text)
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"write a number from {least:g} to {most:g}, not {text!r}")
        return number

    return read


def any_number(text: str) -> float:
    """Any number, including infinity."""
    number = _number(text)
    if math.isnan(number):
        raise argparse.ArgumentTypeError(f"write a number, not {text!r}")
    return number


def number_or_never(text: str) -> float:
    """Any number, or `never` for -inf: argparse would take a separate argument `-inf` for an option."""
    return -math.inf if text == "never" else any_number(text)


def _number(text: str) -> float:
    """The number, or NaN if the text is not one."""
    try:
        return float(text)
    except ValueError:
        return math.nan


port_number = whole_number(1, 65535)
