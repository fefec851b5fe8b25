"""A disk cache for compiled kernels that also works in a read-only folder.

Numba's own cache refuses to read from a folder it cannot write to: in a container with a read-only root every
start would compile for a minute, or fail. This cache reads what exists, writes if it can, and otherwise
compiles again: a full or read-only disk costs time but never a decision.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba.core.caching

_numba: Any = numba.core.caching


def keep_kernel(dispatcher: Any, folder: Path, stamp: str) -> None:
    """Cache a function's compiled code in `folder`; it is valid while `stamp` is the same."""

    class Here(_Folder):
        path = folder
        source = stamp

    class Machinery(_numba.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Here,)

    class Cache(_PatientCache):
        _impl_class = Machinery

    dispatcher._cache = Cache(dispatcher.py_func)


class _PatientCache(_numba.FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, except that failures to read or write are ignored."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file can raise any exception while it is unpickled
            with suppress(OSError):
                Path(self._cache_file._index_path).unlink()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(sig, data)


class _Folder:
    """A numba cache locator: where the files are and when they are out of date."""

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
