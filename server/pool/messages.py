"""Messages between the daemon and its workers: msgpack, each message preceded by its length in four bytes.

1. Fields are sent by name. A field added to a request or an answer needs no change here if it is a number, a
   string, bytes, a list of these, or a float32 array.
2. Both sides run the same version of the program: an unreadable message is a bug, not bad input.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

import msgpack
import numpy as np

from server.decisions import DecisionAnswer, DecisionRequest, Rung

LENGTH = struct.Struct("<I")
_ARRAY = 1
"""The msgpack extension type of arrays."""


@dataclass(frozen=True, slots=True)
class Task:
    """A decision for a worker."""

    number: int
    """Increases from task to task: a stop word of at least this number stops the task."""
    request: DecisionRequest | None
    """None is a ping."""
    deadline: float
    """When the answer is due, in `time.monotonic()`, which all processes of a machine share."""
    threads: int


@dataclass(frozen=True, slots=True)
class Usage:
    """A worker's resource usage so far."""

    own_bytes: int = 0
    """Private memory, without memory shared with other processes such as mapped tables."""
    major_faults: int = 0
    """Page faults that read from disk."""
    minor_faults: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """The exploitability of a solve within its own game."""

    street: int
    big_blinds: float


@dataclass(frozen=True, slots=True)
class Hello:
    """A worker's first message: it is warm (no error), or why it could not start."""

    error: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """A worker's answer to a task, or the error."""

    number: int
    answer: DecisionAnswer | None
    error: str
    usage: Usage
    estimate: Estimate | None = None
    """Of an earlier answer, computed after that answer was sent."""


def pack_task(task: Task) -> bytes:
    """Encode a task."""
    request = None if task.request is None else _fields(task.request)
    return _framed({**_fields(task), "request": request})


def unpack_task(data: bytes) -> Task:
    """Decode a message of `pack_task`."""
    read = _unpacked(data)
    request = read.pop("request")
    if request is not None:
        request = DecisionRequest(**{**request, "board": tuple(request["board"])})
    return Task(**read, request=request)


def pack_hello(hello: Hello) -> bytes:
    """Encode a hello."""
    return _framed({**_fields(hello), "usage": _fields(hello.usage)})


def unpack_hello(data: bytes) -> Hello:
    """Decode a message of `pack_hello`."""
    read = _unpacked(data)
    return Hello(read["error"], Usage(**read["usage"]))


def pack_reply(reply: Reply) -> bytes:
    """Encode a reply."""
    answer = None if reply.answer is None else _fields(reply.answer)
    estimate = None if reply.estimate is None else _fields(reply.estimate)
    usage = _fields(reply.usage)
    return _framed({**_fields(reply), "answer": answer, "usage": usage, "estimate": estimate})


def unpack_reply(data: bytes) -> Reply:
    """Decode a message of `pack_reply`."""
    read = _unpacked(data)
    answer = read["answer"]
    if answer is not None:
        answer = DecisionAnswer(
            **{**answer, "actions": tuple(answer["actions"]), "rung": Rung(answer["rung"])}
        )
    estimate = None if read["estimate"] is None else Estimate(**read["estimate"])
    return Reply(read["number"], answer, read["error"], Usage(**read["usage"]), estimate)


def read_messages(connection: socket.socket, take: Callable[[bytes], None]) -> None:
    """Pass every message to `take` until the other side closes the connection; blocks."""
    with connection.makefile("rb") as reader:
        while len(head := reader.read(LENGTH.size)) == LENGTH.size:
            (length,) = LENGTH.unpack(head)
            if len(data := reader.read(length)) < length:
                return
            take(data)


def _fields(record: Any) -> dict[str, Any]:
    return {item.name: getattr(record, item.name) for item in fields(record)}


def _framed(record: dict[str, Any]) -> bytes:
    data = bytes(msgpack.packb(record, default=_pack_special))
    return LENGTH.pack(len(data)) + data


def _unpacked(data: bytes) -> dict[str, Any]:
    read: dict[str, Any] = msgpack.unpackb(data, ext_hook=_unpack_special)
    return read


def _pack_special(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, dtype=np.float32)
        return msgpack.ExtType(_ARRAY, msgpack.packb((array.shape, array.tobytes())))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"cannot send a {type(value).__name__} between processes")


def _unpack_special(code: int, data: bytes) -> Any:
    assert code == _ARRAY, "there is one extension"
    shape, values = msgpack.unpackb(data)
    return np.frombuffer(values, dtype=np.float32).reshape(shape)
