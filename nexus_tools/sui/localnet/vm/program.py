"""Running code: translated functions, linked with each other.

A program is what one package calls: its linkage decides which version of each dependency that is.
A function is linked once for each tuple of type arguments; what it calls is linked when it is first
called.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from nexus_tools.sui.bytecode import MalformedModule, Visibility
from nexus_tools.sui.localnet.framework import FRAMEWORK_VERSION
from nexus_tools.sui.localnet.vm.definitions import Function, ModuleId, count_nodes, substitute
from nexus_tools.sui.localnet.vm.errors import ErrorKind, LinkError, NativeMissing, PrimitiveError
from nexus_tools.sui.localnet.vm.loaded_package import LoadedPackage
from nexus_tools.sui.localnet.vm.metering import TYPE_NODES_MAX, VALUE_DEPTH_MAX
from nexus_tools.sui.localnet.vm.native import AnyNative, Natives
from nexus_tools.sui.localnet.vm.runtime import NAMES, Context
from nexus_tools.sui.localnet.vm.translator import (
    Callee,
    Constant,
    CopyOf,
    Made,
    SizeOf,
    Symbol,
    Translation,
    translate,
    translate_native,
)
from nexus_tools.sui.localnet.vm.types import Types
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import Primitive, TypeTag

TypeArguments = tuple[TypeTag, ...]
Wrapper = Callable[[Callable[..., Any], Function, TypeArguments], Callable[..., Any]]
"""Gives what is to be called in place of a linked function."""

# A program keeps this many linked functions; code that goes on making type arguments gets its
# functions linked anew at every call.
_LINKED_MAX = 20_000


class Translations:
    """Functions that were translated, by storage id, module and name: programs share them."""

    def __init__(self, natives: Natives) -> None:
        self._natives = natives
        self._translations: dict[tuple[Address, str, str], Translation] = {}

    def get(
        self, package: LoadedPackage, function: Function, called: ModuleId | None = None
    ) -> Translation:
        """The translation of a function of the package. Raises `LinkError`.

        `called` is the module by which it is called, if that may be one that its own one extends.
        """
        key = (package.id, function.module.name, function.name)
        found = self._translations.get(key)
        if found is None:
            native = self._native(called or function.module, function)
            module = package.module(function.module.name)
            assert module is not None
            try:
                found = (
                    translate_native(function, native) if native else translate(module, function)
                )
            except MalformedModule as error:  # the code of a module is read only now
                name = f"{package.id.short()}::{function.module.name}::{function.name}"
                raise LinkError(f"{name} is malformed: {error}") from error
            self._translations[key] = found
        return found

    def _native(self, module: ModuleId, function: Function) -> AnyNative | None:
        if not function.is_native:
            return None
        native = self._natives.get((module.address, module.name, function.name))
        if native is None:
            name = f"{module.address.short()}::{module.name}::{function.name}"
            raise NativeMissing(
                f"the native function {name} is not there: the localnet has those of the framework"
                f" {FRAMEWORK_VERSION}"
            )
        return native

    def forget(self, package: Address) -> None:
        """Drop the functions of a package."""
        for key in [key for key in self._translations if key[0] == package]:
            del self._translations[key]


class Program:
    """The linked functions of one linkage; with a `wrapper`, what it makes of each of them."""

    wrapper: Wrapper | None = None

    def __init__(
        self,
        root: LoadedPackage,
        types: Types,
        translations: Translations,
    ) -> None:
        self.linkage = root.linkage
        self._types = types
        self._translations = translations
        self._linked: dict[tuple[ModuleId, str, TypeArguments], Callable[..., Any]] = {}

    def linked(
        self, module: ModuleId, name: str, type_arguments: TypeArguments
    ) -> Callable[..., Any]:
        """A function, ready to be called with (context, room, *arguments). Raises `LinkError`."""
        key = (module, name, type_arguments)
        found = self._linked.get(key)
        if found is None:
            found = self._link(module, name, type_arguments)
            if self.is_full:
                return found
            self._linked[key] = found
        return found

    @property
    def is_full(self) -> bool:
        """Whether no more functions are kept."""
        return len(self._linked) >= _LINKED_MAX

    def _link(
        self, module: ModuleId, name: str, type_arguments: TypeArguments
    ) -> Callable[..., Any]:
        package, function = self._find(module, name)
        translation = self._translations.get(package, function, module)
        names: dict[str, Any] = {**NAMES, "function": function, "calls": translation.calls}
        if function.is_native:
            names["type_arguments"] = type_arguments
        for symbol_name, symbol in translation.symbols.items():
            names[symbol_name] = self._resolve(names, symbol_name, symbol, function, type_arguments)
        linked = FunctionType(translation.code, names, name)
        # Code that has no room left on the stack is called again by this name: see `go_deeper`.
        names["this"] = linked
        checked = self._checked(linked, translation, function, type_arguments)
        return checked if self.wrapper is None else self.wrapper(checked, function, type_arguments)

    def _find(self, module: ModuleId, name: str) -> tuple[LoadedPackage, Function]:
        storage = self.linkage.get(module.address)
        if storage is None:
            raise LinkError(f"the running code is not linked to {module.address.short()}")
        package = self._types.load(storage)
        loaded = package.module(module.name)
        function = None if loaded is None else loaded.function(name)
        if function is None:
            raise LinkError(f"there is no function {storage.short()}::{module.name}::{name}")
        return package, function

    def _resolve(
        self,
        names: dict[str, Any],
        symbol_name: str,
        symbol: Symbol,
        function: Function,
        type_arguments: TypeArguments,
    ) -> Any:
        if isinstance(symbol, Constant):
            return symbol.value
        if isinstance(symbol, Callee):
            return self._first_call(names, symbol_name, symbol, function, type_arguments)
        if isinstance(symbol, Made):
            return _first_use(names, symbol_name, symbol, type_arguments)
        if isinstance(symbol, SizeOf):
            return self._types.sizer(substitute(symbol.type, type_arguments))
        if isinstance(symbol, CopyOf):
            return self._types.copier(substitute(symbol.type, type_arguments))
        element = substitute(symbol.element, type_arguments)
        return bytearray if element is Primitive.U8 else list

    def _first_call(
        self,
        names: dict[str, Any],
        symbol_name: str,
        callee: Callee,
        function: Function,
        type_arguments: TypeArguments,
    ) -> Callable[..., Any]:
        """A function that links the callee when it is called, and gives it its own name.

        Code names many functions that it seldom calls. Once the callee is known, it stands in the
        globals of the caller, and later calls do not come here.
        """

        def link_and_call(*arguments: Any) -> Any:
            concrete = tuple([substitute(t, type_arguments) for t in callee.type_arguments])
            if sum(map(count_nodes, concrete)) > TYPE_NODES_MAX:
                location = function.location(callee.offset)
                raise PrimitiveError(ErrorKind.TOO_MANY_TYPE_NODES, None, location)
            self._check_callee(callee, function)
            linked = self.linked(callee.module, callee.name, concrete)  # type: ignore[arg-type]
            if not self.is_full:
                names[symbol_name] = linked
            return linked(*arguments)

        return link_and_call

    def _check_callee(self, callee: Callee, caller: Function) -> None:
        """Raise `LinkError` if the caller may not call it, or takes it for another function."""
        _, function = self._find(callee.module, callee.name)
        name = f"{callee.module.name}::{callee.name}"
        if function.visibility is Visibility.PRIVATE and callee.module != caller.module:
            raise LinkError(f"{caller.module.name} calls {name}, which is private")
        expected = (callee.parameters, callee.returns, len(callee.type_arguments))
        actual = (function.parameters, function.returns, len(function.type_parameters))
        if expected != actual:
            raise LinkError(f"{caller.module.name} calls {name} with another signature")

    def _checked(
        self,
        linked: Callable[..., Any],
        translation: Translation,
        function: Function,
        type_arguments: TypeArguments,
    ) -> Callable[..., Any]:
        """The function, or one that fails because it would make a value that is nested too deep."""
        for type_, offset in translation.packed:
            concrete = substitute(type_, type_arguments)
            if self._types.depth(concrete) > VALUE_DEPTH_MAX:  # type: ignore[arg-type]
                location = function.location(offset)

                def fail(*_: Any, location: Any = location) -> Any:
                    raise PrimitiveError(ErrorKind.VM_MAX_VALUE_DEPTH_REACHED, None, location)

                return fail
        return linked


def _first_use(
    names: dict[str, Any], symbol_name: str, symbol: Made, type_arguments: TypeArguments
) -> Callable[..., Any]:
    """A function that makes what it stands for when it is called, and gives it its own name."""

    def make_and_call(context: Context, *arguments: Any) -> Any:
        made = names[symbol_name] = symbol.make(context.types, type_arguments)
        return made(context, *arguments)

    return make_and_call
