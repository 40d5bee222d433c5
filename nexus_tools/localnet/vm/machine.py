"""The Move VM: functions of published packages, called with Python values."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.vm.abilities import abilities_of
from nexus_tools.localnet.vm.context import Context
from nexus_tools.localnet.vm.definitions import Datatype, Function
from nexus_tools.localnet.vm.errors import (
    ErrorKind,
    ExecutionFailure,
    InvalidCode,
    LinkError,
    OutOfGas,
    PrimitiveError,
)
from nexus_tools.localnet.vm.loaded_module import LoadedModule
from nexus_tools.localnet.vm.loader import LoadedPackage, Loader
from nexus_tools.localnet.vm.metering import VALUE_DEPTH_MAX
from nexus_tools.localnet.vm.native import Natives
from nexus_tools.localnet.vm.program import Program, Translations
from nexus_tools.localnet.vm.runtime import FIRST_FRAMES
from nexus_tools.localnet.vm.serialization import Codecs
from nexus_tools.localnet.vm.types import ReferenceType, StructTag, TypeTag
from nexus_tools.localnet.vm.value_depth import ValueDepth
from nexus_tools.localnet.vm.value_size import Sizer, ValueSize
from nexus_tools.localnet.vm.values import Reference, Value
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import MovePackage


class Machine:
    """Calls functions of packages.

    `natives` are the native functions by (address, module, function); `packages` gives a package by
    its storage id, and is asked once for each. A machine is used by one thread at a time.
    """

    def __init__(self, natives: Natives, packages: Callable[[Address], MovePackage | None]) -> None:
        self._loader = Loader(packages)
        self._translations = Translations(natives)
        self._programs: dict[Address, Program] = {}
        self._depth = ValueDepth(self._require)
        self._sizes = ValueSize(self._require)
        self._codecs = Codecs(self._require, self._check_depth)

    # What packages define

    def package(self, package: Address) -> LoadedPackage | None:
        """A package by its storage id."""
        return self._loader.find(package)

    def modules(self, package: Address) -> Iterator[LoadedModule]:
        """The modules of a package. Raises `LinkError` if there is no such package."""
        return self._loader.load(package).modules()

    def function(self, package: Address, module: str, name: str) -> Function | None:
        """A function of a package that is given by its storage id."""
        loaded = self._loader.find(package)
        found = loaded.module(module) if loaded else None
        return found.function(name) if found else None

    def functions(self, package: Address) -> Iterator[Function]:
        """All functions of a package."""
        for module in self.modules(package):
            yield from module.functions()

    def datatype(self, tag: StructTag) -> Datatype | None:
        """The struct or enum that a type is an instance of."""
        loaded = self._loader.find(tag.address)
        module = loaded.module(tag.module) if loaded else None
        return module.datatype(tag.name) if module else None

    def datatypes(self, package: Address) -> Iterator[Datatype]:
        """All structs and enums of a package."""
        for module in self.modules(package):
            yield from module.datatypes()

    def abilities(self, type_: TypeTag) -> Ability:
        """What values of a type may be used for. Raises `LinkError`."""
        return abilities_of(type_, self._require)

    def source(self, function: Function) -> str:
        """The Python code that a function was translated to."""
        package = self._loader.load(function.package)
        return self._translations.get(package, function).source

    # Execution

    def call(
        self,
        function: Function,
        type_arguments: Sequence[TypeTag],
        arguments: Sequence[Value],
        context: Context,
    ) -> list[Value]:
        """Call a function; the values are moved into it, and its results out of it.

        Raises `ExecutionFailure`. The linkage of the function's package decides which versions of
        its dependencies are called.
        """
        if len(arguments) != len(function.parameters):
            raise LinkError(f"{function.name} takes {len(function.parameters)} arguments")
        if len(type_arguments) != len(function.type_parameters):
            raise LinkError(f"{function.name} takes {len(function.type_parameters)} type arguments")
        program = self._program(function.package)
        room = min(context.frames_left, FIRST_FRAMES)
        if not room:
            raise PrimitiveError(ErrorKind.CALL_STACK_OVERFLOW, None, None)
        context.frames_left -= room
        try:
            linked = program.linked(function.module, function.name, tuple(type_arguments))
            result = linked(context, room, *_spread(function, arguments))
        except (NameError, RecursionError) as error:
            # The bytecode verifier refuses locals without a value and types nested hundreds deep.
            raise InvalidCode(f"{function.name} cannot be executed: {error}") from error
        except OutOfGas:
            raise  # with the functions that were running
        except ExecutionFailure:
            context.meter.settle()  # what was out of gas before it failed is out of gas
            raise
        finally:
            context.frames_left += room
        context.meter.settle()
        return _collect(function, result)

    def _program(self, package: Address) -> Program:
        found = self._programs.get(package)
        if found is None:
            root = self._loader.load(package)
            found = self._programs[package] = Program(
                root,
                self._loader,
                self._translations,
                depth=self._depth,
                sizes=self._sizes,
            )
        return found

    # Values and bytes

    def encode(self, type_: TypeTag, value: Value) -> bytes:
        """The BCS bytes of a value. Raises `LinkError` or `BcsError`."""
        return self._codecs.codec(type_).encode(value)

    def decode(self, type_: TypeTag, data: bytes) -> Value:
        """The value of a type that fills the BCS bytes. Raises `LinkError` or `BcsError`."""
        return self._codecs.codec(type_).decode(data)

    def encoder(self, type_: TypeTag) -> Callable[[Value], bytes]:
        """What gives the BCS bytes of values of a type. Raises `LinkError`."""
        return self._codecs.codec(type_).encode

    def size(self, type_: TypeTag, value: Value) -> int:
        """How many bytes a value counts where it is charged by its size. Raises `LinkError`."""
        return self._sizes.size(type_, value)

    def sizer(self, type_: TypeTag) -> Sizer:
        """What gives the size of values of a type. Raises `LinkError`."""
        return self._sizes.sizer(type_)

    def _check_depth(self, type_: TypeTag) -> None:
        if self._depth.of(type_) > VALUE_DEPTH_MAX:
            raise PrimitiveError(ErrorKind.VM_MAX_VALUE_DEPTH_REACHED, None, None)

    # Packages that are not committed yet

    def publish(self, package: MovePackage) -> None:
        """Make a package known that is not committed yet."""
        self.forget(package.id)
        self._loader.add(package)

    def forget(self, package: Address) -> None:
        """Take a package back, with everything that was worked out from it."""
        self._loader.remove(package)
        self._translations.forget(package)
        self._codecs.forget()
        self._depth.forget()
        self._sizes.forget()
        for root, program in list(self._programs.items()):
            if package in program.linkage.values():
                del self._programs[root]

    def _require(self, tag: StructTag) -> Datatype:
        found = self.datatype(tag)
        if found is None:
            raise LinkError(f"there is no type {tag}")
        if len(found.type_parameters) != len(tag.type_params):
            raise LinkError(f"{found.tag} takes {len(found.type_parameters)} type arguments")
        return found


def _spread(function: Function, arguments: Sequence[Value]) -> Iterator[Any]:
    """The arguments as translated code takes them: of a reference container and key."""
    for type_, argument in zip(function.parameters, arguments, strict=True):
        if isinstance(type_, ReferenceType):
            yield argument.container
            yield argument.key
        else:
            yield argument


def _collect(function: Function, result: Any) -> list[Value]:
    """The results of translated code as a list, references as objects."""
    types = function.returns
    if len(types) == 1 and not isinstance(types[0], ReferenceType):
        return [result]
    parts = iter(result or ())
    return [
        Reference(next(parts), next(parts)) if isinstance(type_, ReferenceType) else next(parts)
        for type_ in types
    ]
