"""The decorators that compile kernels with numba, their flags, and the cache of compiled code.

1. Only a subset of fastmath is used: NaN and infinity keep their meaning, so `np.isnan` works.
2. Division by zero gives inf or nan as in numpy, without a branch that raises.
3. Numba's on-disk cache does not notice edits in *other* files. So each module's kernels are kept in a folder
   named by a digest of the module and of all our modules it imports, directly or indirectly. A changed
   callee, or a changed table that is compiled into a kernel, invalidates the cache; edits elsewhere do not.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from numeric.folders import cache_home
from numeric.kernel_cache import keep_kernel

FASTMATH = frozenset({"nsz", "arcp", "contract", "afn", "reassoc"})

_ROOT = Path(__file__).resolve().parent.parent
_config: Any = numba.config
_F = TypeVar("_F", bound=Callable[..., Any])


def kernel(function: _F) -> _F:
    """Compile a function: cached on disk, releases the GIL, numpy's error model."""
    return _compile(function, parallel=False)


def parallel_kernel(function: _F) -> _F:
    """Like `kernel`, with `numba.prange` spread over numba's threads."""
    return _compile(function, parallel=True)


@cache
def source_digest(path: Path) -> str:
    """Sixteen hex digits that change with a module or with any of our modules it depends on."""
    digest = hashlib.sha256(numba.__version__.encode())
    for module in sorted(_dependencies(path)):
        name = module.relative_to(_ROOT).as_posix() if module.is_relative_to(_ROOT) else module.name
        digest.update(name.encode() + b"\0" + module.read_bytes())
    return digest.hexdigest()[:16]


def _compile(function: _F, parallel: bool) -> _F:
    compiled = numba.njit(nogil=True, error_model="numpy", fastmath=set(FASTMATH), parallel=parallel)(
        function
    )
    if not _config.DISABLE_JIT:
        path = Path(function.__code__.co_filename)
        digest = source_digest(path)
        home = Path(_config.CACHE_DIR or cache_home() / "numba")  # the user's own NUMBA_CACHE_DIR wins
        keep_kernel(compiled, home / f"{path.stem}-{digest}", digest)
    return cast("_F", compiled)


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The files of our modules that a module imports."""
    found = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found += [file for alias in node.names for file in _files(alias.name)]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names = (node.module, *[f"{node.module}.{alias.name}" for alias in node.names])
            found += [file for name in names for file in _files(name)]
    return tuple(found)


def _files(name: str) -> Iterator[Path]:
    """The file of a module name, if it is one of our modules."""
    base = _ROOT.joinpath(*name.split("."))
    for file in (base.with_suffix(".py"), base / "__init__.py"):
        if file.is_file():
            yield file


def _dependencies(path: Path) -> set[Path]:
    """A module's file and the files it imports, directly or indirectly."""
    reached, waiting = {path}, [path]
    while waiting:
        for file in _imports(waiting.pop()):
            if file not in reached:
                reached.add(file)
                waiting.append(file)
    return reached
