"""The rendering of execution errors (`sui.rpc.v2.ExecutionError`).

In protobuf, the number of an error kind is its number in BCS plus one. The number 0 means an
unknown kind.
"""

from collections.abc import Callable
from typing import Any

from nexus_tools.sui.bytecode import CleverError, clever_error
from nexus_tools.sui.localnet.rpc.rendering.execution_error_text import describe
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.digest import base58_encode
from nexus_tools.sui.types.execution_status import (
    CommandArgumentError,
    ErrorKind,
    ExecutionFailure,
    MoveAbort,
    MoveLocation,
    PackageUpgradeError,
    TypeArgumentError,
    UpgradeErrorKind,
)

FindModule = Callable[[MoveLocation], bytes | None]
"""A function that returns a module's bytes, or None if no module is at the location."""


def render_failure(message: Message, failure: ExecutionFailure, find_module: FindModule) -> None:
    """Fill the reason why a transaction failed. `description` is a text for users."""
    error = failure.error
    message.kind = error.kind + 1
    message.description = describe(failure)
    if failure.command is not None:
        message.command = failure.command
    render_data = _RENDERERS.get(error.kind)
    if render_data is not None:
        render_data(message, error.data)
    if isinstance(error.data, MoveAbort):
        clever = clever_error(error.data.code, find_module(error.data.location))
        if clever is not None:
            _render_clever_error(message.abort.clever_error, clever)


def _render_location(message: Message, location: MoveLocation) -> None:
    message.package = str(location.package)
    message.module = location.module
    message.function = location.function
    message.instruction = location.instruction
    if location.function_name is not None:
        message.function_name = location.function_name


def _render_abort(message: Message, abort: MoveAbort) -> None:
    message.abort.abort_code = abort.code
    _render_location(message.abort.location, abort.location)


def _render_clever_error(message: Message, clever: CleverError) -> None:
    message.line_number = clever.line_number
    if clever.code is not None:
        message.error_code = clever.code
    if clever.constant_name is not None:
        message.constant_name = clever.constant_name
    if clever.rendered is not None:
        message.rendered = clever.rendered
    elif clever.raw is not None:
        message.raw = clever.raw


def _render_primitive_error(message: Message, location: MoveLocation | None) -> None:
    if location is not None:
        _render_location(message.abort.location, location)


def _render_sizes(message: Message, sizes: tuple[int, int]) -> None:
    message.size_error.size, message.size_error.max_size = sizes


def _render_indices(message: Message, indices: tuple[int, ...]) -> None:
    message.index = indices[0]
    if len(indices) > 1:
        message.subresult = indices[1]


def _render_argument_error(message: Message, error: CommandArgumentError) -> None:
    target = message.command_argument_error
    target.argument = error.argument
    target.kind = error.kind + 1
    if error.data:
        _render_indices(target.index_error, error.data)


def _render_type_argument_error(message: Message, error: TypeArgumentError) -> None:
    message.type_argument_error.type_argument = error.argument
    message.type_argument_error.kind = error.kind + 1


def _render_upgrade_error(message: Message, error: PackageUpgradeError) -> None:
    target = message.package_upgrade_error
    target.kind = error.kind + 1
    if error.kind in (UpgradeErrorKind.UNABLE_TO_FETCH_PACKAGE, UpgradeErrorKind.NOT_A_PACKAGE):
        target.package_id = str(error.data)
    elif error.kind is UpgradeErrorKind.DIGEST_DOES_NOT_MATCH:
        target.digest = base58_encode(error.data)
    elif error.kind is UpgradeErrorKind.UNKNOWN_UPGRADE_POLICY:
        target.policy = error.data
    elif error.kind is UpgradeErrorKind.PACKAGE_ID_DOES_NOT_MATCH:
        target.package_id, target.ticket_id = map(str, error.data)


def _render_object_id(message: Message, object_id: Any) -> None:
    message.object_id = str(object_id)


def _render_congested(message: Message, objects: Any) -> None:
    message.congested_objects.objects.extend(map(str, objects))


def _render_denied(message: Message, denied: Any) -> None:
    address, coin_type = denied
    message.coin_deny_list_error.address = str(address)
    message.coin_deny_list_error.coin_type = coin_type


def _render_paused(message: Message, coin_type: str) -> None:
    message.coin_deny_list_error.coin_type = coin_type


_RENDERERS: dict[ErrorKind, Callable[[Message, Any], None]] = {
    ErrorKind.MOVE_OBJECT_TOO_BIG: _render_sizes,
    ErrorKind.MOVE_PACKAGE_TOO_BIG: _render_sizes,
    ErrorKind.CIRCULAR_OBJECT_OWNERSHIP: _render_object_id,
    ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR: _render_primitive_error,
    ErrorKind.MOVE_ABORT: _render_abort,
    ErrorKind.COMMAND_ARGUMENT_ERROR: _render_argument_error,
    ErrorKind.TYPE_ARGUMENT_ERROR: _render_type_argument_error,
    ErrorKind.UNUSED_VALUE_WITHOUT_DROP: lambda message, indices: _render_indices(
        message.index_error, indices
    ),
    ErrorKind.INVALID_PUBLIC_FUNCTION_RETURN_TYPE: lambda message, index: _render_indices(
        message.index_error, (index,)
    ),
    ErrorKind.EFFECTS_TOO_LARGE: _render_sizes,
    ErrorKind.PACKAGE_UPGRADE_ERROR: _render_upgrade_error,
    ErrorKind.WRITTEN_OBJECTS_TOO_LARGE: _render_sizes,
    ErrorKind.EXECUTION_CANCELLED_DUE_TO_SHARED_OBJECT_CONGESTION: _render_congested,
    ErrorKind.ADDRESS_DENIED_FOR_COIN: _render_denied,
    ErrorKind.COIN_TYPE_GLOBAL_PAUSE: _render_paused,
    ErrorKind.MOVE_VECTOR_ELEM_TOO_BIG: _render_sizes,
    ErrorKind.MOVE_RAW_VALUE_TOO_BIG: _render_sizes,
    ErrorKind.NON_EXCLUSIVE_WRITE_INPUT_OBJECT_MODIFIED: _render_object_id,
}
