"""Prefetches cache lines: tables of hundreds of megabytes are read in random order."""

# numba.core is not fully annotated.
# mypy: disable-error-code="no-untyped-call,untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from numeric.arrays import F32

_INT = ir.IntType(32)
_FOR_WRITING, _KEEP_IN_ALL_CACHES, _DATA = 1, 3, 1


@intrinsic
def _prefetch(_typing: Any, array: Any, _index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        function_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, _INT, _INT, _INT])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        hints = [ir.Constant(_INT, hint) for hint in (_FOR_WRITING, _KEEP_IN_ALL_CACHES, _DATA)]
        builder.call(function, [address, *hints])
        return context.get_dummy_value()

    return types.none(array, types.intp), codegen


if TYPE_CHECKING or numba.config.DISABLE_JIT:

    def prefetch(array: F32, index: int) -> None:
        """Start loading the cache line of an element; never waits, never fails."""

else:
    prefetch = _prefetch
