"""Prometheus metrics of the hand store, collected on demand."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from server.store.hand_store import HandStore


class StoreCollector(Collector):
    """The counters of one store."""

    def __init__(self, store: HandStore) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        """The current values."""
        store = self._store
        yield CounterMetricFamily(
            "fathom_store_writes",
            "Changes of hands, decisions and sessions written.",
            store.written,
        )
        yield CounterMetricFamily("fathom_store_failures", "Failed writes to the hand store.", store.failures)
        yield CounterMetricFamily("fathom_store_dropped", "Hands and decisions lost.", store.dropped)
        yield GaugeMetricFamily(
            "fathom_store_waiting", "Hands and decisions not written yet.", store.num_waiting
        )
