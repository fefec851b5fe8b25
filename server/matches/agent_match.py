"""One match of the agent on a dealer, with its own worker pool and without the daemon."""

from __future__ import annotations

import asyncio
import signal
import socket
from dataclasses import dataclass

import uvloop

from server.config.config import MatchConfig, WorkersConfig
from server.decisions import Rung
from server.matches.acpc_match import AcpcMatch, MatchStatus, OurSide
from server.pool.agent_pool import make_pool
from server.telemetry.metrics import Metrics
from solver.blueprint.file import Blueprint


@dataclass(frozen=True, slots=True)
class AgentMatchResult:
    """The result of a match, and which rungs its decisions came from."""

    status: MatchStatus
    decisions: dict[str, int]
    """Number of decisions by rung of the ladder of fallbacks."""
    signal: int
    """The signal that ended the match early; 0 if none did."""


def play_agent_match(
    connection: socket.socket, spec: MatchConfig, blueprint: Blueprint, workers: WorkersConfig
) -> AgentMatchResult:
    """Play until the dealer ends the match; blocks. We send our version line once a worker is warm.

    SIGTERM and SIGINT end the match after the decision in progress has been answered.
    """
    signals: list[int] = []

    async def play() -> AgentMatchResult:
        pool = make_pool(workers, blueprint)
        await pool.start()
        try:
            us = OurSide(
                pool,
                pool.metrics,
                spec.budget,
                definition=blueprint.definition,
                ready=pool.wait_until_ready,
            )
            match = AcpcMatch("match", spec, us, connection)
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, _on_signal, number, signals, match)
            status = await match.play()
            return AgentMatchResult(status, _rungs(pool.metrics), signals[0] if signals else 0)
        finally:
            await pool.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(play())


def _on_signal(number: int, signals: list[int], match: AcpcMatch) -> None:
    signals.append(number)
    match.leave()


def _rungs(metrics: Metrics) -> dict[str, int]:
    return {
        rung.value: int(
            metrics.registry.get_sample_value("fathom_decisions_total", {"rung": rung.value}) or 0
        )
        for rung in Rung
    }
