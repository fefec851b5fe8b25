"""Compiled kernels on disk, in a folder that may be read-only.

Numba's own cache refuses to read from a folder it cannot write to: a container with a read-only root would
compile for a minute at every start, or rather not start at all. This one reads what is there, writes where it
can, and compiles again where it cannot: a full disk or a read-only one costs time, never a decision.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba.core.caching

_numba: Any = numba.core.caching


def keep_kernel(dispatcher: Any, folder: Path, stamp: str) -> None:
    """Keep what numba compiles for a function in `folder`; take it from there while `stamp` is the same."""

    class Here(_Folder):
        path = folder
        source = stamp

    class Machinery(_numba.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Here,)

    class Cache(_PatientCache):
        _impl_class = Machinery

    dispatcher._cache = Cache(dispatcher.py_func)


class _PatientCache(_numba.FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, except that what cannot be read or written is not missed."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file raises whatever unpickling it raises
            with suppress(OSError):
                Path(self._cache_file._index_path).unlink()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(sig, data)


class _Folder:
    """What numba calls a locator: where the files are and when they are out of date."""

    path: Path
    source: str

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file  # numba's warnings name it
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Folder:
        return cls(function, file)

    def ensure_cache_path(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self.path)

    def get_source_stamp(self) -> str:
        return self.source

    def get_disambiguator(self) -> str:
        return str(self._line)
