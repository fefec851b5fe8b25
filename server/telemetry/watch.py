"""The daemon's metrics over the last ten minutes, sampled every two seconds, for the dashboard.

All data come from the daemon's own metrics. Counters and histograms only grow, so recent activity is the
difference of two samples. Percentiles cover the last half minute and are interpolated within the buckets.
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

from server.telemetry.metrics import Metrics

EVERY_SECONDS = 2.0
KEPT = 300
"""Samples kept: ten minutes."""
WINDOW = 15
"""Samples that percentiles cover: half a minute."""

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

Buckets = dict[float, float]
"""Cumulative counts by upper bound."""


@dataclass(slots=True)
class _Look:
    """One sample of the counts."""

    by_street: dict[str, Buckets] = field(default_factory=dict)
    by_method: dict[str, Buckets] = field(default_factory=dict)
    margin: Buckets = field(default_factory=dict)
    waits: Buckets = field(default_factory=dict)
    lag: Buckets = field(default_factory=dict)
    decisions: float = 0.0
    at: float = 0.0


class Watch:
    """Samples the metrics, keeps the recent points, and lets clients follow them."""

    def __init__(self, metrics: Metrics, more: Callable[[], Mapping[str, Any]]) -> None:
        """Create a watch; `run` samples.

        more  additional values for every point, such as the pool's workers
        """
        self._metrics, self._more = metrics, more
        self._looks: deque[_Look] = deque(maxlen=WINDOW + 1)
        self._points: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._changed = asyncio.Condition()
        self._taken = 0
        self._closed = False

    @property
    def points(self) -> list[dict[str, Any]]:
        """The kept points, oldest first."""
        return list(self._points)

    async def run(self) -> None:
        """Sample until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(EVERY_SECONDS)

    async def look(self) -> None:
        """Take one sample."""
        point = self._point()
        async with self._changed:
            self._points.append(point)
            self._taken += 1
            self._changed.notify_all()

    async def close(self) -> None:
        """End all followers."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()

    async def follow(self) -> AsyncIterator[dict[str, Any]]:
        """All points from now on, until `close`."""
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
    """The cumulative counts added since `before`."""
    return {bound: count - before.get(bound, 0.0) for bound, count in now.items()}


def spread(buckets: Buckets) -> dict[str, float | int | None]:
    """The count and interpolated percentiles; None for percentiles of nothing."""
    count = max(buckets.values(), default=0.0)
    return {"count": int(count), **{name: percentile(buckets, share) for name, share in _SHARES.items()}}


def percentile(buckets: Buckets, share: float) -> float | None:
    """A percentile as Prometheus computes it: linear within a bucket, at most the largest finite bound."""
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
    """A metric's values by label values."""
    metric = found.get(name)
    samples = metric.samples if metric is not None else []
    return {
        " ".join(sample.labels.values()): sample.value
        for sample in samples
        if not sample.name.endswith("_created") and sample.labels
    }
