"""From the types of the chain to the classes of bindings."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from nexus_tools.sui.bcs import Codec
from nexus_tools.sui.bindings.runtime import codecs
from nexus_tools.sui.bindings.runtime.framework import KNOWN
from nexus_tools.sui.bindings.runtime.names import ERRORS, class_name, module_name
from nexus_tools.sui.bindings.runtime.package import Package
from nexus_tools.sui.bindings.runtime.values import MoveError
from nexus_tools.sui.errors import NotFoundError, ValidationError
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.object import MoveObject, Object
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag, VectorTag, short_name

_PRIMITIVES: Mapping[TypeTag, Codec[Any]] = {
    Primitive.BOOL: codecs.boolean,
    Primitive.ADDRESS: codecs.address,
    Primitive.U8: codecs.u8,
    Primitive.U16: codecs.u16,
    Primitive.U32: codecs.u32,
    Primitive.U64: codecs.u64,
    Primitive.U128: codecs.u128,
    Primitive.U256: codecs.u256,
}


class Types:
    """The types that generated bindings have classes for: the Python package `root` has them.

    `modules` are the names of the types by Move module, `events` those that are emitted, as
    `module::Name`. `nested` are the packages generated along, whose bindings are in `root`, too,
    with their ids where all networks have the same.
    """

    def __init__(
        self,
        root: str,
        modules: Mapping[str, Sequence[str]],
        *,
        events: Sequence[str] = (),
        nested: Mapping[str, Address | None] | None = None,
    ) -> None:
        self._root = root
        self.names = frozenset(
            f"{module}::{name}" for module in modules for name in modules[module]
        )
        self.modules = tuple(modules)
        self.events = tuple(events)
        self.nested = dict(nested or {})

    def at(self, package: Package, **nested: Package) -> "Decoder":
        """What decodes objects and events of a published package.

        `nested` say where packages are published whose bindings were generated along. Raises
        `type_unknown` for one that was not.
        """
        if not nested.keys() <= self.nested.keys():
            raise _unknown(", ".join(sorted(nested.keys() - self.nested.keys())))
        known: list[tuple[Types, Package]] = [(self, package)]
        for name, package_id in self.nested.items():
            where = nested.get(name) or (package_id and Package.at(package_id))
            if where:
                known.append((self._nested(name), where))
        return Decoder(known)

    def class_of(self, name: str) -> Any:
        """The class of `module::Name`. Raises `type_unknown`."""
        if name not in self.names:
            raise _unknown(name)
        module, _, datatype = name.partition("::")
        return getattr(self._module(module), class_name(datatype))

    def error_of(self, module: str, abort_code: int) -> MoveError | None:
        """Why a module aborts with a code; None if there are no words for it."""
        if module not in self.modules:
            return None
        errors = _errors(vars(self._module(module)))
        return next((error for error in errors if error.is_of(abort_code)), None)

    def _module(self, name: str) -> Any:
        return import_module(f"{self._root}.{module_name(name)}")

    def _nested(self, name: str) -> "Types":
        types: Types = import_module(f"{self._root}.{name}").TYPES
        return types


class Decoder:
    """Makes values of BCS bytes, by the types that the chain gives with them."""

    def __init__(self, packages: Sequence[tuple[Types, Package]]) -> None:
        self._packages = packages
        self._codecs: dict[TypeTag, Codec[Any]] = dict(_PRIMITIVES)

    def __or__(self, other: "Decoder") -> "Decoder":
        """What decodes the types of both."""
        return Decoder([*self._packages, *other._packages])

    def event(self, event: Event) -> Any | None:
        """An event as a value; None if it is of another package."""
        return self.value(event.type, event.contents) if self.knows(event.type) else None

    def object(self, value: Object | None) -> Any:
        """An object as a value. Raises `object_unknown` if there is none, `type_unknown`."""
        if value is None:
            raise NotFoundError("object_unknown", "there is no object of this id to decode")
        if not isinstance(value.data, MoveObject):
            raise ValidationError("object_is_package", f"{value.id} is a package, not an object")
        return self.value(value.data.type, value.data.contents)

    def value(self, tag: TypeTag, contents: bytes) -> Any:
        """A value of a type. Raises `type_unknown`, or `bcs_invalid` for other bytes."""
        return self.codec(tag).decode(contents)

    def knows(self, tag: StructTag) -> bool:
        """Whether one of the packages defines a type."""
        return self._found(tag) is not None

    def codec(self, tag: TypeTag) -> Codec[Any]:
        """The codec of a type. Raises `type_unknown`."""
        codec = self._codecs.get(tag)
        if codec is None:
            codec = self._codecs[tag] = self._made(tag)
        return codec

    def _made(self, tag: TypeTag) -> Codec[Any]:
        if isinstance(tag, VectorTag):
            is_bytes = tag.element is Primitive.U8
            return codecs.byte_vector if is_bytes else codecs.vector(self.codec(tag.element))
        if not isinstance(tag, StructTag):
            raise _unknown(str(tag))
        known = KNOWN.get(tag.datatype)
        if known is not None:
            return self._applied(getattr(codecs, known.codec), known.takes, tag)
        found = self._found(tag)
        if found is None:
            raise _unknown(short_name(tag))
        return self._applied(found.bcs, found.bcs_takes, tag)

    def _applied(self, codec: Any, takes: Sequence[int], tag: StructTag) -> Codec[Any]:
        if takes:
            codec = codec(*(self.codec(tag.type_params[place]) for place in takes))
        assert isinstance(codec, Codec)
        return codec

    def _found(self, tag: StructTag) -> Any | None:
        """The class of a type."""
        for types, package in self._packages:
            name = package.name_of(tag)
            if name in types.names:
                return types.class_of(name)
        return None


def _errors(names: Mapping[str, Any]) -> tuple[MoveError, ...]:
    """The errors of a module, which stand behind its own names of the kind."""
    found = [each for name, each in names.items() if name.rstrip("_") == ERRORS]
    return next((each for each in found if isinstance(each, tuple)), ())


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(
        "type_unknown",
        f"there are no bindings for {name}",
        hint="generate them with its package, and say where that is published",
    )
