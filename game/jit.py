"""One way to compile: the `kernel` decorator, its flags, and where compiled code is kept.

1. Fastmath is a subset: NaN and infinity keep their meaning, so `np.isnan` still works.
2. Division by zero gives inf or nan as in numpy, never a hidden branch that raises.
3. Numba's on-disk cache does not notice edits in *other* files, so the cache folder is keyed by the
   text of every file that speaks of kernels: a changed callee, or a changed table that kernels have
   frozen in, can never be shadowed by an old caller.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

FASTMATH = frozenset({"nsz", "arcp", "contract", "afn", "reassoc"})

_KERNEL_PACKAGES = ("game", "abstraction", "solver", "arena")
_F = TypeVar("_F", bound=Callable[..., Any])


def cache_home() -> Path:
    """Fathom's folder for what can be made again."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "fathom"


def kernel_cache_dir() -> Path:
    """Where compiled kernels of exactly this source live."""
    return cache_home() / "numba" / _source_digest()


def _source_digest() -> str:
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for package in _KERNEL_PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_bytes()
            if b"kernel" in text:
                digest.update(path.relative_to(root).as_posix().encode() + b"\0" + text)
    return digest.hexdigest()[:16]


_config: Any = numba.config
if not _config.CACHE_DIR:  # the user's own NUMBA_CACHE_DIR wins
    _config.CACHE_DIR = str(kernel_cache_dir())


def kernel(function: _F) -> _F:
    """Compile for speed: cached on disk, without the GIL, numpy's error model."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=set(FASTMATH))(function)
    return cast("_F", compiled)


def parallel_kernel(function: _F) -> _F:
    """Like `kernel`, with `numba.prange` spread over numba's threads."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=set(FASTMATH), parallel=True)(
        function
    )
    return cast("_F", compiled)
