"""Schemathesis hooks for msgpack bodies."""

from __future__ import annotations

from typing import Any

import msgpack
import schemathesis


@schemathesis.serializer("application/msgpack")
def pack(_context: Any, value: Any) -> bytes:
    try:
        return bytes(msgpack.packb(value))
    except (OverflowError, ValueError, TypeError):  # numbers that msgpack cannot say
        return b"\xc1"


@schemathesis.deserializer("application/msgpack")
def unpack(_context: Any, response: Any) -> Any:
    return msgpack.unpackb(response.content)
