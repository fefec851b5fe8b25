"""A small client of the daemon's HTTP API, for scripts and tests. Standard library only; calls block.

    with FathomClient("http://127.0.0.1:8080") as fathom:
        hand = fathom.new_hand(opponent="me")
        hand = fathom.act(hand, "c")

Not thread-safe: create one client per thread.
"""

from __future__ import annotations

import http.client
import json
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

_TIMEOUT_SECONDS = 660.0
"""Longer than the largest time budget of a hand."""
_T = TypeVar("_T")


class FathomError(Exception):
    """The daemon returned an error; the message is the daemon's."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer of /v1/decide."""

    action: str
    hand: str
    strategy: dict[str, float]
    range_strategy: dict[str, float]
    street: str
    method: str
    rung: str
    iterations: int
    seconds: float
    explanation: str
    details: dict[str, Any] | None = None
    range: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand against the bot, as its opponent sees it."""

    id: str
    number: int
    position: int
    seat: str
    hole: list[str]
    board: list[str]
    betting: str
    pot: int
    your_turn: bool
    legal: dict[str, Any] | None
    finished: bool
    chips: int | None
    bot_hole: list[str] | None
    matchstate: str
    started_at: str
    finished_at: str | None
    session: str | None = None
    """Token for the next hand; only in the result of `new_hand`, and carried over by `act`."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """Progress of the bot's decision; all other fields are None if `thinking` is false."""

    thinking: bool
    street: str | None
    iterations: int | None
    """Also None while the decision waits for a worker or is being prepared."""
    most_iterations: int | None
    seconds: float | None
    seconds_allowed: float | None


@dataclass(frozen=True, slots=True)
class Solve:
    """A solve, with its result once it has ended."""

    id: str
    state: str
    started_at: str
    progress: dict[str, Any] | None
    detail: str
    result: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SolveEvent:
    """An event of a solve: `started`, `progress`, `result` or `failed`."""

    name: str
    content: dict[str, Any]


