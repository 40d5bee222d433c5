"""Fields can do what the abilities of their datatype ask of them.

Source: `move-bytecode-verifier/src/ability_field_requirements.rs`.
"""

from collections.abc import Iterable

from nexus_tools.localnet.bytecode.module import CompiledModule, FieldDefinition
from nexus_tools.localnet.verifier.abilities import ALL, required_of_parts
from nexus_tools.localnet.verifier.errors import VerificationError
from nexus_tools.localnet.verifier.type_table import TypeTable


def verify_fields(module: CompiledModule, types: TypeTable) -> None:
    """Raise `VerificationError` for a field that lacks an ability."""
    for struct in module.struct_definitions:
        _verify(module, types, struct.handle, struct.fields or ())
    for enum in module.enum_definitions:
        for variant in enum.variants:
            _verify(module, types, enum.handle, variant.fields)


def _verify(
    module: CompiledModule, types: TypeTable, handle: int, fields: Iterable[FieldDefinition]
) -> None:
    datatype = module.datatype_handles[handle]
    required = required_of_parts(int(datatype.abilities))
    # Type parameters are asked for their abilities where the datatype is instantiated.
    abilities = types.abilities((ALL,) * len(datatype.type_parameters))
    for field in fields:
        if required & ~abilities.of(types.intern(field.type)):
            name = module.identifiers[datatype.name]
            message = f"the field {module.identifiers[field.name]} of {name} lacks an ability"
            raise VerificationError("FIELD_MISSING_TYPE_ABILITY", message, module.name)
