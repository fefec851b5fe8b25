"""What travels between the daemon and its workers: msgpack, each message after its length in four bytes.

1. Fields go by name. A field added to a request or an answer travels without a change here if it is a
   number, a text, bytes, a list of such, or an array of float32.
2. Both sides are the same program of the same version: a message that cannot be read is a bug, not bad input.
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
"""The msgpack extension of arrays."""


@dataclass(frozen=True, slots=True)
class Task:
    """A decision for a worker."""

    number: int
    """Grows from task to task: a stop word that has reached it means this one."""
    request: DecisionRequest | None
    """None only asks whether it is there."""
    deadline: float
    """`time.monotonic()`, which all processes of a machine share: when to have the answer."""
    threads: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a worker has taken of the machine so far."""

    own_bytes: int = 0
    """Memory that is not shared with other processes, as mapped tables are."""
    major_faults: int = 0
    """Pages that were read from disk."""
    minor_faults: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """How far from unbeatable a solve was, in its own game."""

    street: int
    big_blinds: float


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message of a worker: it is warm, or why it cannot be."""

    error: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """A worker's answer to a task, or why there is none."""

    number: int
    answer: DecisionAnswer | None
    error: str
    usage: Usage
    estimate: Estimate | None = None
    """Of an earlier answer: made when nobody waited for it."""


def pack_task(task: Task) -> bytes:
    """For the worker."""
    request = None if task.request is None else _fields(task.request)
    return _framed({**_fields(task), "request": request})


def unpack_task(data: bytes) -> Task:
    """What `pack_task` packed."""
    read = _unpacked(data)
    request = read.pop("request")
    if request is not None:
        request = DecisionRequest(**{**request, "board": tuple(request["board"])})
    return Task(**read, request=request)


def pack_hello(hello: Hello) -> bytes:
    """For the daemon."""
    return _framed({**_fields(hello), "usage": _fields(hello.usage)})


def unpack_hello(data: bytes) -> Hello:
    """What `pack_hello` packed."""
    read = _unpacked(data)
    return Hello(read["error"], Usage(**read["usage"]))


def pack_reply(reply: Reply) -> bytes:
    """For the daemon."""
    answer = None if reply.answer is None else _fields(reply.answer)
    estimate = None if reply.estimate is None else _fields(reply.estimate)
    usage = _fields(reply.usage)
    return _framed({**_fields(reply), "answer": answer, "usage": usage, "estimate": estimate})


def unpack_reply(data: bytes) -> Reply:
    """What `pack_reply` packed."""
    read = _unpacked(data)
    answer = read["answer"]
    if answer is not None:
        answer = DecisionAnswer(
            **{**answer, "actions": tuple(answer["actions"]), "rung": Rung(answer["rung"])}
        )
    estimate = None if read["estimate"] is None else Estimate(**read["estimate"])
    return Reply(read["number"], answer, read["error"], Usage(**read["usage"]), estimate)


def read_messages(connection: socket.socket, take: Callable[[bytes], None]) -> None:
    """Hand on every message until the other side closes the connection; blocks."""
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
    raise TypeError(f"{type(value).__name__} does not travel between processes")


def _unpack_special(code: int, data: bytes) -> Any:
    assert code == _ARRAY, "there is one extension"
    shape, values = msgpack.unpackb(data)
    return np.frombuffer(values, dtype=np.float32).reshape(shape)
