"""How the execution of Move code ends early.

MoveFailure             the transaction fails, and what it did is undone
├── MoveAbort                the code said so, with a number
├── PrimitiveError           an instruction cannot be executed: overflow, index out of bounds, ...
├── OutOfGas                 the budget is used up
└── LinkError                code names something that is not there
└── InvalidCode          code that no Move compiler makes
NativeAbort                  a native function aborts; the machine makes a MoveAbort of it
NativeLimit                  a native function reached a limit; the machine makes a PrimitiveError
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
    "NativeMissing",
    "OutOfGas",
    "PrimitiveError",
]


class ErrorKind(StrEnum):
    """What an instruction fails with, by the name of its `StatusCode` in `move-core-types`."""

    ARITHMETIC_ERROR = "ARITHMETIC_ERROR"
    VECTOR_OPERATION_ERROR = "VECTOR_OPERATION_ERROR"
    VARIANT_TAG_MISMATCH = "VARIANT_TAG_MISMATCH"
    CALL_STACK_OVERFLOW = "CALL_STACK_OVERFLOW"
    EXECUTION_STACK_OVERFLOW = "EXECUTION_STACK_OVERFLOW"
    VM_MAX_VALUE_DEPTH_REACHED = "VM_MAX_VALUE_DEPTH_REACHED"
    TOO_MANY_TYPE_NODES = "TOO_MANY_TYPE_NODES"
    MEMORY_LIMIT_EXCEEDED = "MEMORY_LIMIT_EXCEEDED"


class MoveFailure(Exception):  # noqa: N818 - the failure of a transaction is no program error
    """Execution ended before the function returned."""


class MoveAbort(MoveFailure):
    """ABORT was executed, or a native function aborted; `code` is a u64."""

    def __init__(self, code: int, location: Location) -> None:
        super().__init__(f"abort {code} in {_describe(location)}")
        self.code = code
        self.location = location


class PrimitiveError(MoveFailure):
    """An instruction cannot be executed.

    `sub_status` of a vector error: 1 index out of bounds, 2 pop of an empty vector, 3 unpack of a
    vector of another length, 4 one element too many.
    """

    def __init__(self, kind: ErrorKind, sub_status: int | None, location: Location | None) -> None:
        place = f" in {_describe(location)}" if location else ""
        detail = f" {sub_status}" if sub_status is not None else ""
        super().__init__(f"{kind}{detail}{place}")
        self.kind = kind
        self.sub_status = sub_status
        self.location = location


class OutOfGas(MoveFailure):
    """The budget of the meter is used up."""


class LinkError(MoveFailure):
    """A package, module, function, datatype or native function is not there."""


class NativeMissing(LinkError):  # noqa: N818 - it says what is missing
    """A native function that a newer framework has: `FEATURE_NOT_YET_SUPPORTED`."""


class InvalidCode(LinkError):  # noqa: N818 - it says what the code is
    """A function whose instructions do not fit together: the bytecode verifier refuses it."""


class NativeAbort(Exception):  # noqa: N818 - it says what happened
    """Raised by a native function to abort with `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(f"native abort {code}")
        self.code = code


class NativeLimit(Exception):  # noqa: N818 - it says what happened
    """Raised by a native function that would keep more than one transaction may."""


def _describe(location: Location) -> str:
    package = location.package.short()
    place = f"{package}::{location.module}::{location.function_name}"
    return f"{place} at offset {location.instruction}"
