"""The description of an execution error by a full node (`ExecutionError.description`).

A full node formats an error as `{error:?} in command {command}`, with Rust's debug format. Clients
parse this text. Source: `sui-types/src/rpc_proto_conversions.rs` and `execution_status.rs`.
"""

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import (
    ArgumentErrorKind,
    CommandArgumentError,
    ErrorKind,
    ExecutionFailure,
    MoveAbort,
    MoveLocation,
    PackageUpgradeError,
    TypeArgumentError,
    UpgradeErrorKind,
)

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def describe(failure: ExecutionFailure) -> str:
    """Return a text with the error and the index of the failed command."""
    kind, data = failure.error.kind, failure.error.data
    show = _ERRORS.get(kind)
    text = _name(kind) if show is None else f"{_name(kind)}{show(data)}"
    return text if failure.command is None else f"{text} in command {failure.command}"


def _name(kind: IntEnum) -> str:
    return _NAMES.get(kind.name) or kind.name.title().replace("_", "")


def _fields(*names: str) -> Callable[[Iterable[Any]], str]:
    """Return a function that formats values like a Rust struct with these field names."""

    def show(values: Iterable[Any]) -> str:
        pairs = zip(names, values, strict=True)
        return f" {{ {', '.join(f'{name}: {_debug_text(value)}' for name, value in pairs)} }}"

    return show


def _debug_text(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPES)}"'
    if isinstance(value, Address):
        return str(value)
    return str(list(value)) if isinstance(value, bytes) else str(value)


def _one_field(name: str) -> Callable[[Any], str]:
    show = _fields(name)
    return lambda value: show((value,))


def _location(place: MoveLocation) -> str:
    function_name = "None" if place.function_name is None else f'Some("{place.function_name}")'
    return (
        f"MoveLocation {{ module: ModuleId {{ address: {place.package.hex()},"
        f' name: Identifier("{place.module}") }}, function: {place.function},'
        f" instruction: {place.instruction}, function_name: {function_name} }}"
    )


def _primitive_error(place: MoveLocation | None) -> str:
    return f"(MoveLocationOpt({'None' if place is None else f'Some({_location(place)})'}))"


def _abort(abort: MoveAbort) -> str:
    return f"({_location(abort.location)}, {abort.code})"


def _argument_error(error: CommandArgumentError) -> str:
    show = _ARGUMENT_ERRORS.get(error.kind)
    kind = _name(error.kind) + ("" if show is None else show(error.data))
    return f" {{ arg_idx: {error.argument}, kind: {kind} }}"


def _type_argument_error(error: TypeArgumentError) -> str:
    return f" {{ argument_idx: {error.argument}, kind: {_name(error.kind)} }}"


def _upgrade_error(error: PackageUpgradeError) -> str:
    show = _UPGRADE_ERRORS.get(error.kind)
    kind = _name(error.kind) + ("" if show is None else show(error.data))
    return f" {{ upgrade_error: {kind} }}"


def _congested(objects: Iterable[Address]) -> str:
    return f" {{ congested_objects: CongestedObjects([{', '.join(map(str, objects))}]) }}"


_NAMES: dict[str, str] = {
    "VM_VERIFICATION_OR_DESERIALIZATION_ERROR": "VMVerificationOrDeserializationError",
    "VM_INVARIANT_VIOLATION": "VMInvariantViolation",
    "INVALID_BCS_BYTES": "InvalidBCSBytes",
    "INVALID_USAGE_OF_PURE_ARGUMENT": "InvalidUsageOfPureArg",
    "NOT_A_PACKAGE": "NotAPackage",
    "PACKAGE_ID_DOES_NOT_MATCH": "PackageIDDoesNotMatch",
}
_OBJECT_SIZES = _fields("object_size", "max_object_size")
_WRITTEN_SIZES = _fields("current_size", "max_size")
_VALUE_SIZES = _fields("value_size", "max_scaled_size")
_ERRORS: dict[ErrorKind, Callable[[Any], str]] = {
    ErrorKind.MOVE_OBJECT_TOO_BIG: _OBJECT_SIZES,
    ErrorKind.MOVE_PACKAGE_TOO_BIG: _OBJECT_SIZES,
    ErrorKind.CIRCULAR_OBJECT_OWNERSHIP: _one_field("object"),
    ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR: _primitive_error,
    ErrorKind.MOVE_ABORT: _abort,
    ErrorKind.COMMAND_ARGUMENT_ERROR: _argument_error,
    ErrorKind.TYPE_ARGUMENT_ERROR: _type_argument_error,
    ErrorKind.UNUSED_VALUE_WITHOUT_DROP: _fields("result_idx", "secondary_idx"),
    ErrorKind.INVALID_PUBLIC_FUNCTION_RETURN_TYPE: _one_field("idx"),
    ErrorKind.EFFECTS_TOO_LARGE: _WRITTEN_SIZES,
    ErrorKind.PACKAGE_UPGRADE_ERROR: _upgrade_error,
    ErrorKind.WRITTEN_OBJECTS_TOO_LARGE: _WRITTEN_SIZES,
    ErrorKind.EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION: _congested,
    ErrorKind.ADDRESS_DENIED_FOR_COIN: _fields("address", "coin_type"),
    ErrorKind.COIN_TYPE_GLOBAL_PAUSE: _one_field("coin_type"),
    ErrorKind.MOVE_VECTOR_ELEM_TOO_BIG: _VALUE_SIZES,
    ErrorKind.MOVE_RAW_VALUE_TOO_BIG: _VALUE_SIZES,
    ErrorKind.NON_EXCLUSIVE_WRITE_INPUT_OBJECT_MODIFIED: _one_field("id"),
}
_ARGUMENT_ERRORS: dict[ArgumentErrorKind, Callable[[Any], str]] = {
    ArgumentErrorKind.INDEX_OUT_OF_BOUNDS: _fields("idx"),
    ArgumentErrorKind.SECONDARY_INDEX_OUT_OF_BOUNDS: _fields("result_idx", "secondary_idx"),
    ArgumentErrorKind.INVALID_RESULT_ARITY: _fields("result_idx"),
}
_UPGRADE_ERRORS: dict[UpgradeErrorKind, Callable[[Any], str]] = {
    UpgradeErrorKind.UNABLE_TO_FETCH_PACKAGE: _one_field("package_id"),
    UpgradeErrorKind.NOT_A_PACKAGE: _one_field("object_id"),
    UpgradeErrorKind.DIGEST_DOES_NOT_MATCH: _one_field("digest"),
    UpgradeErrorKind.UNKNOWN_UPGRADE_POLICY: _one_field("policy"),
    UpgradeErrorKind.PACKAGE_ID_DOES_NOT_MATCH: _fields("package_id", "ticket_id"),
}
