"""The daemon's configuration: frozen dataclasses, read once at the start by `server.config.reader`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from server.config.keys import default_keys_path
from server.config.reader import ConfigError, read_config, required, setting
from server.store.hand_tables import default_store_path

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Where the daemon listens."""

    host: str = setting(LOOPBACK, "address to listen on")
    port: int = setting(8080, "port to listen on; 0: any free one", least=0, most=65535)
    drain_seconds: float = setting(
        6.0, "how long decisions in flight may take after SIGTERM", least=0, most=600
    )


@dataclass(frozen=True, slots=True)
class WorkersConfig:
    """The worker processes."""

    count: int = setting(4, "worker processes", least=1, most=256)
    threads: int = setting(
        0, "maximum threads of one decision; 0: all cores, divided by load", least=0, most=256
    )
    memory_mb: int = setting(4096, "a worker with more private memory is replaced; 0: no limit", least=0)
    queue: int = setting(256, "decisions that may wait; beyond that the blueprint answers", least=0)
    late_seconds: float = setting(0.5, "how long to wait for an answer after its deadline", least=0, most=60)
    hang_seconds: float = setting(
        3.0, "a worker that does not answer this long after a deadline is killed", least=0.1, most=600
    )
    start_seconds: float = setting(
        600.0, "how long a worker may take to become ready, including compiling kernels", least=1
    )
    nice: int = setting(5, "niceness of workers, so that the event loop runs first", least=0, most=19)


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """How the agent plays."""

    blueprint: str = setting("", "file, packed or not; empty: FATHOM_BLUEPRINT or the shipped one")
    budget: float = setting(7.0, "seconds per hand, on average over a match", least=0.01, most=3600)


@dataclass(frozen=True, slots=True)
class MatchConfig:
    """A dealer to connect to: [[match]] in the file."""

    host: str = required("the dealer's host name or address")
    port: int = required("the port the dealer printed for this seat", least=1, most=65535)
    name: str = setting("", "the opponent's name in metrics and lists; empty: HOST:PORT")
    game: str = setting("hunl", "a preset or an ACPC .game file; must be the blueprint's game")
    hands: int = setting(0, "leave after this many hands; 0: when the dealer ends the match", least=0)
    budget: float = setting(0.0, "seconds per hand; 0: agent.budget", least=0, most=3600)
    wait_seconds: float = setting(10.0, "how long to keep trying to connect", least=0, most=86400)


@dataclass(frozen=True, slots=True)
class LogConfig:
    """What the daemon logs on stderr."""

    format: Literal["human", "json"] = setting("human", "plain lines, or one JSON object per line")
    level: Literal["debug", "info", "warning", "error"] = setting("info", "lowest level to log")


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """Where hands are stored."""

    path: str = setting("", "SQLite file; empty: in the user's data folder")


@dataclass(frozen=True, slots=True)
class SecurityConfig:
    """API keys and rate limits. `fathom keys` manages the keys."""

    require_keys: Literal["auto", "always"] = setting("auto", "auto: only if not listening on loopback")
    keys_file: str = setting("", "the key file of `fathom keys`; empty: in the user's configuration folder")
    keys: tuple[str, ...] = setting((), "additional keys, as `fathom keys list --toml` prints them")
    requests_per_second: float = setting(100.0, "rate limit per key; 0: unlimited", least=0)
    burst: float = setting(200.0, "requests per key that may exceed the rate limit at once", least=1)
    requests_at_once: int = setting(400, "concurrent requests per key; 0: unlimited", least=0)


@dataclass(frozen=True, slots=True)
class SolveConfig:
    """Solves requested over HTTP; each runs in its own process."""

    at_once: int = setting(2, "concurrent solves; more are rejected", least=0, most=64)
    seconds: float = setting(120.0, "time limit of one solve", least=0.1, most=600)
    memory_mb: int = setting(2048, "memory limit of one solve", least=16)
    threads: int = setting(1, "threads of one solve", least=1, most=256)


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration."""

    server: ServerConfig = field(default_factory=ServerConfig)
    workers: WorkersConfig = field(default_factory=WorkersConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    log: LogConfig = field(default_factory=LogConfig)
    store: StoreConfig = field(default_factory=StoreConfig)
    security: SecurityConfig = field(default_factory=SecurityConfig)
    solve: SolveConfig = field(default_factory=SolveConfig)
    match: tuple[MatchConfig, ...] = ()


def load_config(
    path: Path | None = None,
    flags: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    flag_names: Mapping[str, str] | None = None,
) -> Config:
    """The configuration from file, environment and flags; raises `ConfigError`.

    environment  None: the process's environment
    flag_names   the option of each key that has its own, for error messages: `--port` for `server.port`
    """
    variables = os.environ if environment is None else environment
    config = read_config(Config, path, variables, flags, flag_names)
    if config.workers.hang_seconds < config.workers.late_seconds:
        raise ConfigError(
            f"workers.hang_seconds = {config.workers.hang_seconds:g} is less than workers.late_seconds ="
            f" {config.workers.late_seconds:g}: set it to at least that, so that a worker is not killed while"
            " its answer is still awaited"
        )
    return config


def store_path(config: Config) -> Path:
    """The path of the hand store."""
    return Path(config.store.path).expanduser() if config.store.path else default_store_path()


def keys_path(config: Config) -> Path:
    """The path of the key file."""
    return Path(config.security.keys_file).expanduser() if config.security.keys_file else default_keys_path()
