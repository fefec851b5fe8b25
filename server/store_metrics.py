"""How the hand store is, for Prometheus: looked at when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from server.hand_store import HandStore


class StoreCollector(Collector):
    """Counts of one store."""

    def __init__(self, store: HandStore) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        """All of them."""
        store = self._store
        yield CounterMetricFamily(
            "fathom_store_writes",
            "Changes of hands, decisions and sessions written.",
            store.written,
        )
        yield CounterMetricFamily(
            "fathom_store_failures", "Writes that the disk of the hand store refused.", store.failures
        )
        yield CounterMetricFamily("fathom_store_dropped", "Hands and decisions lost for good.", store.dropped)
        yield GaugeMetricFamily(
            "fathom_store_waiting", "Hands and decisions that the disk has not taken yet.", store.num_waiting
        )
