"""SIMD values of eight float32 lanes for use inside kernels.

LLVM does not vectorise short fixed-length loops over arrays that may overlap. So the hot kernels vectorise
explicitly with `load8`, `store8`, `splat` and the usual operators on the result, which become single AVX (or
paired NEON) instructions. Indices are in elements of a flat float32 array and are not bounds-checked. With
`NUMBA_DISABLE_JIT=1` the same code runs on numpy arrays of length 8.
"""

# numba.core is not fully annotated.
# mypy: disable-error-code="no-untyped-call,untyped-decorator"

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, register_model

from numeric.arrays import F32
from numeric.jit import FASTMATH

LANES = 8

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_INT = ir.IntType(32)
_MASK = ir.VectorType(_INT, LANES)


class _Float32x8(types.Type):
    def __init__(self) -> None:
        super().__init__(name="float32x8")


float32x8 = _Float32x8()


@register_model(_Float32x8)
class _Float32x8Model(PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


@intrinsic
def _load8(_typing: Any, array: Any, _index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *args), align=4)

    return float32x8(array, types.intp), codegen


@intrinsic
def _store8(_typing: Any, array: Any, _index: Any, _value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _pointer(context, builder, signature.args[0], args[0], args[1]), align=4)
        return context.get_dummy_value()

    return types.none(array, types.intp, float32x8), codegen


