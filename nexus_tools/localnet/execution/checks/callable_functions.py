"""Which functions a transaction may call.

Source: `move_functions.rs` of `sui-adapter`.
"""

from collections.abc import Sequence

from nexus_tools.localnet.bytecode.module import Visibility
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.environment import Mode
from nexus_tools.localnet.execution.errors import CommandFailed
from nexus_tools.localnet.execution.initializer import INIT
from nexus_tools.localnet.execution.typed_command import LoadedFunction, TypedCommand
from nexus_tools.localnet.vm import Function
from nexus_tools.sui.execution_status import ErrorKind


def check_functions(context: ExecutionContext, commands: Sequence[TypedCommand]) -> None:
    """Refuse functions that return references, and those that are not for transactions."""
    if context.mode is Mode.INSPECT:
        return
    for command in context.in_turn(commands):
        if isinstance(command.loaded, LoadedFunction):
            _check_results(command)
            _check_callable(context, command.loaded.function)


def _check_results(command: TypedCommand) -> None:
    for index, slot in enumerate(command.results):
        if slot.reference is not None:
            raise CommandFailed(ErrorKind.INVALID_PUBLIC_FUNCTION_RETURN_TYPE, index)


def _check_callable(context: ExecutionContext, function: Function) -> None:
    if context.mode is Mode.SYSTEM:
        return
    callable_ = function.is_entry or function.visibility is Visibility.PUBLIC
    if not callable_ or function.name == INIT or _is_private_generic(function):
        raise CommandFailed(
            ErrorKind.NON_ENTRY_FUNCTION_INVOKED,
            message=f"{function.module.name}::{function.name} cannot be called by a transaction",
        )


def _is_private_generic(function: Function) -> bool:
    from nexus_tools.localnet.verifier.sui import is_internal  # noqa: PLC0415 - 20 ms at start

    return is_internal(function.module.address, function.module.name, function.name)
