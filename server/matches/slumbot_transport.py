"""The HTTP transport of a Slumbot API client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import TracebackType

from aiohttp import ClientError, ClientSession, ClientTimeout

from server.matches.slumbot_match import TransportError

DEFAULT_URL = "https://slumbot.com/slumbot/api/"

_ANSWER_SECONDS = 330.0
"""Response timeout: the server itself allows five minutes per action."""
_CONNECT_SECONDS = 15.0
_MOST_BYTES = 1 << 20


class SlumbotHttp:
    """Posts to a base URL; an async context manager."""

    def __init__(self, url: str, answer_seconds: float = _ANSWER_SECONDS) -> None:
        self.url = url if url.endswith("/") else url + "/"
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is not an HTTP URL: write e.g. {DEFAULT_URL}")
        self._timeout = ClientTimeout(total=answer_seconds, connect=_CONNECT_SECONDS)
        self._session: ClientSession | None = None

    async def __aenter__(self) -> SlumbotHttp:
        self._session = ClientSession(timeout=self._timeout)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._session is not None, "entered before"
        await self._session.close()

    async def __call__(self, endpoint: str, body: Mapping[str, object]) -> tuple[int, object]:
        """Status and body (None for an error response that is not JSON). Raises `TransportError`."""
        assert self._session is not None, "entered before"
        try:
            async with self._session.post(self.url + endpoint, json=body) as response:
                data = await response.content.read(_MOST_BYTES)
                while more := await response.content.read(_MOST_BYTES):
                    data += more
                    if len(data) > _MOST_BYTES:
                        raise TransportError(f"the response is longer than {_MOST_BYTES} bytes")
                status = response.status
        except (ClientError, TimeoutError, OSError) as error:
            raise TransportError(f"{type(error).__name__}: {error}"[:200]) from error
        try:
            return status, json.loads(data)
        except (ValueError, RecursionError):
            if status < 400:
                raise TransportError("the response is not JSON") from None
            return status, None
