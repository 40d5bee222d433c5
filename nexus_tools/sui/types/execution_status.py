"""The outcome of a transaction's execution: success, or an error.

The number of an error is its variant's index in Sui's enum. Source:
`sui-types/src/execution_status.rs`.
"""

from enum import IntEnum
from typing import Any

from msgspec import Struct

from nexus_tools.sui.bcs import (
    BcsError,
    Codec,
    byte_vector,
    choice,
    option,
    read_uleb128,
    record,
    string,
    struct,
    u8,
    u16,
    u64,
    unit_enum,
    vector,
)
from nexus_tools.sui.support.uleb128 import write_uleb128
from nexus_tools.sui.types.address import ADDRESS, Address


class MoveLocation(Struct, frozen=True):
    """A location in a function. `package` is the original ID of a package.

    `function` is the index of the function's definition in the module.
    """

    package: Address
    module: str
    function: int
    instruction: int
    function_name: str | None


class MoveAbort(Struct, frozen=True):
    """An abort of Move code: its location and abort code."""

    location: MoveLocation
    code: int


class ArgumentErrorKind(IntEnum):
    """The kind of error of a command's argument (`CommandArgumentError`)."""

    TYPE_MISMATCH = 0
    INVALID_BCS_BYTES = 1
    INVALID_USAGE_OF_PURE_ARGUMENT = 2
    INVALID_ARGUMENT_TO_PRIVATE_ENTRY_FUNCTION = 3
    INDEX_OUT_OF_BOUNDS = 4
    SECONDARY_INDEX_OUT_OF_BOUNDS = 5
    INVALID_RESULT_ARITY = 6
    INVALID_GAS_COIN_USAGE = 7
    INVALID_VALUE_USAGE = 8
    INVALID_OBJECT_BY_VALUE = 9
    INVALID_OBJECT_BY_MUT_REF = 10
    SHARED_OBJECT_OPERATION_NOT_ALLOWED = 11
    INVALID_ARGUMENT_ARITY = 12
    INVALID_TRANSFER_OBJECT = 13
    INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT = 14
    ARGUMENT_WITHOUT_VALUE = 15
    CANNOT_MOVE_BORROWED_VALUE = 16
    CANNOT_WRITE_TO_EXTENDED_REFERENCE = 17
    INVALID_REFERENCE_ARGUMENT = 18


class CommandArgumentError(Struct, frozen=True):
    """An error in an argument of the failed command. `data` are indices that depend on `kind`."""

    argument: int
    kind: ArgumentErrorKind
    data: tuple[int, ...] = ()


class TypeArgumentErrorKind(IntEnum):
    """The kind of error of a type argument."""

    TYPE_NOT_FOUND = 0
    CONSTRAINT_NOT_SATISFIED = 1


class TypeArgumentError(Struct, frozen=True):
    """An error in the type argument with the index `argument` of the failed command."""

    argument: int
    kind: TypeArgumentErrorKind


class UpgradeErrorKind(IntEnum):
    """The kind of error that prevents the upgrade of a package (`PackageUpgradeError`)."""

    UNABLE_TO_FETCH_PACKAGE = 0
    NOT_A_PACKAGE = 1
    INCOMPATIBLE_UPGRADE = 2
    DIGEST_DOES_NOT_MATCH = 3
    UNKNOWN_UPGRADE_POLICY = 4
    PACKAGE_ID_DOES_NOT_MATCH = 5


class PackageUpgradeError(Struct, frozen=True):
    """The reason why a package cannot be upgraded. The kind determines the type of `data`."""

    kind: UpgradeErrorKind
    data: Any = None


