"""Types as functions and datatypes declare them (`sui.rpc.v2.OpenSignature`)."""

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.rpc.messages import Message
from nexus_tools.localnet.vm import ReferenceType, Type, TypeParameter
from nexus_tools.sui.type_tag import Primitive, StructTag, VectorTag

_IMMUTABLE, _MUTABLE = 1, 2
_PRIMITIVES = {
    Primitive.ADDRESS: 1,
    Primitive.BOOL: 2,
    Primitive.U8: 3,
    Primitive.U16: 4,
    Primitive.U32: 5,
    Primitive.U64: 6,
    Primitive.U128: 7,
    Primitive.U256: 8,
    Primitive.SIGNER: 0,  # has no number: unknown
}
_VECTOR, _DATATYPE, _TYPE_PARAMETER = 9, 10, 11
_ABILITIES = {Ability.COPY: 1, Ability.DROP: 2, Ability.STORE: 3, Ability.KEY: 4}


def ability_numbers(abilities: Ability) -> list[int]:
    """The abilities as the interface numbers them."""
    return [number for ability, number in _ABILITIES.items() if ability in abilities]


def render_signature_type(message: Message, declared: Type) -> None:
    """A parameter or a result: a type, perhaps behind a reference."""
    if isinstance(declared, ReferenceType):
        message.reference = _MUTABLE if declared.mutable else _IMMUTABLE
        declared = declared.target
    render_type(message.body, declared)


def render_type(message: Message, declared: Type) -> None:
    """A type (`sui.rpc.v2.OpenSignatureBody`)."""
    if isinstance(declared, Primitive):
        message.type = _PRIMITIVES[declared]
    elif isinstance(declared, TypeParameter):
        message.type = _TYPE_PARAMETER
        message.type_parameter = declared.index
    elif isinstance(declared, VectorTag):
        message.type = _VECTOR
        render_type(message.type_parameter_instantiation.add(), declared.element)
    elif isinstance(declared, StructTag):
        message.type = _DATATYPE
        message.type_name = f"{declared.address}::{declared.module}::{declared.name}"
        for argument in declared.type_params:
            render_type(message.type_parameter_instantiation.add(), argument)
