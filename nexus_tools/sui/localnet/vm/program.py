"""Executable programs, which consist of translated functions linked with each other.

A program belongs to one package, whose linkage selects the version of each dependency. A function
is linked once for each tuple of type arguments. A callee is linked when it is first called.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from nexus_tools.sui.bytecode import MalformedModule, Visibility
from nexus_tools.sui.localnet.framework import FRAMEWORK_VERSION
from nexus_tools.sui.localnet.vm.definitions import Function, ModuleId, count_nodes, substitute
from nexus_tools.sui.localnet.vm.errors import ErrorKind, LinkError, PrimitiveError, UnknownNative
from nexus_tools.sui.localnet.vm.loaded_package import LoadedPackage
from nexus_tools.sui.localnet.vm.metering import TYPE_NODES_MAX, VALUE_DEPTH_MAX
from nexus_tools.sui.localnet.vm.native import AnyNative, Natives
from nexus_tools.sui.localnet.vm.runtime import NAMES, Context
from nexus_tools.sui.localnet.vm.translator import (
    Callee,
    Constant,
    CopyOf,
    LazySymbol,
    SizeOf,
    Symbol,
    Translation,
    translate,
    translate_native,
)
from nexus_tools.sui.localnet.vm.types import Types
from nexus_tools.sui.types.type_tag import Primitive, TypeTag

TypeArguments = tuple[TypeTag, ...]
Wrapper = Callable[[Callable[..., Any], Function, TypeArguments], Callable[..., Any]]
"""A function that returns a replacement for a linked function."""

# A program stores at most this many linked functions and links any other function at every call.
# Only code that continually creates new type arguments reaches this limit.
_LINKED_MAX = 20_000


class Translations:
    """The translated functions of packages, for one table of native functions.

    Each package stores its own translations, so machines that share a package share them too.
    """

    def __init__(self, natives: Natives) -> None:
        self._natives = natives

    def get(
        self, package: LoadedPackage, function: Function, called: ModuleId | None = None
    ) -> Translation:
        """Return the translation of a function of this package.

        `called` is the module to which the caller refers. The function's module may be an extension
        of that module.

        Raises:
            LinkError: The function is malformed, or it is a native function that does not exist.
        """
        native = self._native(called or function.module, function)
        key = (function.module.name, function.name, native)
        translation: Translation | None = package.translations.get(key)
        if translation is None:
            module = package.module(function.module.name)
            assert module is not None
            try:
                translation = (
                    translate_native(function, native) if native else translate(module, function)
                )
            except MalformedModule as error:  # loading the module did not parse the code
                name = f"{package.id.short()}::{function.module.name}::{function.name}"
                raise LinkError(f"{name} is malformed: {error}") from error
            package.translations[key] = translation
        return translation

    def _native(self, module: ModuleId, function: Function) -> AnyNative | None:
        if not function.is_native:
            return None
        native = self._natives.get((module.address, module.name, function.name))
        if native is None:
            name = f"{module.address.short()}::{module.name}::{function.name}"
            raise UnknownNative(
                f"native function {name} does not exist: the localnet has the native functions of"
                f" framework {FRAMEWORK_VERSION}"
            )
        return native


class Program:
    """The linked functions for one package's linkage.

    If `wrapper` is set, each function is wrapped with it.
    """

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
        """Return the linked function, which has the parameters `(context, room, *arguments)`.

        Raises:
            LinkError: The function or its package does not exist.
        """
        key = (module, name, type_arguments)
        function = self._linked.get(key)
        if function is None:
            function = self._link(module, name, type_arguments)
            if self.is_full:
                return function
            self._linked[key] = function
        return function

    @property
    def is_full(self) -> bool:
        """Whether the program has reached its limit of stored functions."""
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
        # If this thread allows no further nested call, the code calls itself by this name in a new
        # thread (see `call_in_new_thread`).
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
            raise LinkError(f"function {storage.short()}::{module.name}::{name} does not exist")
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
        if isinstance(symbol, LazySymbol):
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
        """Return a function that links the callee at the first call and then replaces itself.

        Code refers to many functions that it seldom calls, so linking waits for the first call. The
        linked callee replaces this function in the globals of the caller. Later calls go directly
        to the callee.
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
        """Raise `LinkError` if the callee is private to another module or its signature differs."""
        _, function = self._find(callee.module, callee.name)
        name = f"{callee.module.name}::{callee.name}"
        if function.visibility is Visibility.PRIVATE and callee.module != caller.module:
            raise LinkError(f"{caller.module.name} calls {name}, but that function is private")
        expected = (callee.parameters, callee.returns, len(callee.type_arguments))
        actual = (function.parameters, function.returns, len(function.type_parameters))
        if expected != actual:
            raise LinkError(f"{caller.module.name} calls {name} with a different signature")

    def _checked(
        self,
        linked: Callable[..., Any],
        translation: Translation,
        function: Function,
        type_arguments: TypeArguments,
    ) -> Callable[..., Any]:
        """Return the function, or a failing function if this function nests values too deeply."""
        for type_, offset in translation.packed:
            concrete = substitute(type_, type_arguments)
            if self._types.depth(concrete) > VALUE_DEPTH_MAX:  # type: ignore[arg-type]
                location = function.location(offset)

                def fail(*_: Any, location: Any = location) -> Any:
                    raise PrimitiveError(ErrorKind.VM_MAX_VALUE_DEPTH_REACHED, None, location)

                return fail
        return linked


def _first_use(
    names: dict[str, Any], symbol_name: str, symbol: LazySymbol, type_arguments: TypeArguments
) -> Callable[..., Any]:
    """Return a function whose first call creates a symbol's value and replaces the function."""

    def make_and_call(context: Context, *arguments: Any) -> Any:
        value = names[symbol_name] = symbol.make(context.types, type_arguments)
        return value(context, *arguments)

    return make_and_call
