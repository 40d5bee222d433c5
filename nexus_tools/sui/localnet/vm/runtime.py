"""What running code has: its transaction's context, calls that are nested deeply, and errors."""

import inspect
import threading
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from nexus_tools.sui.localnet.vm.definitions import Function
from nexus_tools.sui.localnet.vm.errors import (
    ErrorKind,
    Location,
    MoveAbort,
    NativeAbort,
    NativeLimit,
    PrimitiveError,
)
from nexus_tools.sui.localnet.vm.metering import BYTE_PRICES, CALL_DEPTH_MAX, Meter
from nexus_tools.sui.localnet.vm.types import Types
from nexus_tools.sui.localnet.vm.values.size import Sizer
from nexus_tools.sui.localnet.vm.values.values import Reference, Value, Variant, copy_value


class Context(Struct, eq=False):
    """One per transaction; native functions get it first.

    `runtime` belongs to the native functions; `frames_left` counts the calls that may still be
    nested in the running ones.
    """

    types: Types
    meter: Meter
    runtime: Any = None
    frames_left: int = CALL_DEPTH_MAX


# Calls of Move functions are calls of Python functions, and Python allows a thread 1000 of them in
# each other. The caller's thread is used for the first few, and further threads for the others.
# A call may take two Python frames, and natives, copies and translation need some hundreds too.
# The 1 025 calls that may be in each other are 100 of the caller's thread, 200 of each of four
# further ones, and 125 of a fifth; each of them waits for the next.
FIRST_FRAMES = 100
_FURTHER_FRAMES = 200


def go_deeper(context: Context, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function for which the running thread has no room left.

    Raises `PrimitiveError` with `CALL_STACK_OVERFLOW` if no call may be nested deeper.
    """
    room = min(context.frames_left, _FURTHER_FRAMES)
    if not room:
        raise PrimitiveError(ErrorKind.CALL_STACK_OVERFLOW, None, _calling_instruction())
    context.frames_left -= room
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function(context, room, *arguments))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the caller's thread
            failure.append(error)

    thread = threading.Thread(target=run, name="move-call-stack", daemon=True)
    thread.start()
    thread.join()
    context.frames_left += room
    if failure:
        raise failure[0]
    context.meter.settle()  # callers go on without a look at it
    return outcome[0]


def _calling_instruction() -> Location | None:
    """Where the function was called that has no room left; a Python frame tells its line."""
    # Only code that was translated has the global name `this` for itself. The innermost such frame
    # is of the callee, which has stopped at its first line; the next one is of the caller.
    frame = inspect.currentframe()
    callees = 0
    while frame is not None:
        if "this" in frame.f_globals and frame.f_code is frame.f_globals["this"].__code__:
            callees += 1
            if callees == 2:
                function: Function = frame.f_globals["function"]
                return function.location(frame.f_globals["calls"][frame.f_lineno])
        frame = frame.f_back
    return None


def equal(meter: Meter, one: Value, other: Value, size: Sizer | None) -> bool:
    """Whether two values of one type are equal; without `size` they are paid for already."""
    if size is not None:
        meter.charge_bytes(size(one) + size(other))
    return bool(one == other)


def abort(code: int, function: Function, offset: int) -> MoveAbort:
    """The error of ABORT."""
    return MoveAbort(code, function.location(offset))


def arithmetic_error(function: Function, offset: int) -> PrimitiveError:
    """The error of a number that does not fit, a division by zero, a shift too far."""
    return PrimitiveError(ErrorKind.ARITHMETIC_ERROR, None, function.location(offset))


def vector_error(function: Function, offset: int, sub_status: int) -> PrimitiveError:
    """The error of an instruction on a vector."""
    location = function.location(offset)
    return PrimitiveError(ErrorKind.VECTOR_OPERATION_ERROR, sub_status, location)


def variant_error(function: Function, offset: int) -> PrimitiveError:
    """The error of unpacking another variant than there is."""
    return PrimitiveError(ErrorKind.VARIANT_TAG_MISMATCH, None, function.location(offset))


def stack_overflow(function: Function, offset: int) -> PrimitiveError:
    """The error of too many operands."""
    return PrimitiveError(ErrorKind.EXECUTION_STACK_OVERFLOW, None, function.location(offset))


def memory_limit_exceeded(function: Function) -> PrimitiveError:
    """The error of a native function that keeps more than a transaction may."""
    return PrimitiveError(ErrorKind.MEMORY_LIMIT_EXCEEDED, None, function.location(0))


NAMES: dict[str, Any] = {
    "NativeAbort": NativeAbort,
    "NativeLimit": NativeLimit,
    "Reference": Reference,
    "Variant": Variant,
    "abort": abort,
    "arithmetic_error": arithmetic_error,
    "byte_prices": BYTE_PRICES,
    "copy": copy_value,
    "equal": equal,
    "go_deeper": go_deeper,
    "memory_limit_exceeded": memory_limit_exceeded,
    "stack_overflow": stack_overflow,
    "variant_error": variant_error,
    "vector_error": vector_error,
}
