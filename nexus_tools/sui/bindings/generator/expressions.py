"""Move types as Python code: annotations, codecs, and type tags."""

from collections.abc import Sequence

from nexus_tools.sui.bindings.generator.contents import EnumContents, TypeParameter
from nexus_tools.sui.bindings.generator.framework import FRAMEWORK_NAMES
from nexus_tools.sui.bindings.generator.layout import Expression, Group, Text, call
from nexus_tools.sui.bindings.generator.move_types import (
    MoveType,
    NamedType,
    Parameter,
    Vector,
    used_parameters,
)
from nexus_tools.sui.bindings.generator.plan import Place, Plan
from nexus_tools.sui.bindings.generator.scope import Scope
from nexus_tools.sui.bindings.runtime.framework import KNOWN
from nexus_tools.sui.bindings.runtime.names import class_name, module_name
from nexus_tools.sui.types.type_tag import OPTION

_PRIMITIVES = {"bool": ("bool", "boolean"), "address": ("Address", "address")} | {
    f"u{bits}": ("int", f"u{bits}") for bits in (8, 16, 32, 64, 128, 256)
}


class Expressions:
    """A writer of Python type expressions for one generated module.

    In the methods, `type_names` are the Python names for the type parameters of the declaration.
    """

    def __init__(self, plan: Plan, place: Place, module: str, scope: Scope) -> None:
        self._plan = plan
        self._place = place
        self._module = module
        self.scope = scope

    # --- Annotations

    def annotation(self, move_type: MoveType, type_names: Sequence[str]) -> str:
        """Return the Python annotation for values of a Move type."""
        if isinstance(move_type, Vector):
            if move_type.element == "u8":
                return "bytes"
            return f"tuple[{self.annotation(move_type.element, type_names)}, ...]"
        if isinstance(move_type, Parameter):
            return type_names[move_type.index]
        if isinstance(move_type, str):
            python = _PRIMITIVES[move_type][0]
            return self.scope.use(python) if python == "Address" else python
        assert isinstance(move_type, NamedType)
        return self._named(move_type, type_names)

    def _named(self, named: NamedType, type_names: Sequence[str]) -> str:
        arguments = {
            index: self.annotation(named.arguments[index], type_names) for index in named.takes
        }
        known_type = KNOWN.get(named.id)
        if known_type is None:
            name, order = self._class(named), named.takes
            definition = self._plan.definition(named)
            if isinstance(definition, EnumContents):
                name, order = f"{name}.Variant", variant_parameters(definition)
            inner = ", ".join(arguments[index] for index in order)
            return f"{name}[{inner}]" if inner else name
        if is_nested_option(named):
            return f"tuple[{arguments[0]}, ...]"
        annotations = [arguments.get(index, "") for index in range(len(named.arguments))]
        imported = self.scope.use(known_type.imported) if known_type.imported else ""
        return known_type.python.format(*annotations, imported=imported)

    def _class(self, named: NamedType) -> str:
        """Return the name of a type's class, prefixed with its module if it is another module."""
        name = class_name(named.name)
        if named.address == self._place.address and named.module == self._module:
            return name
        return f"{self._module_of(named)}.{name}"

    def _module_of(self, named: NamedType) -> str:
        here, there = self._place.folder, self._plan.place_of(named.address).folder
        name = module_name(named.module)
        # Python mangles names with two leading underscores inside a class, so remove underscores.
        plain = name.lstrip("_")
        if here == there:
            return self.scope.sibling(".", name, f"_{plain}")
        parent = f"..{there}" if here else f".{there}"
        return self.scope.sibling(parent, name, f"_{there}_{plain}" if there else f"_root_{plain}")

    # --- Codecs

    def codec(self, move_type: MoveType, type_names: Sequence[str]) -> Expression:
        """Return the codec of a Move type.

        `type_names` are the names of the type parameters' codecs.
        """
        bcs = self.scope.codecs()
        if isinstance(move_type, Vector):
            if move_type.element == "u8":
                return f"{bcs}.byte_vector"
            return call(f"{bcs}.vector", self.codec(move_type.element, type_names))
        if isinstance(move_type, Parameter):
            return type_names[move_type.index]
        if isinstance(move_type, str):
            return f"{bcs}.{_PRIMITIVES[move_type][1]}"
        assert isinstance(move_type, NamedType)
        arguments = [self.codec(argument, type_names) for argument in move_type.held]
        known_type = KNOWN.get(move_type.id)
        name = f"{bcs}.{known_type.codec}" if known_type else f"{self._class(move_type)}.bcs"
        if is_nested_option(move_type):
            name = f"{bcs}.vector"
        takes = known_type.takes if known_type else move_type.takes
        return call(name, *arguments) if takes else name

    # --- Tags

    def tag(self, move_type: MoveType, type_names: Sequence[str]) -> Expression | None:
        """Return the type tag for a function's type, or None if the type is of another package.

        A caller passes only the published package that contains the function. The framework has the
        same addresses on all networks. For other packages, the bytecode may contain placeholder
        addresses of the compiler.
        """
        if isinstance(move_type, Parameter):
            return type_names[move_type.index]
        if isinstance(move_type, str):
            return f"{self.scope.use('Primitive')}.{move_type.upper()}"
        if isinstance(move_type, Vector):
            element = self.tag(move_type.element, type_names)
            return None if element is None else call(self.scope.use("VectorTag"), element)
        assert isinstance(move_type, NamedType)
        return self._named_tag(move_type, type_names)

    def _named_tag(self, named: NamedType, type_names: Sequence[str]) -> Expression | None:
        arguments = [self.tag(argument, type_names) for argument in named.arguments]
        tags = tuple(argument for argument in arguments if argument is not None)
        if len(tags) < len(arguments):
            return None
        if self._place.defines(named):
            return call("package.type_tag", Text(f"{named.module}::{named.name}"), *tags)
        if named.address not in FRAMEWORK_NAMES:
            return None
        number = int.from_bytes(named.address, "big")
        address = f"{self.scope.use('Address')}.of({number:#x})"
        parameters = [Group("", "()", tags)] if tags else []
        tag = self.scope.use("StructTag")
        return call(tag, address, Text(named.module), Text(named.name), *parameters)


def variant_parameters(enum: EnumContents) -> tuple[int, ...]:
    """Return the indices of the type parameters that an enum's variants use.

    The indices are in the order of first use.
    """
    indices: dict[int, None] = {}
    for variant in enum.variants:
        indices |= dict.fromkeys(sorted(used_parameters(variant.types)))
    return tuple(indices)


def held_parameters(parameters: Sequence[TypeParameter]) -> tuple[int, ...]:
    """Return the indices of the type parameters that are not phantom."""
    return tuple(index for index, parameter in enumerate(parameters) if not parameter.is_phantom)


def is_nested_option(move_type: NamedType) -> bool:
    """Return whether a type is an option of an option, for which None would be ambiguous.

    `some(none)` and `none` would both be None. As tuples, these values are `(None,)` and `()`.
    """
    inner = move_type.arguments[0] if move_type.arguments else None
    return move_type.id == OPTION and isinstance(inner, NamedType) and inner.id == OPTION
