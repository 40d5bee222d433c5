"""The check that the first field of a struct with `key` is `id: UID`.

Source: `sui-verifier/src/struct_with_key_verifier.rs`.
"""

from nexus_tools.sui.bytecode import Ability, CompiledModule, DatatypeToken, StructDefinition
from nexus_tools.sui.localnet.verifier.sui.violation import FRAMEWORK_TEXT, token_text, violation
from nexus_tools.sui.types.type_tag import UID

_UID = UID.datatype


def verify_struct_with_key(module: CompiledModule) -> None:
    """Check all structs and enums with the ability `key`. Raises `VerificationError`."""
    for struct in module.struct_definitions:
        if module.datatype_handles[struct.handle].abilities & Ability.KEY:
            _verify_object(module, struct)
    for enum in module.enum_definitions:
        if module.datatype_handles[enum.handle].abilities & Ability.KEY:
            name = module.datatype_id(enum.handle)[2]
            raise violation(
                module,
                f"Enum {name} cannot have the 'key' ability. Enums cannot have the 'key' ability.",
            )


def _verify_object(module: CompiledModule, struct: StructDefinition) -> None:
    name = module.datatype_id(struct.handle)[2]
    if not struct.fields:
        raise violation(module, f"First field of struct {name} must be 'id', no field found")
    first = struct.fields[0]
    field = module.identifiers[first.name]
    if field != "id":
        raise violation(module, f"First field of struct {name} must be 'id', {field} found")
    if isinstance(first.type, DatatypeToken) and not first.type.type_arguments:
        address, *path = module.datatype_id(first.type.handle)
        if (address, *path) == _UID:
            return
        type_name = "::".join([address.hex(), *path])
    else:
        type_name = token_text(first.type)
    raise violation(
        module,
        f"First field of struct {name} must be of type {FRAMEWORK_TEXT}::object::UID,"
        f" {type_name} type found",
    )
