"""Read and check the fields of a request's body; errors name the field and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from server.http.problems import Problem, bad_request


def refuse_unknown(fields: Mapping[str, object], known: Collection[str]) -> None:
    """Raise `Problem` for unknown fields: they are mistakes of the client."""
    for name in fields:
        if name not in known:
            raise _wrong(name[:40], f"is not a field of this request: choose from {', '.join(sorted(known))}")


def text(fields: Mapping[str, object], name: str, most: int = 4096) -> str | None:
    """ASCII text, or None if the field is absent."""
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > most:
        raise _wrong(name, f"must be text of at most {most} characters")
    if not value.isascii():
        raise _wrong(name, "must be plain ASCII text")
    return value


def needed_text(fields: Mapping[str, object], name: str, most: int = 4096) -> str:
    """ASCII text in a required field."""
    value = text(fields, name, most)
    if value is None:
        raise _wrong(name, "is missing")
    return value


def display_name(fields: Mapping[str, object], name: str, default: str) -> str:
    """A printable name in any script, or the default."""
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, str) or not 0 < len(value) <= 64 or not value.isprintable():
        raise _wrong(name, "must be 1 to 64 printable characters")
    return value


def number(fields: Mapping[str, object], name: str, least: float, most: float) -> float | None:
    """A finite number, or None if the field is absent."""
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise _wrong(name, f"must be a number from {least:g} to {most:g}")
    if not math.isfinite(value):
        raise _wrong(name, "must be finite")
    return float(value)


def whole(fields: Mapping[str, object], name: str, least: int, most: int) -> int | None:
    """A whole number, or None if the field is absent."""
    value = fields.get(name)
    if value is None:
        return None
    # In JSON Schema 3.0 is an integer.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _wrong(name, f"must be a whole number from {least} to {most}")
    return value


def flag(fields: Mapping[str, object], name: str) -> bool:
    """True or false; false if the field is absent."""
    value = fields.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise _wrong(name, "must be true or false")
    return value


def _wrong(name: str, reason: str) -> Problem:
    return bad_request(f"{name}: {reason}", "bad-field")
