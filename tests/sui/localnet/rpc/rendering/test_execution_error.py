"""Fields of the messages of execution errors, except for the text."""

from nexus_tools.sui.localnet.rpc.rendering.execution_error import render_failure
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import (
    ErrorKind,
    ExecutionError,
    ExecutionFailure,
    MoveLocation,
)


def render(messages, kind, data):
    message = messages.message("sui.rpc.v2.ExecutionError")()
    render_failure(message, ExecutionFailure(ExecutionError(kind, data), 2), lambda _: None)
    return message


def test_instruction_error_has_a_location_and_no_code(messages):
    place = MoveLocation(Address.of(2), "m", 3, 4, "f")
    error = render(messages, ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR, place)
    assert error.command == 2
    found = error.abort.location
    assert (found.package, found.module, found.function) == (str(Address.of(2)), "m", 3)
    assert (found.instruction, found.function_name) == (4, "f")
    assert not error.abort.HasField("abort_code")


def test_instruction_error_without_a_location_has_no_details(messages):
    error = render(messages, ErrorKind.MOVE_PRIMITIVE_RUNTIME_ERROR, None)
    assert error.WhichOneof("error_details") is None
