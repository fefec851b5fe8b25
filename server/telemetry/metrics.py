"""The daemon's Prometheus metrics: one registry per daemon, nothing global.

Names follow Prometheus' conventions: prefix `fathom_`, base units, `_total` for counters. Label values are
bounded: streets, rungs, reasons, and the first MOST_OPPONENTS opponents.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST

STREETS = ("preflop", "flop", "turn", "river")
MOST_OPPONENTS = 100
"""Opponents with their own label; later ones are counted as OTHERS."""
OTHERS = "others"

_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_MARGINS = (-5.0, -1.0, -0.5, -0.25, -0.1, -0.05, 0.0, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
_ITERATIONS = (1, 5, 10, 24, 50, 100, 200, 400, 700, 1000, 2000)
_BIG_BLINDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LAGS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


class Metrics:
    """All metrics of one daemon."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._opponents: set[str] = set()
        # Decisions
        self.decisions = self._counter("decisions", "Decisions answered, by rung of the ladder.", "rung")
        self.fallbacks = self._counter(
            "fallbacks", "Fallbacks: the rung that answered, and the reason.", "rung", "reason"
        )
        self.solve_seconds = self._histogram(
            "solve_seconds", "Time a worker took for a decision.", _SECONDS, "street", "method"
        )
        self.iterations = self._histogram(
            "solve_iterations", "Iterations of a solve.", _ITERATIONS, "street", "method"
        )
        self.exploitability = self._histogram(
            "solve_exploitability_big_blinds",
            "Exploitability of a solve within its own game; one solve in 16 is sampled.",
            _BIG_BLINDS,
            "street",
        )
        self.decision_seconds = self._histogram(
            "decision_seconds", "Time from a request to its answer, including waiting.", _SECONDS, "street"
        )
        self.queue_wait = self._histogram(
            "queue_wait_seconds", "Time a decision waited for a worker.", _SECONDS
        )
        self.deadline_margin = self._histogram(
            "deadline_margin_seconds", "Time left when a decision was answered; negative: late.", _MARGINS
        )
        self.queue_length = self._gauge("queue_length", "Decisions waiting for a worker.")
        self.redispatches = self._counter("redispatches", "Decisions reassigned after a worker died.")
        # Workers
        self.workers = self._gauge("workers", "Worker processes, by state.", "state")
        self.worker_restarts = self._counter("worker_restarts", "Workers replaced, by reason.", "reason")
        self.page_faults = self._counter(
            "worker_page_faults",
            "Page faults of workers; major ones read a mapped table from disk.",
            "kind",
        )
        # Play
        self.hands = self._counter("hands", "Hands finished, by channel.", "channel")
        self.winnings = self._gauge("winnings_chips", "Net chips won since the start.", "opponent")
        self.matches = self._gauge("matches", "Dealer connections, by state.", "state")
        self.match_ends = self._counter("match_ends", "Ended dealer matches, by final state.", "state")
        self.malformed_lines = self._counter("malformed_lines", "Malformed lines from dealers.")
        # The daemon
        self.loop_lag = self._histogram("event_loop_lag_seconds", "Delay of the event loop's timers.", _LAGS)
        self.build = Info("fathom_build", "Version and blueprint of this daemon.", registry=self.registry)
        ProcessCollector(registry=self.registry)

    def opponent(self, name: str) -> str:
        """The label of an opponent: the name, or OTHERS once there are too many."""
        if name not in self._opponents and len(self._opponents) >= MOST_OPPONENTS:
            return OTHERS
        self._opponents.add(name)
        return name

    def text(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"fathom_{name}", words, labels, registry=self.registry)

    def _gauge(self, name: str, words: str, *labels: str) -> Gauge:
        return Gauge(f"fathom_{name}", words, labels, registry=self.registry)

    def _histogram(self, name: str, words: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"fathom_{name}", words, labels, buckets=buckets, registry=self.registry)


def street_name(round_index: int) -> str:
    """The label of a betting round."""
    return STREETS[round_index] if round_index < len(STREETS) else str(round_index)