@intrinsic
def _splat(_typing: Any, _value: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        single = builder.insert_element(undefined, args[0], ir.Constant(_INT, 0))
        return builder.shuffle_vector(single, undefined, ir.Constant(_MASK, [0] * LANES))

    return float32x8(types.float32), codegen


@intrinsic
def _maximum8(_typing: Any, _a: Any, _b: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return float32x8(float32x8, float32x8), codegen


@intrinsic
def _where_positive8(_typing: Any, _test: Any, _yes: Any, _no: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        zero = ir.Constant(_VECTOR, [0.0] * LANES)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return float32x8(float32x8, float32x8, float32x8), codegen


@intrinsic
def _least_of8(_typing: Any, _value: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        value = args[0]
        for step in (4, 2, 1):
            mask = ir.Constant(_MASK, [(lane + step) % LANES for lane in range(LANES)])
            turned = builder.shuffle_vector(value, value, mask)
            value = builder.select(builder.fcmp_ordered("<", value, turned), value, turned)
        return builder.extract_element(value, ir.Constant(_INT, 0))

    return types.float32(float32x8), codegen


@intrinsic
def _transpose8(_typing: Any, _rows: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        def merge(a: Any, b: Any, mask: list[int]) -> Any:
            return builder.shuffle_vector(a, b, ir.Constant(_MASK, mask))

        # Three rounds of pairwise merges: single elements, then pairs, then halves.
        rows = list(cgutils.unpack_tuple(builder, args[0]))
        low, high = [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]
        rows = [merge(rows[i], rows[i + 1], mask) for i in range(0, 8, 2) for mask in (low, high)]
        low, high = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]
        rows = [
            merge(rows[i + j], rows[i + j + 2], mask) for i in (0, 4) for j in (0, 1) for mask in (low, high)
        ]
        low, high = [0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]
        return cgutils.pack_array(
            builder, [merge(rows[i], rows[i + 4], m) for m in (low, high) for i in range(4)]
        )

    return types.UniTuple(float32x8, LANES)(types.UniTuple(float32x8, LANES)), codegen


@intrinsic
def _at(_typing: Any, array: Any, _index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        value = builder.load(builder.gep(data, [args[1]]))
        if array.dtype.bitwidth == 64:
            return value
        extend = builder.sext if array.dtype.signed else builder.zext
        return extend(value, ir.IntType(64))

    return types.intp(array, types.intp), codegen


@intrinsic
def _bytes8(_typing: Any, words: Any, _base: Any, index: Any, _start: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        places = context.make_array(signature.args[2])(context, builder, args[2]).data
        int_vector = ir.VectorType(_INT, LANES)
        found = ir.Constant(int_vector, ir.Undefined)
        for lane in range(LANES):
            place = builder.load(builder.gep(places, [builder.add(args[3], ir.Constant(args[3].type, lane))]))
            at = builder.add(args[1], builder.zext(place, args[1].type))
            found = builder.insert_element(
                found, builder.load(builder.gep(data, [at])), ir.Constant(_INT, lane)
            )
        low = ir.Constant(int_vector, [0xFF] * LANES)
        parts = []
        for byte in range(4):
            moved = builder.lshr(found, ir.Constant(int_vector, [8 * byte] * LANES)) if byte else found
            # Below 256 signed and unsigned are the same, and signed conversion is one instruction.
            parts.append(builder.sitofp(builder.and_(moved, low), _VECTOR))
        return cgutils.pack_array(builder, parts)

    return types.UniTuple(float32x8, 4)(words, types.intp, index, types.intp), codegen


@intrinsic
def _store_bytes8(_typing: Any, words: Any, _index: Any, _parts: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        int_vector = ir.VectorType(_INT, LANES)
        word = ir.Constant(int_vector, [0] * LANES)
        for byte, part in enumerate(cgutils.unpack_tuple(builder, args[2])):
            whole = builder.fptosi(part, int_vector)
            word = builder.or_(word, builder.shl(whole, ir.Constant(int_vector, [8 * byte] * LANES)))
        builder.store(word, builder.bitcast(builder.gep(data, [args[1]]), int_vector.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.none(words, types.intp, types.UniTuple(float32x8, 4)), codegen


@intrinsic
def _floor8(_typing: Any, _value: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.sitofp(builder.fptosi(args[0], ir.VectorType(_INT, LANES)), _VECTOR)

    return float32x8(float32x8), codegen


def _define_operator(function: Any, name: str) -> None:
    @infer_global(function)
    class _Operator(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return float32x8(*args) if not kws and args == (float32x8, float32x8) else None

    @lower_builtin(function, float32x8, float32x8)
    def lower(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return getattr(builder, name)(*args, flags=tuple(sorted(FASTMATH)))


for _function, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define_operator(_function, _name)


if TYPE_CHECKING or numba.config.DISABLE_JIT:

    def load8(array: F32, index: int) -> F32:
        """Eight consecutive elements from `index`."""
        return array[index : index + LANES].copy()

    def store8(array: F32, index: int, value: F32) -> None:
        """Write eight consecutive elements from `index`."""
        array[index : index + LANES] = value

    def splat(value: float | np.floating[Any]) -> F32:
        """One float32 in all eight lanes."""
        return np.full(LANES, value, dtype=np.float32)

    def maximum8(a: F32, b: F32) -> F32:
        """The larger value in each lane."""
        return np.maximum(a, b)

    def where_positive8(test: F32, yes: F32, no: F32) -> F32:
        """`yes` in lanes where `test` > 0, else `no`."""
        return np.where(test > 0, yes, no)

    def least_of8(value: F32) -> np.float32:
        """The least of the eight lanes."""
        return np.float32(value.min())

    def transpose8(rows: tuple[F32, ...]) -> tuple[F32, ...]:
        """Transpose eight vectors as a matrix: lane i of result j is lane j of row i."""
        return tuple(np.stack(rows).T.copy())

    def bytes8(
        words: npt.NDArray[np.uint32], base: int, index: npt.NDArray[np.uint16], start: int
    ) -> tuple[F32, F32, F32, F32]:
        """The four bytes, lowest first, of words[base + i] for eight indices i from `start`."""
        found = words[base + index[start : start + LANES].astype(np.int64)]
        low, second, third, high = ((found >> (8 * byte) & 0xFF).astype(np.float32) for byte in range(4))
        return low, second, third, high

    def store_bytes8(words: npt.NDArray[np.uint32], index: int, parts: tuple[F32, F32, F32, F32]) -> None:
        """Write eight consecutive words of four bytes each, lowest first, given as whole numbers."""
        found = np.zeros(LANES, dtype=np.uint32)
        for byte, part in enumerate(parts):
            found |= part.astype(np.uint32) << np.uint32(8 * byte)
        words[index : index + LANES] = found

    def floor8(value: F32) -> F32:
        """Round non-negative numbers down to whole numbers."""
        return np.floor(value)

    def at(array: npt.NDArray[np.integer[Any]], index: int) -> int:
        """One element of an integer array, without Python's negative indices."""
        return int(array[index])

else:
    load8, store8, splat, maximum8, where_positive8 = _load8, _store8, _splat, _maximum8, _where_positive8
    least_of8, transpose8, at, bytes8 = _least_of8, _transpose8, _at, _bytes8
    store_bytes8, floor8 = _store_bytes8, _floor8
