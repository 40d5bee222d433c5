"""A partially read module: the tables that the reader has read so far."""

from collections.abc import Sequence

from msgspec import Struct

from nexus_tools.sui.bytecode.module import (
    Constant,
    DatatypeHandle,
    EnumDefinition,
    FieldHandle,
    FunctionHandle,
    Instantiation,
    ModuleHandle,
    StructDefinition,
    VariantHandle,
)
from nexus_tools.sui.bytecode.token import Signature


class Draft(Struct):
    """The tables that were read so far, which the reader needs to check indices in later tables.

    `signature_arities[i]` is the number of type parameters that a user of signature `i` must
    declare. This number is one more than the highest type parameter index in the signature. The
    number is stored so that checks need not traverse the signature again.
    """

    version: int
    identifiers: Sequence[str] = ()
    addresses: Sequence[bytes] = ()
    module_handles: Sequence[ModuleHandle] = ()
    datatype_handles: Sequence[DatatypeHandle] = ()
    signatures: Sequence[Signature] = ()
    signature_arities: Sequence[int] = ()
    constants: Sequence[Constant] = ()
    function_handles: Sequence[FunctionHandle] = ()
    function_instantiations: Sequence[Instantiation] = ()
    struct_definitions: Sequence[StructDefinition] = ()
    struct_instantiations: Sequence[Instantiation] = ()
    field_handles: Sequence[FieldHandle] = ()
    field_instantiations: Sequence[Instantiation] = ()
    enum_definitions: Sequence[EnumDefinition] = ()
    enum_instantiations: Sequence[Instantiation] = ()
    variant_handles: Sequence[VariantHandle] = ()
    variant_instantiations: Sequence[VariantHandle] = ()
