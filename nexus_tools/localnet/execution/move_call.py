"""The command `MoveCall`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nexus_tools.localnet.bytecode.module import Visibility
from nexus_tools.localnet.execution.arguments import Arguments
from nexus_tools.localnet.execution.command import CommandOutcome
from nexus_tools.localnet.execution.context import ExecutionContext, ResultValue
from nexus_tools.localnet.execution.environment import Mode
from nexus_tools.localnet.execution.errors import CommandFailed, argument_failed
from nexus_tools.localnet.execution.slots import ValueSlot
from nexus_tools.localnet.execution.type_arguments import resolve_type_arguments
from nexus_tools.localnet.vm import (
    Function,
    MoveAbort,
    Reference,
    ReferenceType,
    Type,
    Value,
    copy_value,
    substitute,
)
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.event import Event
from nexus_tools.sui.execution_status import ArgumentErrorKind, ErrorKind
from nexus_tools.sui.transaction import Argument, MoveCall
from nexus_tools.sui.type_tag import StructTag, TypeTag

TX_CONTEXT = StructTag(SUI_FRAMEWORK, "tx_context", "TxContext")

_INIT = "init"
# What Python says of code whose types do not fit: no bytecode verifier has looked at it.
_UNTYPED = (TypeError, ValueError, LookupError, AttributeError, AssertionError, OverflowError)


def move_call(context: ExecutionContext, command: MoveCall) -> CommandOutcome:
    """Call a function of a package with arguments of the transaction."""
    function = _function(context, command)
    type_arguments = resolve_type_arguments(
        context, command.type_arguments, function.type_parameters
    )
    arguments = Arguments(context)
    uses = _uses(function, type_arguments, command.arguments, arguments)
    returns = _return_types(context, function, type_arguments)
    _check_callable(context, function)
    values = [_value(context, arguments, use) for use in uses]
    arguments.check_references()
    if function.is_entry and function.visibility is not Visibility.PUBLIC:
        _check_not_hot(context, arguments, command.arguments)
    results = call(context, function, type_arguments, values)
    return CommandOutcome(
        [
            ResultValue(tag, copy_value(value.read()) if isinstance(value, Reference) else value)
            for tag, value in zip(returns, results, strict=True)
        ],
        arguments,
    )


def call(
    context: ExecutionContext,
    function: Function,
    type_arguments: tuple[TypeTag, ...],
    values: Sequence[Value],
) -> list[Value]:
    """Run a function, and note the events that it emits as its module's.

    Code that no compiler made may do what no type allows; it fails as an invariant violation.
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
    """The abort, with the id of the very version of the package whose code was running."""
    package = context.machine.package(function.package)
    assert package is not None
    location = abort.location
    storage_id = package.linkage.get(location.package, location.package)
    return MoveAbort(abort.code, replace(location, package=storage_id))


def is_tx_context(type_: Type) -> bool:
    """Whether a parameter is filled in by the transaction itself."""
    return isinstance(type_, ReferenceType) and type_.target == TX_CONTEXT


def tx_context_argument(context: ExecutionContext) -> Reference:
    """A reference to a fresh `TxContext`."""
    return Reference([context.runtime.transaction.as_move_value()], 0)


def _function(context: ExecutionContext, command: MoveCall) -> Function:
    function = context.machine.function(command.package, command.module, command.function)
    if function is None:
        raise CommandFailed(
            ErrorKind.FUNCTION_NOT_FOUND,
            message=f"Could not resolve function '{command.function}' in module"
            f" {command.package}::{command.module}",
        )
    return function


def _check_callable(context: ExecutionContext, function: Function) -> None:
    if context.mode in (Mode.INSPECT, Mode.SYSTEM):
        return
    callable_ = function.is_entry or function.visibility is Visibility.PUBLIC
    if not callable_ or function.name == _INIT or _is_private_generic(function):
        raise CommandFailed(
            ErrorKind.NON_ENTRY_FUNCTION_INVOKED,
            message=f"{function.module.name}::{function.name} cannot be called by a transaction",
        )


def _is_private_generic(function: Function) -> bool:
    from nexus_tools.localnet.verifier.sui import is_internal  # noqa: PLC0415 - 20 ms at start

    return is_internal(function.module.address, function.module.name, function.name)


def _return_types(
    context: ExecutionContext, function: Function, type_arguments: tuple[TypeTag, ...]
) -> list[TypeTag]:
    """The types of the results; references are results only when a transaction is inspected."""
    types: list[TypeTag] = []
    for index, declared in enumerate(function.returns):
        type_ = substitute(declared, type_arguments)
        if isinstance(type_, ReferenceType):
            if context.mode is not Mode.INSPECT:
                raise CommandFailed(ErrorKind.INVALID_PUBLIC_FUNCTION_RETURN_TYPE, index)
            type_ = type_.target
        types.append(_closed(type_))
    return types


@dataclass(frozen=True, slots=True)
class _Use:
    """What fills one parameter: the command's `index`th argument, or the `TxContext` if None."""

    parameter: Type
    index: int | None = None
    argument: Argument | None = None
    slot: ValueSlot | None = None


def _uses(
    function: Function,
    type_arguments: tuple[TypeTag, ...],
    given: Sequence[Argument],
    arguments: Arguments,
) -> list[_Use]:
    """The slots for all parameters, of the right types and usable so. Nothing is taken yet."""
    arguments.locate(given)
    parameters = [substitute(parameter, type_arguments) for parameter in function.parameters]
    expected = sum(not is_tx_context(parameter) for parameter in parameters)
    if expected != len(given):
        raise CommandFailed(
            ErrorKind.ARITY_MISMATCH,
            message=f"Expected {expected} arguments calling function '{function.name}', but found"
            f" {len(given)}",
        )
    uses: list[_Use] = []
    remaining = enumerate(given)
    for parameter in parameters:
        if is_tx_context(parameter):
            uses.append(_Use(parameter))
            continue
        index, argument = next(remaining)
        target = parameter.target if isinstance(parameter, ReferenceType) else parameter
        slot = arguments.typed(index, argument, _closed(target))
        uses.append(_Use(parameter, index, argument, slot))
    for use in uses:
        _check_use(arguments, use)
    return uses


def _check_use(arguments: Arguments, use: _Use) -> None:
    if use.index is None or use.slot is None:
        return
    if not isinstance(use.parameter, ReferenceType):
        arguments.check_may_be_taken(use.index, use.slot)
    elif use.parameter.mutable:
        arguments.check_may_be_changed(use.index, use.slot)


def _value(context: ExecutionContext, arguments: Arguments, use: _Use) -> Value:
    if use.index is None or use.argument is None or use.slot is None:
        context.charge_reference()
        return tx_context_argument(context)
    if isinstance(use.parameter, ReferenceType):
        mutable = use.parameter.mutable
        return arguments.lend(use.index, use.argument, use.slot, mutable=mutable)
    return arguments.take(use.index, use.slot)


def _closed(type_: Type) -> TypeTag:
    """A type without references and type parameters, which it is known to be."""
    return type_  # type: ignore[return-value]


def _check_not_hot(
    context: ExecutionContext, arguments: Arguments, given: Sequence[Argument]
) -> None:
    for index, clique in zip(range(len(given)), arguments.cliques, strict=True):
        if context.cliques.is_hot(clique):
            raise argument_failed(
                index, ArgumentErrorKind.INVALID_ARGUMENT_TO_PRIVATE_ENTRY_FUNCTION
            )
