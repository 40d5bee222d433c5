"""Objects that a transaction names by little more than their ids.

Source: `sui-rpc-api`, `simulate/resolve/mod.rs`. Whether a shared object is used mutably follows
from its uses alone, whatever the client said. Type parameters count as what the call puts in their
place, and `&Receiving` as `Receiving`: no other resolution of these can be executed.
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
    """The live object with the id of an input or a reference. Raises `RpcError`."""
    object_id = address(message, "object_id")
    found = node.ledger.get(object_id)
    if found is None:
        raise not_found(f"Object {object_id} not found")
    return found


def too_large(limit: str, value: int) -> RpcError:
    """More objects are named than a transaction may have."""
    return invalid(
        f"Error checking transaction input objects: Size limit exceeded: {limit} is {value}"
    )


def resolve_reference(found: Object, message: Message) -> ObjectReference:
    """The object as it is now; version and digest, if they are given, have to be these."""
    if not isinstance(found.owner, AddressOwner | Immutable):
        raise invalid(f"object {found.id} is not Immutable or AddressOwned")
    actual = found.reference()
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
    found: Object, message: Message, uses: tuple[Use, ...], functions: CalledFunctions
) -> Input:
    """An object of which the client did not say how it is used."""
    if isinstance(found.owner, Shared | ConsensusAddressOwner):
        return resolve_shared(found, uses, functions)
    if isinstance(found.owner, ObjectOwner):
        raise invalid(f"object {found.id} is object owned and cannot be used as an input")
    reference = resolve_reference(found, message)
    if isinstance(found.owner, AddressOwner) and _is_received(uses, functions):
        return ReceivingObject(reference)
    return OwnedObject(reference)


def resolve_shared(
    found: Object, uses: tuple[Use, ...], functions: CalledFunctions
) -> SharedObject:
    """An object that consensus orders, mutable if a use of it needs that."""
    owner = found.owner
    if isinstance(owner, Shared):
        start = owner.initial_version
    elif isinstance(owner, ConsensusAddressOwner):
        start = owner.start_version
    else:
        raise invalid(f"object {found.id} is not a shared or consensus object")
    mutable = any(_is_mutable(use, functions) for use in uses)
    return SharedObject(found.id, start, mutable)


def _is_mutable(use: Use, functions: CalledFunctions) -> bool:
    declared = _declared(use, functions)
    if isinstance(declared, ReferenceType):
        return declared.mutable
    return isinstance(declared, StructTag) or use.role in _MUTABLE_ROLES


def _is_received(uses: tuple[Use, ...], functions: CalledFunctions) -> bool:
    wanted = (_dereferenced(_declared(use, functions)) for use in uses)
    return any(isinstance(each, StructTag) and each.datatype == RECEIVING for each in wanted)


def _dereferenced(declared: Type | None) -> Type | None:
    return declared.target if isinstance(declared, ReferenceType) else declared


def _declared(use: Use, functions: CalledFunctions) -> Type | None:
    """The type of the parameter that the input is for, if it is for one."""
    if not isinstance(use.command, MoveCall):
        return None
    declared = functions.parameter(use.command, use.position)
    given = use.command.type_arguments
    if isinstance(declared, TypeParameter) and declared.index < len(given):
        return given[declared.index]
    return declared
