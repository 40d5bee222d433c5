"""The runtime of translated code: the transaction's context, deeply nested calls, and errors."""

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
    """The state of one transaction. Native functions receive it as their first argument.

    Only native functions use `runtime`. `frames_left` is the number of further calls that may be
    nested inside the running calls.
    """

    types: Types
    meter: Meter
    runtime: Any = None
    frames_left: int = CALL_DEPTH_MAX


# A call of a Move function is a call of a Python function, and Python allows 1000 nested calls per
# thread. The first nested calls use the caller's thread, and deeper calls use further threads. A
# call may take two Python frames. Native functions, copies and translation also need some hundreds
# of frames. The limit is 1 025 nested calls. The first 100 calls run in the caller's thread, 200
# calls run in each of four further threads, and 125 calls run in a fifth thread. Each thread waits
# for the next thread.
FIRST_FRAMES = 100
_FURTHER_FRAMES = 200


def call_in_new_thread(context: Context, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a new thread, because this thread allows no further nested calls.

    Raises:
        PrimitiveError: Calls are nested too deeply (`CALL_STACK_OVERFLOW`).
    """
    frames = min(context.frames_left, _FURTHER_FRAMES)
    if not frames:
        raise PrimitiveError(ErrorKind.CALL_STACK_OVERFLOW, None, _calling_instruction())
    context.frames_left -= frames
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function(context, frames, *arguments))
        except BaseException as error:  # noqa: BLE001 - the caller's thread raises it again
            failure.append(error)

    thread = threading.Thread(target=run, name="move-call-stack", daemon=True)
    thread.start()
    thread.join()
    context.frames_left += frames
    if failure:
        raise failure[0]
    context.meter.settle()  # the callers continue without checking the meter
    return outcome[0]


def _calling_instruction() -> Location | None:
    """Return the location of the call that is nested too deeply, from its Python frame."""
    # Only translated functions have the global name `this`, which is the function itself. The
    # innermost frame of translated code belongs to the callee, which stopped at its first line. The
    # next frame of translated code belongs to the caller.
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


def equal(meter: Meter, left: Value, right: Value, size: Sizer | None) -> bool:
    """If `size` is given, charge for the bytes of two values of the same type.

    Return whether the values are equal.
    """
    if size is not None:
        meter.charge_bytes(size(left) + size(right))
    return bool(left == right)


def abort(code: int, function: Function, offset: int) -> MoveAbort:
    """Return the error of ABORT."""
    return MoveAbort(code, function.location(offset))


def arithmetic_error(function: Function, offset: int) -> PrimitiveError:
    """Return the error of an overflow, a division by zero, or a shift by too many bits."""
    return PrimitiveError(ErrorKind.ARITHMETIC_ERROR, None, function.location(offset))


def vector_error(function: Function, offset: int, sub_status: int) -> PrimitiveError:
    """Return the error of an instruction on a vector."""
    location = function.location(offset)
    return PrimitiveError(ErrorKind.VECTOR_OPERATION_ERROR, sub_status, location)


def variant_error(function: Function, offset: int) -> PrimitiveError:
    """Return the error of unpacking an enum value as a different variant."""
    return PrimitiveError(ErrorKind.VARIANT_TAG_MISMATCH, None, function.location(offset))


def stack_overflow(function: Function, offset: int) -> PrimitiveError:
    """Return the error of too many operands on the stack."""
    return PrimitiveError(ErrorKind.EXECUTION_STACK_OVERFLOW, None, function.location(offset))


def memory_limit_exceeded(function: Function) -> PrimitiveError:
    """Return the error of a native function that exceeds a transaction's storage limits."""
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
    "call_in_new_thread": call_in_new_thread,
    "memory_limit_exceeded": memory_limit_exceeded,
    "stack_overflow": stack_overflow,
    "variant_error": variant_error,
    "vector_error": vector_error,
}
