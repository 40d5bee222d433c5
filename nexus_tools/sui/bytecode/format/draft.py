"""A partially read module: the tables read so far, which later tables refer to."""

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
    """The tables of a module, against which the reader checks the indices in later tables.

    `signature_arities[i]` is the number of type parameters that a user of signature `i` needs. This
    number is one more than the highest type parameter index in the signature. Checks use it, so
    they do not traverse the signature again.
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