class FathomClient:
    """Talks to one daemon."""

    def __init__(self, url: str = "http://127.0.0.1:8080", key: str | None = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"{url!r} is not a daemon's URL: write e.g. http://127.0.0.1:8080")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=_TIMEOUT_SECONDS)
        self._prefix = parts.path.rstrip("/")
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}

    def __enter__(self) -> FathomClient:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Idempotent."""
        self._connection.close()

    def decide(
        self,
        matchstate: str,
        budget: float | None = None,
        seed: int | None = None,
        whole_range: bool = False,
        explain: bool = False,
    ) -> Decision:
        """The bot's decision in a situation, given as an ACPC MATCHSTATE line."""
        body = {"matchstate": matchstate, "budget": budget, "seed": seed, "range": whole_range}
        body["explain"] = explain
        return _read(Decision, self._ask("POST", "/v1/decide", body))

    def new_hand(
        self,
        session: str | None = None,
        opponent: str | None = None,
        budget: float | None = None,
        on_thinking: Callable[[Thinking], None] | None = None,
    ) -> Hand:
        """Deal a hand, or return the session's hand in progress.

        on_thinking  called while the bot thinks, if it acts first; must not use this client
        """
        body = {"session": session, "opponent": opponent, "budget": budget}
        return _read(Hand, self._play("/v1/hands", body, on_thinking))

    def act(self, hand: Hand, action: str, on_thinking: Callable[[Thinking], None] | None = None) -> Hand:
        """Play `f`, `c` or `r300`; raises `FathomError` if the betting has changed since `hand`.

        on_thinking  called while the bot thinks; must not use this client
        """
        body = {"action": action, "betting": hand.betting}
        answer = self._play(f"/v1/hands/{hand.id}/actions", body, on_thinking)
        return _read(Hand, {**answer, "session": hand.session})

    def thinking(self, hand_id: str) -> Thinking:
        """Progress of the bot in a hand that another client waits for (this client would block)."""
        return _read(Thinking, self._ask("GET", f"/v1/hands/{_quoted(hand_id)}/thinking"))

    def hand(self, hand_id: str) -> Hand:
        """Fetch one hand."""
        return _read(Hand, self._ask("GET", f"/v1/hands/{_quoted(hand_id)}"))

    def hands(self, limit: int = 100, finished: bool | None = None) -> Iterator[Hand]:
        """All hands, newest first; fetched page by page."""
        query: dict[str, object] = {"limit": limit}
        if finished is not None:
            query["finished"] = str(finished).lower()
        while True:
            page = self._ask("GET", f"/v1/hands?{urllib.parse.urlencode(query)}")
            for hand in page["hands"]:
                yield _read(Hand, hand)
            if "next" not in page:
                return
            query["before"] = page["next"]

    def export(self, hand_id: str, form: str = "phh") -> str:
        """Export one hand as `phh` or `acpc` text."""
        return self._send("GET", f"/v1/hands/{_quoted(hand_id)}?format={_quoted(form)}").read().decode()

    def start_solve(self, board: str, pot: int, stack: int, **options: Any) -> Solve:
        """Start a solve; options are the fields of /v1/solve: oop, ip, menu, seconds and so on."""
        body = {"board": board, "pot": pot, "stack": stack, **options}
        return _read(Solve, self._ask("POST", "/v1/solve", body))

    def solve(self, solve_id: str) -> Solve:
        """The current state of a solve."""
        return _read(Solve, self._ask("GET", f"/v1/solve/{_quoted(solve_id)}"))

    def follow_solve(self, solve_id: str) -> Iterator[SolveEvent]:
        """The events of a solve until it ends. Read them all before using this client again."""
        for name, content in _events(self._send("GET", f"/v1/solve/{_quoted(solve_id)}/events")):
            if name != "solve":
                yield SolveEvent(name, content)

    def cancel_solve(self, solve_id: str) -> Solve:
        """Stop a solve."""
        return _read(Solve, self._ask("DELETE", f"/v1/solve/{_quoted(solve_id)}"))

    def status(self) -> dict[str, Any]:
        """The daemon's status."""
        return self._ask("GET", "/v1/status")

    def is_ready(self) -> bool:
        """Whether the daemon can decide."""
        try:
            self._ask("GET", "/readyz")
        except (FathomError, OSError):
            return False
        return True

    def _play(
        self, path: str, body: Mapping[str, object], on_thinking: Callable[[Thinking], None] | None
    ) -> dict[str, Any]:
        if on_thinking is None:
            return self._ask("POST", path, body)
        name, content = "", dict[str, Any]()
        try:
            for name, content in _events(self._send("POST", path, body, "text/event-stream")):
                if name == "thinking":
                    on_thinking(_read(Thinking, content))
        except BaseException:
            self._connection.close()  # partly read: the next request needs a new connection
            raise
        if name != "hand":  # read to the end: the connection can be reused
            status, code = content.get("status", 0), content.get("code", "")
            raise FathomError(status, code, content.get("detail", "the daemon stopped before the bot acted"))
        return content

    def _ask(self, method: str, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._send(method, path, body).read())
        return answer

    def _send(
        self, method: str, path: str, body: Mapping[str, object] | None = None, accept: str = ""
    ) -> http.client.HTTPResponse:
        data, headers = None, dict(self._headers)
        if accept:
            headers["Accept"] = accept
        if body is not None:
            data = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
            headers["Content-Type"] = "application/json"
        try:
            self._connection.request(method, self._prefix + path, data, headers)
            response = self._connection.getresponse()
        except (http.client.HTTPException, OSError):
            self._connection.close()  # the next request needs a new connection
            raise
        if response.status >= 400:
            raise _error(response.status, response.read())
        return response


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    """Server-sent events as pairs of name and content, until the stream ends."""
    name = ""
    for line in response:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


def _error(status: int, data: bytes) -> FathomError:
    try:
        problem = json.loads(data)
        return FathomError(status, str(problem.get("code", "")), str(problem["detail"]))
    except (ValueError, KeyError, AttributeError, TypeError):
        return FathomError(status, "", f"HTTP status {status}")


def _read(kind: type[_T], body: Mapping[str, Any]) -> _T:
    """Build a value from the known fields; unknown fields of a newer daemon are ignored."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in body.items() if name in known})


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")
