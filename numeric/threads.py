"""Thread primitives for kernels: a shared counter, a barrier and a stop word.

Threads are started by the caller and stay in the kernel for many iterations, so a barrier must cost well
under a microsecond. Waiting threads spin and only sleep after a while: on a busy machine sleeping lets others
run and keeps the scheduler's priority for when there is work (yielding without sleeping does not). Counters
are elements of an int64 array, eight apart so that each has its own cache line.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from numeric.arrays import I64
from numeric.jit import kernel

ARRIVED, GENERATION, NEXT_TASK, STOPPED = 0, 8, 16, 24
"""Counters; STOPPED has two."""
NUM_COUNTERS = 40

STOP, DEADLINE = 0, 1
"""Elements of a stop word: nonzero once a stop is requested; the deadline in nanoseconds of `now`."""
NO_DEADLINE = (1 << 63) - 1

_SPINS_BEFORE_SLEEP = 600_000
"""Some tenths of a millisecond: longer than threads that share boards usually wait for the last one."""
_SLEEP_MICROSECONDS = 20


def _element(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


@intrinsic
def _atomic_add(_typing: Any, array: Any, _index: Any, _amount: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", pointer, args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), codegen


@intrinsic
def _atomic_load(_typing: Any, array: Any, _index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(pointer, "seq_cst", 8)

    return types.int64(array, types.intp), codegen


@intrinsic
def _sleep_briefly(_typing: Any) -> Any:
    def codegen(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        number = ir.IntType(32)
        function_type = ir.FunctionType(number, [number])
        builder.call(
            _declare(builder.module, function_type, "usleep"), [ir.Constant(number, _SLEEP_MICROSECONDS)]
        )
        return context.get_dummy_value()

    return types.none(), codegen


@intrinsic
def _now(_typing: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        word = ir.IntType(64)
        timespec = ir.LiteralStructType([word, word])
        function_type = ir.FunctionType(ir.IntType(32), [ir.IntType(32), timespec.as_pointer()])
        with builder.goto_entry_block():  # not in a loop, where it would eat up the stack
            place = builder.alloca(timespec)
        clock = ir.Constant(ir.IntType(32), time.CLOCK_MONOTONIC)
        builder.call(_declare(builder.module, function_type, "clock_gettime"), [clock, place])
        seconds = builder.extract_value(builder.load(place), 0)
        nanoseconds = builder.extract_value(builder.load(place), 1)
        return builder.add(builder.mul(seconds, ir.Constant(word, 1_000_000_000)), nanoseconds)

    return types.int64(), codegen


def _declare(module: Any, function_type: Any, name: str) -> Any:
    return module.globals.get(name) or ir.Function(module, function_type, name)


if TYPE_CHECKING or numba.config.DISABLE_JIT:

    def atomic_add(array: I64, index: int, amount: int) -> int:
        """Add to a counter and return its previous value."""
        before = int(array[index])
        array[index] += amount
        return before

    def atomic_load(array: I64, index: int) -> int:
        """The current value of a counter."""
        return int(array[index])

    def sleep_briefly() -> None:
        """Sleep for some microseconds."""
        time.sleep(_SLEEP_MICROSECONDS * 1e-6)

    def now() -> int:
        """Nanoseconds of the monotonic clock `time.CLOCK_MONOTONIC`."""
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)

else:
    atomic_add, atomic_load, sleep_briefly = _atomic_add, _atomic_load, _sleep_briefly
    now = _now


@kernel
def is_stopped(stop: I64) -> bool:
    """Whether to stop: a stop was requested, or the deadline is over.

    stop  int64[2]  modified in place: once the deadline is over, a stop is set
    """
    if atomic_load(stop, STOP) != 0:
        return True
    if now() < atomic_load(stop, DEADLINE):
        return False
    stop[STOP] = 1
    return True


@kernel
def meet(counters: I64, num_threads: int) -> None:
    """Barrier: wait until all threads have arrived. Memory written before it is visible after it."""
    if num_threads == 1:
        return
    generation = atomic_load(counters, GENERATION)
    if atomic_add(counters, ARRIVED, 1) == num_threads - 1:
        atomic_add(counters, ARRIVED, -num_threads)
        atomic_add(counters, GENERATION, 1)
        return
    spins = 0
    while atomic_load(counters, GENERATION) == generation:
        spins += 1
        if spins > _SPINS_BEFORE_SLEEP:
            sleep_briefly()
