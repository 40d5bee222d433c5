"""A machine that reports its calls to an observer."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from nexus_tools.sui.localnet.vm.definitions import Function, ReferenceType, Type, substitute
from nexus_tools.sui.localnet.vm.machine import Machine
from nexus_tools.sui.localnet.vm.program import Program, TypeArguments
from nexus_tools.sui.localnet.vm.runtime import Context
from nexus_tools.sui.localnet.vm.values.values import Reference, Value
from nexus_tools.sui.types.address import Address


class LinkedFunction(Struct, frozen=True):
    """A function with type arguments. `parameters` and `returns` contain no type parameters."""

    function: Function
    type_arguments: TypeArguments
    parameters: tuple[Type, ...]
    returns: tuple[Type, ...]


class CallObserver(Protocol):
    """An observer of all calls, including calls of native functions.

    An observer must not change the values that it receives.
    """

    def enter(self, callee: LinkedFunction, context: Context, arguments: list[Value]) -> None:
        """Record a call of a function with these arguments."""

    def leave(self, context: Context, results: list[Value]) -> None:
        """Record that the most recently entered function returned these results."""

    def fail(self, context: Context, failure: BaseException) -> None:
        """Record that the most recently entered function failed.

        The callers of the failed function also fail with this error.
        """


class ObservedMachine(Machine):
    """A machine that reports the calls of all functions linked while `observer` is set."""

    observer: CallObserver | None = None

    def _program(self, package: Address) -> Program:
        program = super()._program(package)
        program.wrapper = self._observed
        return program

    def _observed(
        self, linked: Callable[..., Any], function: Function, type_arguments: TypeArguments
    ) -> Callable[..., Any]:
        observer = self.observer
        if observer is None:
            return linked
        parameters = tuple([substitute(type_, type_arguments) for type_ in function.parameters])
        returns = tuple([substitute(type_, type_arguments) for type_ in function.returns])
        callee = LinkedFunction(function, type_arguments, parameters, returns)
        is_value = len(returns) == 1 and not isinstance(returns[0], ReferenceType)

        def observed(context: Context, room: int, *parts: Any) -> Any:
            observer.enter(callee, context, _values(parameters, parts))
            try:
                result = linked(context, room, *parts)
            except BaseException as failure:
                observer.fail(context, failure)
                raise
            observer.leave(context, _values(returns, (result,) if is_value else result or ()))
            return result

        return observed


def _values(types: Sequence[Type], parts: Iterable[Any]) -> list[Value]:
    """Convert the values that translated code passes to Move values, with `Reference` objects."""
    remaining = iter(parts)
    return [
        Reference(next(remaining), next(remaining))
        if isinstance(type_, ReferenceType)
        else next(remaining)
        for type_ in types
    ]
