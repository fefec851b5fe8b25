"""How the daemon is doing, over the last minutes: looked at every two seconds, for the dashboard.

Everything comes from the daemon's own metrics. Counters and histograms only grow, so that what happened
lately is the difference of two looks: percentiles are those of the last half minute, interpolated within the
buckets.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

from server.metrics import Metrics

EVERY_SECONDS = 2.0
KEPT = 300
"""Looks: ten minutes."""
WINDOW = 15
"""Looks that percentiles are about."""

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

Buckets = dict[float, float]
"""How many were at most so large, by upper bound."""


@dataclass(slots=True)
class _Look:
    """Counts at one moment, by what they are about."""

    by_street: dict[str, Buckets] = field(default_factory=dict)
    by_method: dict[str, Buckets] = field(default_factory=dict)
    margin: Buckets = field(default_factory=dict)
    waits: Buckets = field(default_factory=dict)
    lag: Buckets = field(default_factory=dict)
    decisions: float = 0.0
    at: float = 0.0


class Watch:
    """Looks at metrics and remembers; whoever wants to know follows."""

    def __init__(self, metrics: Metrics, more: Callable[[], Mapping[str, Any]]) -> None:
        """more: what metrics do not know, such as the pool's workers; asked at every look."""
        self._metrics, self._more = metrics, more
        self._looks: deque[_Look] = deque(maxlen=WINDOW + 1)
        self._points: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._changed = asyncio.Condition()
        self._taken = 0
        self._closed = False

    @property
    def points(self) -> list[dict[str, Any]]:
        """What was seen, the oldest first."""
        return list(self._points)

    async def run(self) -> None:
        """Look for ever."""
        while True:
            await self.look()
            await asyncio.sleep(EVERY_SECONDS)

    async def look(self) -> None:
        """Once."""
        point = self._point()
        async with self._changed:
            self._points.append(point)
            self._taken += 1
            self._changed.notify_all()

    async def close(self) -> None:
        """End all who follow."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()

    async def follow(self) -> AsyncIterator[dict[str, Any]]:
        """Every look from now on, until the daemon ends."""
        seen = self._taken
        while True:
            async with self._changed:
                while self._taken == seen and not self._closed:
                    await self._changed.wait()
                if self._closed:
                    return
                missed = min(self._taken - seen, len(self._points))
                seen, points = self._taken, list(self._points)[-missed:]
            for point in points:
                yield point

    def _point(self) -> dict[str, Any]:
        found = {metric.name: metric for metric in self._metrics.registry.collect()}
        look = _look(found)
        before = self._looks[0] if self._looks else _Look()
        self._looks.append(look)
        span = look.at - before.at if before.at else EVERY_SECONDS
        margin = grown(before.margin, look.margin)
        return {
            "at": round(time.time(), 3),
            "streets": _spread_by(before.by_street, look.by_street),
            "methods": _spread_by(before.by_method, look.by_method),
            "margin": {
                **spread(margin),
                "p1": percentile(margin, 0.01),
                "p5": percentile(margin, 0.05),
                "late": int(margin.get(0.0, 0.0)),
            },
            "queue_wait": spread(grown(before.waits, look.waits)),
            "loop_lag": spread(grown(before.lag, look.lag)),
            "decisions_per_second": round((look.decisions - before.decisions) / max(span, 1e-9), 2),
            "queue": int(_value(found, "fathom_queue_length")),
            "decisions": _by_labels(found, "fathom_decisions"),
            "fallbacks": _by_labels(found, "fathom_fallbacks"),
            "restarts": int(sum(_by_labels(found, "fathom_worker_restarts").values())),
            "workers": _by_labels(found, "fathom_workers"),
            "hands": _by_labels(found, "fathom_hands"),
            "winnings": _by_labels(found, "fathom_winnings_chips"),
            "memory_bytes": int(_value(found, "process_resident_memory_bytes")),
            **self._more(),
        }


def grown(before: Buckets, now: Buckets) -> Buckets:
    """What came since: how many at most so large."""
    return {bound: count - before.get(bound, 0.0) for bound, count in now.items()}


def spread(buckets: Buckets) -> dict[str, float | int | None]:
    """How many, and percentiles, interpolated; None where there is nothing."""
    count = max(buckets.values(), default=0.0)
    return {"count": int(count), **{name: percentile(buckets, share) for name, share in _SHARES.items()}}


def percentile(buckets: Buckets, share: float) -> float | None:
    """As Prometheus computes it: even within a bucket; the largest bound for what is beyond all."""
    bounds = sorted(buckets)
    total = buckets[bounds[-1]] if bounds else 0.0
    if total <= 0:
        return None
    wanted, below, count_below = share * total, min(0.0, bounds[0]), 0.0
    for bound in bounds:
        if buckets[bound] >= wanted:
            if bound == float("inf"):
                break
            inside = buckets[bound] - count_below
            part = (wanted - count_below) / inside if inside > 0 else 1.0
            return round(below + (bound - below) * part, 6)
        below, count_below = bound, buckets[bound]
    return round(below, 6)


def _look(found: Mapping[str, Metric]) -> _Look:
    look = _Look(at=time.monotonic())
    for sample in _buckets(found, "fathom_solve_seconds"):
        bound = float(sample.labels["le"])
        for kept, label in ((look.by_street, "street"), (look.by_method, "method")):
            counts = kept.setdefault(sample.labels[label], {})
            counts[bound] = counts.get(bound, 0.0) + sample.value
    for name, kept_buckets in (
        ("fathom_deadline_margin_seconds", look.margin),
        ("fathom_queue_wait_seconds", look.waits),
        ("fathom_event_loop_lag_seconds", look.lag),
    ):
        for sample in _buckets(found, name):
            kept_buckets[float(sample.labels["le"])] = sample.value
    look.decisions = sum(_by_labels(found, "fathom_decisions").values())
    return look


def _spread_by(before: Mapping[str, Buckets], now: Mapping[str, Buckets]) -> dict[str, Any]:
    return {name: spread(grown(before.get(name, {}), buckets)) for name, buckets in now.items()}


def _buckets(found: Mapping[str, Metric], name: str) -> Iterable[Sample]:
    metric = found.get(name)
    samples = metric.samples if metric is not None else []
    return [sample for sample in samples if sample.name.endswith("_bucket")]


def _value(found: Mapping[str, Metric], name: str) -> float:
    metric = found.get(name)
    return metric.samples[0].value if metric is not None and metric.samples else 0.0


def _by_labels(found: Mapping[str, Metric], name: str) -> dict[str, float]:
    """The values of a metric by its labels' values."""
    metric = found.get(name)
    samples = metric.samples if metric is not None else []
    return {
        " ".join(sample.labels.values()): sample.value
        for sample in samples
        if not sample.name.endswith("_created") and sample.labels
    }
