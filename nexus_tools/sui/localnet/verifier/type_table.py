"""The types of one module, interned so that equal types are the same object.

The table finds a type by the identities of its parts, and the abilities of a type by its identity.
So the time to compare two types, or to replace type parameters in a known type, does not depend on
the size of the types.

Source of the abilities: `move-bytecode-verifier/src/ability_cache.rs`.

For example, if two signatures contain `vector<Coin<T0>>`, `intern` returns the same object for both
tokens. If the type arguments are the signature `[u64]`, `substitute` always returns the same object
for `vector<Coin<u64>>`.
"""

from collections.abc import Sequence

from msgspec import Struct

from nexus_tools.sui.bytecode import (
    PRIMITIVE_ABILITIES,
    PRIMITIVES,
    REFERENCE_ABILITIES,
    SIGNER,
    SIGNER_ABILITIES,
    CompiledModule,
    DatatypeToken,
    ReferenceToken,
    Signature,
    SignatureToken,
    TypeParameterToken,
    VariantDefinition,
    VectorToken,
    abilities_of_datatype,
    abilities_of_vector,
)

NO_ARGUMENTS = -1


class Abilities:
    """The abilities of types in a context in which the type parameters have known abilities.

    The cache identifies a type by `id`, which is also fast for large types. A type must outlive
    this object, because another type could reuse its memory address.
    """

    def __init__(self, module: CompiledModule, type_parameters: Sequence[int]) -> None:
        self._datatypes = module.datatype_handles
        self._type_parameters = type_parameters
        self._known: dict[int, int] = {}

    def of(self, token: SignatureToken) -> int:
        """Return the abilities of a type."""
        abilities = self._known.get(id(token))
        if abilities is None:
            abilities = self._of(token)
            self._known[id(token)] = abilities
        return abilities

    def _of(self, token: SignatureToken) -> int:
        if isinstance(token, str):
            return SIGNER_ABILITIES if token == SIGNER else PRIMITIVE_ABILITIES
        if isinstance(token, ReferenceToken):
            return REFERENCE_ABILITIES
        if isinstance(token, TypeParameterToken):
            return self._type_parameters[token.index]
        if isinstance(token, VectorToken):
            return abilities_of_vector(self.of(token.element))
        return self._of_datatype(token)

    def _of_datatype(self, token: DatatypeToken) -> int:
        handle = self._datatypes[token.handle]
        parameters = zip(token.type_arguments, handle.type_parameters, strict=True)
        arguments = [
            self.of(argument) for argument, parameter in parameters if not parameter.is_phantom
        ]
        return abilities_of_datatype(int(handle.abilities), arguments)


