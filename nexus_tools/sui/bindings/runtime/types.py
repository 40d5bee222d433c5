"""The mapping from on-chain types to the classes of bindings."""

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
    """The Move types with generated classes. `root` is the Python package with the bindings.

    `modules` maps each Move module to the names of its types. `events` are the types of
    events, as `module::Name`. `nested` maps the name of each other package with bindings inside
    `root` to the package's ID if the ID is the same on all networks, or else to None.
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
        """Return the decoder of objects and events of a published package.

        `nested` are the published packages whose bindings are inside these bindings, by name.
        Raises `type_unknown` for any other name.
        """
        if not nested.keys() <= self.nested.keys():
            raise _unknown(", ".join(sorted(nested.keys() - self.nested.keys())))
        packages: list[tuple[Types, Package]] = [(self, package)]
        for name, package_id in self.nested.items():
            where = nested.get(name) or (package_id and Package.at(package_id))
            if where:
                packages.append((self._nested(name), where))
        return Decoder(packages)

    def class_of(self, name: str) -> Any:
        """Return the class of `module::Name`. Raises `type_unknown`."""
        if name not in self.names:
            raise _unknown(name)
        module, _, datatype = name.partition("::")
        return getattr(self._module(module), class_name(datatype))

    def error_of(self, module: str, abort_code: int) -> MoveError | None:
        """Return a module's error with an abort code, or None if the code is unknown."""
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
    """A decoder of BCS bytes by on-chain type."""

    def __init__(self, packages: Sequence[tuple[Types, Package]]) -> None:
        self._packages = packages
        self._codecs: dict[TypeTag, Codec[Any]] = dict(_PRIMITIVES)

    def __or__(self, other: "Decoder") -> "Decoder":
        """Return a decoder that can decode the types of both decoders."""
        return Decoder([*self._packages, *other._packages])

    def event(self, event: Event) -> Any | None:
        """Return the Python value of an event, or None if another package defines the event."""
        return self.value(event.type, event.contents) if self.knows(event.type) else None

    def object(self, value: Object | None) -> Any:
        """Return the Python value of an object.

        Raises `object_unknown` for None, `object_is_package` for a package, or `type_unknown`.
        """
        if value is None:
            raise NotFoundError("object_unknown", "the object to decode does not exist")
        if not isinstance(value.data, MoveObject):
            raise ValidationError("object_is_package", f"{value.id} is a package, not an object")
        return self.value(value.data.type, value.data.contents)

    def value(self, tag: TypeTag, contents: bytes) -> Any:
        """Decode a value of a type.

        Raises `type_unknown`, or `bcs_invalid` if the bytes are invalid.
        """
        return self.codec(tag).decode(contents)

    def knows(self, tag: StructTag) -> bool:
        """Return whether one of the packages defines a type."""
        return self._found(tag) is not None

    def codec(self, tag: TypeTag) -> Codec[Any]:
        """Return the codec of a type. Raises `type_unknown`."""
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
        known_type = KNOWN.get(tag.datatype)
        if known_type is not None:
            return self._applied(getattr(codecs, known_type.codec), known_type.takes, tag)
        binding = self._found(tag)
        if binding is None:
            raise _unknown(short_name(tag))
        return self._applied(binding.bcs, binding.bcs_takes, tag)

    def _applied(self, codec: Any, takes: Sequence[int], tag: StructTag) -> Codec[Any]:
        if takes:
            codec = codec(*(self.codec(tag.type_params[index]) for index in takes))
        assert isinstance(codec, Codec)
        return codec

    def _found(self, tag: StructTag) -> Any | None:
        """Return the class of a type, or None if none of the packages defines it."""
        for types, package in self._packages:
            name = package.name_of(tag)
            if name in types.names:
                return types.class_of(name)
        return None


def _errors(names: Mapping[str, Any]) -> tuple[MoveError, ...]:
    """Return the errors in a generated module's namespace.

    The name of the tuple is `ERRORS`, possibly with trailing underscores.
    """
    candidates = [value for name, value in names.items() if name.rstrip("_") == ERRORS]
    return next((value for value in candidates if isinstance(value, tuple)), ())


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(
        "type_unknown",
        f"bindings for {name} do not exist",
        hint="Generate the missing bindings too, and pass the published package.",
    )
