"""Provenance of blueprints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple


class Regrouping(NamedTuple):
    """A change of buckets during a training (`solver.training.regrouping`)."""

    iterations: int
    """Iterations done at the change."""
    buckets: tuple[int, ...]
    """Number of old buckets in each round."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a blueprint was made, as recorded in its file."""

    preset: str
    seed: int
    iterations: int
    settings: Mapping[str, float]
    threads: int
    fathom: str
    """Version of the program."""
    core_hours: float | None
    """None, like the date, in a reproducible file, which depends only on the training itself."""
    date: str | None
    regrouped: tuple[Regrouping, ...] = ()

    def record(self) -> dict[str, Any]:
        """The record for JSON. Rarely used entries are left out, because old programs refuse them."""
        record = asdict(self)
        if not self.regrouped:
            del record["regrouped"]
        return record


def parse_provenance(record: Mapping[str, Any]) -> Provenance:
    """The inverse of `Provenance.record`; entries added by later programs are ignored."""
    known = {field.name: record[field.name] for field in fields(Provenance) if field.name in record}
    return Provenance(**{**known, "regrouped": parse_regroupings(record.get("regrouped", []))})


def parse_regroupings(rows: Iterable[Sequence[Any]]) -> tuple[Regrouping, ...]:
    """Parse regroupings from JSON."""
    return tuple([Regrouping(int(iterations), tuple(buckets)) for iterations, buckets in rows])
