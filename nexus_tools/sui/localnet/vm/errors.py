"""The errors that end the execution of Move code early.

    MoveFailure             the transaction fails and its changes are reverted
    ├── MoveAbort           the code aborted with a number
    ├── PrimitiveError      an instruction failed: overflow, index out of bounds, ...
    ├── OutOfGas            the budget is used up
    └── LinkError           the code names a definition that does not exist
        └── InvalidCode     no Move compiler produces this code

The machine converts two other exceptions to these errors:

    NativeAbort             a native function aborted; becomes a MoveAbort
    NativeLimit             a native function hit a limit; becomes a PrimitiveError
"""

from enum import StrEnum

from nexus_tools.sui.types.execution_status import MoveLocation as Location

__all__ = [
    "ErrorKind",
    "InvalidCode",
    "LinkError",
    "Location",
    "MoveAbort",
    "MoveFailure",
    "NativeAbort",
    "NativeLimit",
    "OutOfGas",
    "PrimitiveError",
    "UnknownNative",
]


class ErrorKind(StrEnum):
    """The error of an instruction, which has the name of a `StatusCode` in `move-core-types`."""

    ARITHMETIC_ERROR = "ARITHMETIC_ERROR"
    VECTOR_OPERATION_ERROR = "VECTOR_OPERATION_ERROR"
    VARIANT_TAG_MISMATCH = "VARIANT_TAG_MISMATCH"
    CALL_STACK_OVERFLOW = "CALL_STACK_OVERFLOW"
    EXECUTION_STACK_OVERFLOW = "EXECUTION_STACK_OVERFLOW"
    VM_MAX_VALUE_DEPTH_REACHED = "VM_MAX_VALUE_DEPTH_REACHED"
    TOO_MANY_TYPE_NODES = "TOO_MANY_TYPE_NODES"
    MEMORY_LIMIT_EXCEEDED = "MEMORY_LIMIT_EXCEEDED"


class MoveFailure(Exception):  # noqa: N818 - a failed transaction is not a program error
    """A failure that ended execution before the function returned."""


class MoveAbort(MoveFailure):
    """An abort by the ABORT instruction or by a native function. `code` is a u64."""

    def __init__(self, code: int, location: Location) -> None:
        super().__init__(f"abort {code} in {_describe(location)}")
        self.code = code
        self.location = location


class PrimitiveError(MoveFailure):
    """A failed instruction.

    If the instruction operates on a vector, `sub_status` has one of these values:

        1  index out of bounds
        2  pop from an empty vector
        3  unpack of a vector with a different length
        4  one element too many
    """

    def __init__(self, kind: ErrorKind, sub_status: int | None, location: Location | None) -> None:
        location_text = f" in {_describe(location)}" if location else ""
        detail = f" {sub_status}" if sub_status is not None else ""
        super().__init__(f"{kind}{detail}{location_text}")
        self.kind = kind
        self.sub_status = sub_status
        self.location = location


class OutOfGas(MoveFailure):
    """An error for an execution that has used up the budget of the meter."""


class LinkError(MoveFailure):
    """A missing package, module, function, datatype or native function."""


class UnknownNative(LinkError):  # noqa: N818 - the name states the cause
    """A call of a native function that only a newer framework has (`FEATURE_NOT_YET_SUPPORTED`)."""


class InvalidCode(LinkError):  # noqa: N818 - the name states the cause
    """An error for inconsistent instructions, which the bytecode verifier rejects."""


class NativeAbort(Exception):  # noqa: N818 - the name states the cause
    """An abort with `code`, raised by a native function."""

    def __init__(self, code: int) -> None:
        super().__init__(f"native abort {code}")
        self.code = code


class NativeLimit(Exception):  # noqa: N818 - the name states the cause
    """An error for a native function that would exceed a transaction's storage limits."""


def _describe(location: Location) -> str:
    package = location.package.short()
    location_text = f"{package}::{location.module}::{location.function_name}"
    return f"{location_text} at offset {location.instruction}"
