"""Logging: one line per event on stderr, as text or as JSON. Configured only here.

Structured data of an event goes into `extra={"facts": {...}}`. Our hole cards and seeds are never logged.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any, TextIO

from server.config.config import LogConfig

_DULL = ("aiohttp.access", "asyncio")


class HumanFormatter(logging.Formatter):
    """`14:02:31 info    server.matches.manager: connected  match=m1`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, followed by the traceback if there is one."""
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        facts = "".join(f"  {name}={value}" for name, value in _facts(record).items())
        line = f"{clock} {record.levelname.lower():<8}{record.name}: {record.getMessage()}{facts}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time (seconds since 1970), level, logger, message, and the facts."""

    def format(self, record: logging.LogRecord) -> str:
        """One JSON object on one line."""
        event: dict[str, Any] = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            event["traceback"] = self.formatException(record.exc_info)
        return json.dumps(event, default=str, ensure_ascii=False)


def configure_logging(config: LogConfig, stream: TextIO | None = None) -> None:
    """Send all log records of this process to a stream (default: stderr)."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonFormatter() if config.format == "json" else HumanFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(config.level.upper())
    for name in _DULL:
        logging.getLogger(name).setLevel(logging.WARNING)


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    facts: dict[str, Any] = getattr(record, "facts", {})
    return facts
