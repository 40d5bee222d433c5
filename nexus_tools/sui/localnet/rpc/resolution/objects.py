"""The resolution of objects that a transaction names only by ID.

Source: `sui-rpc-api`, `simulate/resolve/mod.rs`. Unlike in Sui's implementation, the uses of a
shared object determine its mutability, and `&Receiving` is treated as `Receiving`. Without these
two differences, the transactions could not be executed.
"""

from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.interface import RpcError, invalid, not_found
from nexus_tools.sui.localnet.rpc.requests import address, digest
from nexus_tools.sui.localnet.rpc.resolution.uses import CalledFunctions, Role, Use
from nexus_tools.sui.localnet.vm import ReferenceType, Type, TypeParameter
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    Object,
    ObjectOwner,
    ObjectReference,
    Shared,
)
from nexus_tools.sui.types.transaction import (
    Input,
    MoveCall,
    OwnedObject,
    ReceivingObject,
    SharedObject,
)
from nexus_tools.sui.types.type_tag import RECEIVING, StructTag

_MUTABLE_ROLES = frozenset({Role.COIN, Role.AMOUNT, Role.ELEMENT, Role.TRANSFERRED})


def find_object(node: Node, message: Message) -> Object:
    """Return the live object of an input or a reference.

    Raises:
        RpcError: NOT_FOUND.
    """
    object_id = address(message, "object_id")
    value = node.ledger.get(object_id)
    if value is None:
        raise not_found(f"Object {object_id} not found")
    return value


def too_large(limit: str, value: int) -> RpcError:
    """Return the error for a transaction with too many objects."""
    return invalid(
        f"Error checking transaction input objects: Size limit exceeded: {limit} is {value}"
    )


def resolve_reference(value: Object, message: Message) -> ObjectReference:
    """Return the current reference of an object.

    If the message contains a version or a digest, they must match the object.
    """
    if not isinstance(value.owner, AddressOwner | Immutable):
        raise invalid(f"object {value.id} is not Immutable or AddressOwned")
    actual = value.reference()
    if message.HasField("version") and message.version != actual.version:
        raise invalid(
            f"provided version doesn't match, provided: Some({message.version})"
            f" actual: {actual.version:#x}"
        )
    if message.HasField("digest") and (provided := digest(message, "digest")) != actual.digest:
        raise invalid(
            f'provided digest doesn\'t match, provided: Some(Digest("{provided}"))'
            f" actual: {actual.digest}"
        )
    return actual


def resolve_object(
    value: Object, message: Message, uses: tuple[Use, ...], functions: CalledFunctions
) -> Input:
    """Return the input for an object if the client did not specify the kind of input."""
    if isinstance(value.owner, Shared | ConsensusAddressOwner):
        return resolve_shared(value, uses, functions)
    if isinstance(value.owner, ObjectOwner):
        raise invalid(f"object {value.id} is object owned and cannot be used as an input")
    reference = resolve_reference(value, message)
    if isinstance(value.owner, AddressOwner) and _is_received(uses, functions):
        return ReceivingObject(reference)
    return OwnedObject(reference)


def resolve_shared(
    value: Object, uses: tuple[Use, ...], functions: CalledFunctions
) -> SharedObject:
    """Return the input for a consensus object. The input is mutable if a use requires it."""
    owner = value.owner
    if isinstance(owner, Shared):
        start = owner.initial_version
    elif isinstance(owner, ConsensusAddressOwner):
        start = owner.start_version
    else:
        raise invalid(f"object {value.id} is not a shared or consensus object")
    mutable = any(_is_mutable(use, functions) for use in uses)
    return SharedObject(value.id, start, mutable)


def _is_mutable(use: Use, functions: CalledFunctions) -> bool:
    declared = _declared(use, functions)
    if isinstance(declared, ReferenceType):
        return declared.mutable
    return isinstance(declared, StructTag) or use.role in _MUTABLE_ROLES


def _is_received(uses: tuple[Use, ...], functions: CalledFunctions) -> bool:
    parameter_types = (_dereferenced(_declared(use, functions)) for use in uses)
    return any(
        isinstance(parameter_type, StructTag) and parameter_type.datatype == RECEIVING
        for parameter_type in parameter_types
    )


def _dereferenced(declared: Type | None) -> Type | None:
    return declared.target if isinstance(declared, ReferenceType) else declared


def _declared(use: Use, functions: CalledFunctions) -> Type | None:
    """Return the type of the parameter that a Move call passes the input to, or None."""
    if not isinstance(use.command, MoveCall):
        return None
    declared = functions.parameter(use.command, use.position)
    type_arguments = use.command.type_arguments
    if isinstance(declared, TypeParameter) and declared.index < len(type_arguments):
        return type_arguments[declared.index]
    return declared
