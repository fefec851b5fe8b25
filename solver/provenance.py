"""Where a blueprint comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple


class Regrouping(NamedTuple):
    """A time at which what was learned went on with other buckets (`solver.regrouping`)."""

    iterations: int
    """Done then,"""
    buckets: tuple[int, ...]
    """with so many in each round."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a blueprint's file says of its making."""

    preset: str
    seed: int
    iterations: int
    settings: Mapping[str, float]
    threads: int
    fathom: str
    """Version of the program."""
    core_hours: float | None
    """None, like the date, in a reproducible file: one that depends on what was trained alone."""
    date: str | None
    regrouped: tuple[Regrouping, ...] = ()

    def record(self) -> dict[str, Any]:
        """Ready for JSON. What most blueprints do not have is left out: early programs refuse it."""
        record = asdict(self)
        if not self.regrouped:
            del record["regrouped"]
        return record


def parse_provenance(record: Mapping[str, Any]) -> Provenance:
    """The inverse of `Provenance.record`; what later programs add is passed over."""
    known = {field.name: record[field.name] for field in fields(Provenance) if field.name in record}
    return Provenance(**{**known, "regrouped": parse_regroupings(record.get("regrouped", []))})


def parse_regroupings(rows: Iterable[Sequence[Any]]) -> tuple[Regrouping, ...]:
    """As JSON has them."""
    return tuple([Regrouping(int(iterations), tuple(buckets)) for iterations, buckets in rows])