class ErrorKind(IntEnum):
    """The kind of error that made a transaction fail (`ExecutionFailureStatus`)."""

    INSUFFICIENT_GAS = 0
    INVALID_GAS_OBJECT = 1
    INVARIANT_VIOLATION = 2
    FEATURE_NOT_YET_SUPPORTED = 3
    MOVE_OBJECT_TOO_BIG = 4
    MOVE_PACKAGE_TOO_BIG = 5
    CIRCULAR_OBJECT_OWNERSHIP = 6
    INSUFFICIENT_COIN_BALANCE = 7
    COIN_BALANCE_OVERFLOW = 8
    PUBLISH_ERROR_NON_ZERO_ADDRESS = 9
    SUI_MOVE_VERIFICATION_ERROR = 10
    MOVE_PRIMITIVE_RUNTIME_ERROR = 11
    MOVE_ABORT = 12
    VM_VERIFICATION_OR_DESERIALIZATION_ERROR = 13
    VM_INVARIANT_VIOLATION = 14
    FUNCTION_NOT_FOUND = 15
    ARITY_MISMATCH = 16
    TYPE_ARITY_MISMATCH = 17
    NON_ENTRY_FUNCTION_INVOKED = 18
    COMMAND_ARGUMENT_ERROR = 19
    TYPE_ARGUMENT_ERROR = 20
    UNUSED_VALUE_WITHOUT_DROP = 21
    INVALID_PUBLIC_FUNCTION_RETURN_TYPE = 22
    INVALID_TRANSFER_OBJECT = 23
    EFFECTS_TOO_LARGE = 24
    PUBLISH_UPGRADE_MISSING_DEPENDENCY = 25
    PUBLISH_UPGRADE_DEPENDENCY_DOWNGRADE = 26
    PACKAGE_UPGRADE_ERROR = 27
    WRITTEN_OBJECTS_TOO_LARGE = 28
    CERTIFICATE_DENIED = 29
    SUI_MOVE_VERIFICATION_TIMEDOUT = 30
    SHARED_OBJECT_OPERATION_NOT_ALLOWED = 31
    INPUT_OBJECT_DELETED = 32
    EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION = 33
    ADDRESS_DENIED_FOR_COIN = 34
    COIN_TYPE_GLOBAL_PAUSE = 35
    EXECUTION_CANCELLED_DUE_TO_RANDOMNESS_UNAVAILABLE = 36
    MOVE_VECTOR_ELEM_TOO_BIG = 37
    MOVE_RAW_VALUE_TOO_BIG = 38
    INVALID_LINKAGE = 39
    INSUFFICIENT_FUNDS_FOR_WITHDRAW = 40
    NON_EXCLUSIVE_WRITE_INPUT_OBJECT_MODIFIED = 41


class ExecutionError(Struct, frozen=True):
    """The reason why a transaction failed.

    The kind determines the type of `data`, as listed in `_ERROR_DATA`. For example, `data` is None,
    a `MoveAbort` or a tuple of sizes.
    """

    kind: ErrorKind
    data: Any = None


class Success(Struct, frozen=True):
    """The status of a transaction whose commands all succeeded."""


class ExecutionFailure(Struct, frozen=True):
    """The status of a failed transaction, whose only effect is the payment of gas.

    `command` is the failed command's index.
    """

    error: ExecutionError
    command: int | None


ExecutionStatus = Success | ExecutionFailure


def _numbered(name: str, kinds: type[IntEnum], payloads: dict[Any, Codec[Any]]) -> tuple[Any, Any]:
    """Return reader and writer of an enum whose values are pairs of a kind and a payload."""

    def read(data: bytes, position: int) -> tuple[tuple[Any, Any], int]:
        number, position = read_uleb128(data, position)
        if number >= len(kinds):
            raise BcsError(f"{name} has no variant {number}")
        payload = payloads.get(kinds(number))
        if payload is None:
            return (kinds(number), None), position
        value, position = payload.read(data, position)
        return (kinds(number), value), position

    def write(kind: Any, value: Any, out: bytearray) -> None:
        write_uleb128(kind, out)
        if kind in payloads:
            payloads[kind].write(value, out)

    return read, write


_ARGUMENT_DATA: dict[Any, Codec[Any]] = {
    ArgumentErrorKind.INDEX_OUT_OF_BOUNDS: record((u16,)),
    ArgumentErrorKind.SECONDARY_INDEX_OUT_OF_BOUNDS: record((u16, u16)),
    ArgumentErrorKind.INVALID_RESULT_ARITY: record((u16,)),
}
_read_argument, _write_argument = _numbered(
    "CommandArgumentError", ArgumentErrorKind, _ARGUMENT_DATA
)