class TypeTable:
    """The interned types of a module."""

    def __init__(self, module: CompiledModule) -> None:
        self._module = module
        self._primitives: dict[str, SignatureToken] = {name: name for name in PRIMITIVES}
        self._types: dict[tuple[object, ...], SignatureToken] = {}
        self._sizes: dict[int, int] = {id(name): 1 for name in PRIMITIVES}
        self._signatures: dict[int, Signature] = {NO_ARGUMENTS: ()}
        self._substituted: dict[tuple[int, int], SignatureToken] = {}
        self._abilities: dict[tuple[int, ...], Abilities] = {}
        self._written: dict[int, tuple[SignatureToken, SignatureToken]] = {}

    def size(self, type_: SignatureToken) -> int:
        """Return the number of nodes in the tree of a type of this table."""
        return self._sizes[id(type_)]

    def abilities(self, type_parameters: tuple[int, ...]) -> Abilities:
        """Return the abilities of types if the type parameters have these abilities."""
        abilities = self._abilities.get(type_parameters)
        if abilities is None:
            abilities = Abilities(self._module, type_parameters)
            self._abilities[type_parameters] = abilities
        return abilities

    def signature(self, index: int) -> Signature:
        """Return the types of a signature of the module, or () for `NO_ARGUMENTS`."""
        types = self._signatures.get(index)
        if types is None:
            types = tuple([self.intern(token) for token in self._module.signatures[index]])
            self._signatures[index] = types
        return types

    def reference(self, target: SignatureToken, *, mutable: bool) -> SignatureToken:
        """Return the type of a reference to a type of this table."""
        key = (mutable, id(target))
        type_ = self._types.get(key)
        return type_ or self._add(key, ReferenceToken(target, mutable), 1 + self.size(target))

    def vector(self, element: SignatureToken) -> SignatureToken:
        """Return the type of a vector with an element type of this table."""
        key = ("vector", id(element))
        type_ = self._types.get(key)
        return type_ or self._add(key, VectorToken(element), 1 + self.size(element))

    def datatype(self, handle: int, arguments: Signature) -> SignatureToken:
        """Return a struct or enum with type arguments of this table."""
        key = ("datatype", handle, *map(id, arguments))
        type_ = self._types.get(key)
        size = 1 + sum(map(self.size, arguments)) if type_ is None else 0
        return type_ or self._add(key, DatatypeToken(handle, arguments), size)

    def intern(self, token: SignatureToken) -> SignatureToken:
        """Return the interned type that equals a type of the module."""
        if isinstance(token, str):
            return self._primitives[token]
        entry = self._written.get(id(token))
        if entry is not None:
            return entry[1]
        type_ = self._intern(token)
        # The entry also stores the token, so that no other object can get its identity.
        self._written[id(token)] = (token, type_)
        return type_

    def substitute(self, token: SignatureToken, arguments: int) -> SignatureToken:
        """Replace the type parameters in an interned type with the types of a signature."""
        if isinstance(token, str) or arguments == NO_ARGUMENTS:
            return token
        key = (id(token), arguments)
        type_ = self._substituted.get(key)
        if type_ is None:
            type_ = self._substitute(token, arguments)
            self._substituted[key] = type_
        return type_

    def _add(self, key: tuple[object, ...], type_: SignatureToken, size: int) -> SignatureToken:
        self._types[key] = type_
        self._sizes[id(type_)] = size
        return type_

    def _intern(self, token: SignatureToken) -> SignatureToken:
        if isinstance(token, ReferenceToken):
            return self.reference(self.intern(token.target), mutable=token.mutable)
        if isinstance(token, VectorToken):
            return self.vector(self.intern(token.element))
        if isinstance(token, DatatypeToken):
            arguments = tuple([self.intern(argument) for argument in token.type_arguments])
            return self.datatype(token.handle, arguments)
        assert isinstance(token, TypeParameterToken)
        key = ("parameter", token.index)
        return self._types.get(key) or self._add(key, token, 1)

    def _substitute(self, token: SignatureToken, arguments: int) -> SignatureToken:
        if isinstance(token, TypeParameterToken):
            return self.signature(arguments)[token.index]
        if isinstance(token, ReferenceToken):
            target = self.substitute(token.target, arguments)
            return self.reference(target, mutable=token.mutable)
        if isinstance(token, VectorToken):
            return self.vector(self.substitute(token.element, arguments))
        assert isinstance(token, DatatypeToken)
        inner = [self.substitute(argument, arguments) for argument in token.type_arguments]
        return self.datatype(token.handle, tuple(inner))


class NamedVariant(Struct, frozen=True):
    """A variant of an enum.

    `enum` is the index of the enum's definition. `type_arguments` is the index of the signature.
    """

    enum: int
    tag: int
    type_arguments: int
    definition: VariantDefinition


def variant_of(module: CompiledModule, index: int) -> NamedVariant:
    """Return the variant of a variant handle."""
    handle = module.variant_handles[index]
    definition = module.enum_definitions[handle.enum].variants[handle.tag]
    return NamedVariant(handle.enum, handle.tag, NO_ARGUMENTS, definition)


def instantiated_variant(module: CompiledModule, index: int) -> NamedVariant:
    """Return the variant of a variant instantiation."""
    handle = module.variant_instantiations[index]
    enum = module.enum_instantiations[handle.enum]
    definition = module.enum_definitions[enum.target].variants[handle.tag]
    return NamedVariant(enum.target, handle.tag, enum.type_arguments, definition)
