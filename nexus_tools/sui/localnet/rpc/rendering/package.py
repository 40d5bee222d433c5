"""The rendering of packages, and of their functions and datatypes (`sui.rpc.v2.Package`)."""

from nexus_tools.sui.bytecode import Ability, Visibility, original_id
from nexus_tools.sui.localnet.rpc.interface import Mask
from nexus_tools.sui.localnet.vm import (
    Datatype,
    Function,
    LoadedModule,
    ReferenceType,
    Type,
    TypeParameter,
)
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.type_tag import Primitive, StructTag, VectorTag

# The numbers of the enums for `FunctionDescriptor`, `DatatypeDescriptor` and `OpenSignature` in
# `sui.rpc.v2`.
_VISIBILITIES = {Visibility.PRIVATE: 1, Visibility.PUBLIC: 2, Visibility.FRIEND: 3}
_STRUCT, _ENUM = 1, 2
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
    Primitive.SIGNER: 0,  # the interface has no number for this type
}
_VECTOR, _DATATYPE, _TYPE_PARAMETER = 9, 10, 11
_ABILITIES = {Ability.COPY: 1, Ability.DROP: 2, Ability.STORE: 3, Ability.KEY: 4}


def render_package(message: Message, package: MovePackage, mask: Mask) -> None:
    """Fill the requested fields of a package. Modules get only their names and bytes."""
    message.storage_id = str(package.id)
    message.original_id = str(original_id(package))
    message.version = package.version
    if "modules" in mask:
        for name, contents in package.modules:
            message.modules.add(name=name, contents=contents)
    if "type_origins" in mask:
        _render_type_origins(message, package)
    if "linkage" in mask:
        _render_linkage(message, package)


def _render_type_origins(message: Message, package: MovePackage) -> None:
    for origin in package.type_origins:
        message.type_origins.add(
            module_name=origin.module,
            datatype_name=origin.datatype,
            package_id=str(origin.package),
        )


def _render_linkage(message: Message, package: MovePackage) -> None:
    for link in package.linkage:
        message.linkage.add(
            original_id=str(link.original_id),
            upgraded_id=str(link.upgraded_id),
            upgraded_version=link.upgraded_version,
        )


# --- Modules


def render_module(message: Message, module: LoadedModule) -> None:
    """Fill the datatypes and functions of a module. Private functions are included."""
    for datatype in module.datatypes():
        render_datatype(message.datatypes.add(), datatype)
    for function in module.functions():
        render_function(message.functions.add(), function)


def render_function(message: Message, function: Function) -> None:
    """Fill the name, visibility and signature of a function."""
    message.name = function.name
    message.visibility = _VISIBILITIES[function.visibility]
    message.is_entry = function.is_entry
    for constraints in function.type_parameters:
        message.type_parameters.add(constraints=_ability_numbers(constraints))
    for declared in function.parameters:
        _render_signature_type(message.parameters.add(), declared)
    for declared in function.returns:
        _render_signature_type(message.returns.add(), declared)


def render_datatype(message: Message, datatype: Datatype) -> None:
    """Fill the name, abilities and fields of a datatype."""
    message.type_name = str(datatype.tag)
    message.defining_id = str(datatype.tag.address)
    message.module = datatype.tag.module
    message.name = datatype.tag.name
    message.abilities.extend(_ability_numbers(datatype.abilities))
    for parameter in datatype.type_parameters:
        constraints = _ability_numbers(parameter.constraints)
        message.type_parameters.add(constraints=constraints, is_phantom=parameter.is_phantom)
    if datatype.variants is None:
        message.kind = _STRUCT
        _render_fields(message.fields, datatype.fields or ())
        return
    message.kind = _ENUM
    for position, (name, fields) in enumerate(datatype.variants):
        target = message.variants.add(name=name, position=position)
        _render_fields(target.fields, fields)


def _render_fields(messages: Message, fields: tuple[tuple[str, Type], ...]) -> None:
    for position, (name, declared) in enumerate(fields):
        _render_type(messages.add(name=name, position=position).type, declared)


# --- Declared types


def _ability_numbers(abilities: Ability) -> list[int]:
    """Return the numbers of abilities in the RPC interface."""
    return [number for ability, number in _ABILITIES.items() if ability in abilities]


def _render_signature_type(message: Message, declared: Type) -> None:
    """Fill a parameter or result type, which may be a reference."""
    if isinstance(declared, ReferenceType):
        message.reference = _MUTABLE if declared.mutable else _IMMUTABLE
        declared = declared.target
    _render_type(message.body, declared)


def _render_type(message: Message, declared: Type) -> None:
    """Fill a type (`sui.rpc.v2.OpenSignatureBody`)."""
    if isinstance(declared, Primitive):
        message.type = _PRIMITIVES[declared]
    elif isinstance(declared, TypeParameter):
        message.type = _TYPE_PARAMETER
        message.type_parameter = declared.index
    elif isinstance(declared, VectorTag):
        message.type = _VECTOR
        _render_type(message.type_parameter_instantiation.add(), declared.element)
    elif isinstance(declared, StructTag):
        message.type = _DATATYPE
        message.type_name = f"{declared.address}::{declared.module}::{declared.name}"
        for argument in declared.type_params:
            _render_type(message.type_parameter_instantiation.add(), argument)