def _read_command_argument(data: bytes, position: int) -> tuple[CommandArgumentError, int]:
    argument, position = u16.read(data, position)
    (kind, value), position = _read_argument(data, position)
    return CommandArgumentError(argument, kind, value or ()), position


def _write_command_argument(error: CommandArgumentError, out: bytearray) -> None:
    u16.write(error.argument, out)
    _write_argument(error.kind, error.data, out)


_UPGRADE_DATA: dict[Any, Codec[Any]] = {
    UpgradeErrorKind.UNABLE_TO_FETCH_PACKAGE: ADDRESS,
    UpgradeErrorKind.NOT_A_PACKAGE: ADDRESS,
    UpgradeErrorKind.DIGEST_DOES_NOT_MATCH: byte_vector,
    UpgradeErrorKind.UNKNOWN_UPGRADE_POLICY: u8,
    UpgradeErrorKind.PACKAGE_ID_DOES_NOT_MATCH: record((ADDRESS, ADDRESS)),
}
_read_upgrade, _write_upgrade = _numbered("PackageUpgradeError", UpgradeErrorKind, _UPGRADE_DATA)


def _read_package_upgrade(data: bytes, position: int) -> tuple[PackageUpgradeError, int]:
    (kind, value), position = _read_upgrade(data, position)
    return PackageUpgradeError(kind, value), position


_MOVE_LOCATION = struct(MoveLocation, ADDRESS, string, u16, u16, option(string))
_SIZES = record((u64, u64))

_ERROR_DATA: dict[Any, Codec[Any]] = {
    ErrorKind.MOVE_OBJECT_TOO_BIG: _SIZES,
    ErrorKind.MOVE_PACKAGE_TOO_BIG: _SIZES,
    ErrorKind.CIRCULAR_OBJECT_OWNERSHIP: ADDRESS,
    ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR: option(_MOVE_LOCATION),
    ErrorKind.MOVE_ABORT: struct(MoveAbort, _MOVE_LOCATION, u64),
    ErrorKind.COMMAND_ARGUMENT_ERROR: Codec(_read_command_argument, _write_command_argument),
    ErrorKind.TYPE_ARGUMENT_ERROR: struct(TypeArgumentError, u16, unit_enum(TypeArgumentErrorKind)),
    ErrorKind.UNUSED_VALUE_WITHOUT_DROP: record((u16, u16)),
    ErrorKind.INVALID_PUBLIC_FUNCTION_RETURN_TYPE: u16,
    ErrorKind.EFFECTS_TOO_LARGE: _SIZES,
    ErrorKind.PACKAGE_UPGRADE_ERROR: Codec(
        _read_package_upgrade, lambda error, out: _write_upgrade(error.kind, error.data, out)
    ),
    ErrorKind.WRITTEN_OBJECTS_TOO_LARGE: _SIZES,
    ErrorKind.EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION: vector(ADDRESS),
    ErrorKind.ADDRESS_DENIED_FOR_COIN: record((ADDRESS, string)),
    ErrorKind.COIN_TYPE_GLOBAL_PAUSE: string,
    ErrorKind.MOVE_VECTOR_ELEM_TOO_BIG: _SIZES,
    ErrorKind.MOVE_RAW_VALUE_TOO_BIG: _SIZES,
    ErrorKind.NON_EXCLUSIVE_WRITE_INPUT_OBJECT_MODIFIED: ADDRESS,
}
_read_error, _write_error = _numbered("ExecutionFailureStatus", ErrorKind, _ERROR_DATA)


def _read_execution_error(data: bytes, position: int) -> tuple[ExecutionError, int]:
    (kind, value), position = _read_error(data, position)
    return ExecutionError(kind, value), position


EXECUTION_ERROR: Codec[ExecutionError] = Codec(
    _read_execution_error, lambda error, out: _write_error(error.kind, error.data, out)
)

EXECUTION_STATUS: Codec[ExecutionStatus] = choice(
    "ExecutionStatus",
    (Success, struct(Success)),
    (ExecutionFailure, struct(ExecutionFailure, EXECUTION_ERROR, option(u64))),
)
