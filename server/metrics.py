"""What the daemon counts and measures, for Prometheus: one registry per daemon, nothing global.

Names follow Prometheus' conventions: `fathom_`, base units, `_total` for counters. Labels have few values:
the streets, the rungs, the reasons named here, and the first opponents that come along.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST

STREETS = ("preflop", "flop", "turn", "river")
MOST_OPPONENTS = 100
"""With a label of their own; who comes later is counted as OTHERS."""
OTHERS = "others"

_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_MARGINS = (-5.0, -1.0, -0.5, -0.25, -0.1, -0.05, 0.0, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
_ITERATIONS = (1, 5, 10, 24, 50, 100, 200, 400, 700, 1000, 2000)
_BIG_BLINDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LAGS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


class Metrics:
    """Every metric of one daemon, by what it is about."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._opponents: set[str] = set()
        # Decisions
        self.decisions = self._counter("decisions", "Decisions answered, by rung of the ladder.", "rung")
        self.fallbacks = self._counter(
            "fallbacks", "Steps down the ladder: the rung that answered, and why.", "rung", "reason"
        )
        self.solve_seconds = self._histogram(
            "solve_seconds", "Time a worker took for a decision.", _SECONDS, "street", "method"
        )
        self.iterations = self._histogram(
            "solve_iterations", "Iterations of a solve.", _ITERATIONS, "street", "method"
        )
        self.exploitability = self._histogram(
            "solve_exploitability_big_blinds",
            "How far from unbeatable a solve was in its own game, of every 16th.",
            _BIG_BLINDS,
            "street",
        )
        self.decision_seconds = self._histogram(
            "decision_seconds", "From a request to its answer, waiting included.", _SECONDS, "street"
        )
        self.queue_wait = self._histogram(
            "queue_wait_seconds", "Time a decision waited for a worker.", _SECONDS
        )
        self.deadline_margin = self._histogram(
            "deadline_margin_seconds", "Time left when a decision was answered; negative: late.", _MARGINS
        )
        self.queue_length = self._gauge("queue_length", "Decisions waiting for a worker.")
        self.redispatches = self._counter("redispatches", "Decisions given to another worker.")
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
        self.match_ends = self._counter("match_ends", "Dealer matches that ended, by how.", "state")
        self.malformed_lines = self._counter("malformed_lines", "Lines of dealers that made no sense.")
        # The daemon
        self.loop_lag = self._histogram(
            "event_loop_lag_seconds", "How late the event loop gets to what is due.", _LAGS
        )
        self.build = Info("fathom_build", "This daemon.", registry=self.registry)
        ProcessCollector(registry=self.registry)

    def opponent(self, name: str) -> str:
        """The label of an opponent: his name, or OTHERS once there are many."""
        if name not in self._opponents and len(self._opponents) >= MOST_OPPONENTS:
            return OTHERS
        self._opponents.add(name)
        return name

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
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
