"""The Move VM, which calls functions of published packages with Python values."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nexus_tools.sui.localnet.vm.definitions import Function, ReferenceType
from nexus_tools.sui.localnet.vm.errors import (
    ErrorKind,
    InvalidCode,
    LinkError,
    MoveFailure,
    OutOfGas,
    PrimitiveError,
)
from nexus_tools.sui.localnet.vm.native import Natives
from nexus_tools.sui.localnet.vm.program import Program, Translations
from nexus_tools.sui.localnet.vm.runtime import FIRST_FRAMES, Context
from nexus_tools.sui.localnet.vm.types import Types
from nexus_tools.sui.localnet.vm.values.values import Reference, Value
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.type_tag import TypeTag


class Machine:
    """A virtual machine for the packages in `types`.

    `natives` maps (address, module, function) to native functions. `packages` returns a package by
    its storage id. The machine calls `packages` once for each package. Only one thread at a time
    may use a machine.
    """

    def __init__(self, natives: Natives, packages: Callable[[Address], MovePackage | None]) -> None:
        self.types = Types(packages, self._forget)
        self._translations = Translations(natives)
        self._programs: dict[Address, Program] = {}

    def call(
        self,
        function: Function,
        type_arguments: Sequence[TypeTag],
        arguments: Sequence[Value],
        context: Context,
    ) -> list[Value]:
        """Call a Move function and return its results.

        The function owns the arguments, and the caller owns the results. The linkage of the
        function's package determines the versions of its dependencies.

        Raises:
            MoveFailure: Execution ended early.
        """
        if len(arguments) != len(function.parameters):
            raise LinkError(f"{function.name} takes {len(function.parameters)} arguments")
        if len(type_arguments) != len(function.type_parameters):
            raise LinkError(f"{function.name} takes {len(function.type_parameters)} type arguments")
        program = self._program(function.package)
        frames = min(context.frames_left, FIRST_FRAMES)
        if not frames:
            raise PrimitiveError(ErrorKind.CALL_STACK_OVERFLOW, None, None)
        context.frames_left -= frames
        try:
            linked = program.linked(function.module, function.name, tuple(type_arguments))
            result = linked(context, frames, *_spread(function, arguments))
        except (NameError, RecursionError) as error:
            # The bytecode verifier rejects both causes: locals without a value and very deeply
            # nested types.
            raise InvalidCode(f"{function.name} cannot be executed: {error}") from error
        except OutOfGas:
            raise  # the traceback must contain the frames of the running functions
        except MoveFailure:
            context.meter.settle()  # raises OutOfGas if the budget was already used up
            raise
        finally:
            context.frames_left += frames
        context.meter.settle()
        return _collect(function, result)

    def _program(self, package: Address) -> Program:
        program = self._programs.get(package)
        if program is None:
            program = Program(self.types.load(package), self.types, self._translations)
            self._programs[package] = program
        return program

    def _forget(self, package: Address) -> None:
        """Drop the programs that use a removed package."""
        for root, program in list(self._programs.items()):
            if package in program.linkage.values():
                del self._programs[root]

    def source(self, function: Function) -> str:
        """Return the Python code of a translated function.

        Raises:
            LinkError: The function cannot be translated.
        """
        package = self.types.load(function.package)
        return self._translations.get(package, function).source


def _spread(function: Function, arguments: Sequence[Value]) -> Iterator[Any]:
    """Yield the arguments for translated code, with a container and a key for each reference."""
    for type_, argument in zip(function.parameters, arguments, strict=True):
        if isinstance(type_, ReferenceType):
            yield argument.container
            yield argument.key
        else:
            yield argument


def _collect(function: Function, result: Any) -> list[Value]:
    """Return the results of translated code as a list, with a `Reference` for each reference."""
    types = function.returns
    if len(types) == 1 and not isinstance(types[0], ReferenceType):
        return [result]
    parts = iter(result or ())
    return [
        Reference(next(parts), next(parts)) if isinstance(type_, ReferenceType) else next(parts)
        for type_ in types
    ]
