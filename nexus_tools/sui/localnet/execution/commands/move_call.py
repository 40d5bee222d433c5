"""The command `MoveCall`."""

from collections.abc import Sequence
from typing import TypeGuard

from msgspec.structs import replace

from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.type_arguments import (
    check_constraints,
    resolve_type_arguments,
)
from nexus_tools.sui.localnet.execution.commands.typed_command import (
    LoadedFunction,
    TypedArgument,
    TypedCommand,
)
from nexus_tools.sui.localnet.execution.errors import CommandFailed
from nexus_tools.sui.localnet.vm import (
    Function,
    MoveAbort,
    ReferenceType,
    Type,
    Value,
    substitute,
)
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.transaction import MoveCall
from nexus_tools.sui.types.type_tag import TX_CONTEXT, TypeTag

# The Python exceptions that badly typed bytecode can cause. The verifier should have refused such
# bytecode.
_UNTYPED = (TypeError, ValueError, LookupError, AttributeError, AssertionError, OverflowError)


def load_function(context: ExecutionContext, command: MoveCall) -> LoadedFunction:
    """Return the function and the type arguments to which the command refers.

    Raises:
        CommandFailed: the function or a type does not exist, or a type violates a constraint.
    """
    type_arguments = resolve_type_arguments(context, command.type_arguments)
    function = context.machine.types.function(command.package, command.module, command.function)
    if function is None:
        raise CommandFailed(
            ErrorKind.FUNCTION_NOT_FOUND,
            message=f"Could not resolve function '{command.function}' in module"
            f" {command.package}::{command.module}",
        )
    check_constraints(context, type_arguments, function.type_parameters)
    return LoadedFunction(function, type_arguments)


def type_move_call(typer: ArgumentTyper, command: MoveCall, loaded: LoadedFunction) -> TypedCommand:
    """Require an argument of the right type for each parameter.

    A `TxContext` parameter may be at any position and has no argument.
    """
    located = iter(typer.locate(command.arguments))
    function, types = loaded.function, loaded.type_arguments
    parameters = [substitute(parameter, types) for parameter in function.parameters]
    arity = sum(not _is_tx_context(parameter) for parameter in parameters)
    if arity != len(command.arguments):
        raise CommandFailed(
            ErrorKind.ARITY_MISMATCH,
            message=f"Expected {arity} arguments calling function '{function.name}', but found"
            f" {len(command.arguments)}",
        )
    arguments: list[TypedArgument] = [
        typer.tx_context(index, parameter)
        if _is_tx_context(parameter)
        else typer.typed(next(located), parameter)
        for index, parameter in enumerate(parameters)
    ]
    results = [typer.result(substitute(declared, types)) for declared in function.returns]
    return TypedCommand(command, loaded, arguments, results)


def _is_tx_context(type_: Type) -> TypeGuard[ReferenceType]:
    return isinstance(type_, ReferenceType) and type_.target == TX_CONTEXT


def move_call(context: ExecutionContext, command: TypedCommand) -> list[Value]:
    """Call the function of the command."""
    assert isinstance(command.loaded, LoadedFunction)
    values = context.take_all(command.arguments)
    return call(context, command.loaded.function, command.loaded.type_arguments, values)


def call(
    context: ExecutionContext,
    function: Function,
    type_arguments: tuple[TypeTag, ...],
    values: Sequence[Value],
) -> list[Value]:
    """Call a function, and record its events with the function's module as the emitting module.

    If verified code still causes a Python type error, the command fails with an invariant
    violation.
    """
    try:
        results = context.machine.call(function, type_arguments, values, context.call_context)
    except MoveAbort as abort:
        raise _at_storage_id(context, function, abort) from abort
    except _UNTYPED as error:
        raise CommandFailed(
            ErrorKind.VM_INVARIANT_VIOLATION, message=f"{function.name}: {error!r}"
        ) from error
    sender = context.runtime.transaction.sender
    for event in context.runtime.take_events():
        context.events.append(
            Event(function.package, function.module.name, sender, event.type, event.contents)
        )
    return results


def _at_storage_id(context: ExecutionContext, function: Function, abort: MoveAbort) -> MoveAbort:
    """Return an abort whose location has the ID of the package version that was executed.

    Bytecode refers to its own package by the original ID. If the called package links 0xA as 0xC,
    an abort in 0xA::m is reported in 0xC::m.
    """
    package = context.machine.types.package(function.package)
    assert package is not None
    location = abort.location
    storage_id = package.linkage.get(location.package, location.package)
    return MoveAbort(abort.code, replace(location, package=storage_id))
