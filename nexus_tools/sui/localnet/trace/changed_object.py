"""The change of one object by a transaction."""

from enum import StrEnum

from msgspec import Struct

from nexus_tools.sui.localnet.ledger import ExecutedTransaction
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.effects import (
    AccumulatorWrite,
    IdOperation,
    InputState,
    ObjectChange,
    ObjectWrite,
    PackageWrite,
)
from nexus_tools.sui.types.object import AddressOwner, Immutable, Owner
from nexus_tools.sui.types.type_tag import TypeTag


class ChangeKind(StrEnum):
    """The kind of a change. `TRANSFERRED` means that the owner changed.

    `ACCUMULATED` is a change of an address balance or an event stream instead of an object. The
    owner of an accumulated change is the address.
    """

    CREATED = "created"
    MUTATED = "mutated"
    TRANSFERRED = "transferred"
    WRAPPED = "wrapped"
    UNWRAPPED = "unwrapped"
    DELETED = "deleted"
    UNWRAPPED_THEN_DELETED = "unwrapped_then_deleted"
    CREATED_THEN_WRAPPED = "created_then_wrapped"
    PUBLISHED = "published"
    ACCUMULATED = "accumulated"


class ChangedObject(Struct, frozen=True):
    """The state of an object before and after a transaction."""

    kind: ChangeKind
    object_id: Address
    type: TypeTag | None
    version_before: int | None = None
    owner_before: Owner | None = None
    version: int | None = None
    owner: Owner | None = None


# The keys are whether the object existed before, whether it exists after, and the operation on its
# ID.
_KINDS = {
    (False, True, IdOperation.CREATED): ChangeKind.CREATED,
    (False, True, IdOperation.NONE): ChangeKind.UNWRAPPED,
    (True, False, IdOperation.DELETED): ChangeKind.DELETED,
    (True, False, IdOperation.NONE): ChangeKind.WRAPPED,
    (False, False, IdOperation.DELETED): ChangeKind.UNWRAPPED_THEN_DELETED,
    (False, False, IdOperation.CREATED): ChangeKind.CREATED_THEN_WRAPPED,
}


def changed_objects(executed: ExecutedTransaction) -> tuple[ChangedObject, ...]:
    """Return the objects that a transaction changed, in the order of its effects."""
    types = {value.id: value.type for value in executed.input_objects}
    types.update((value.id, value.type) for value in executed.output_objects)
    version = executed.effects.lamport_version
    return tuple(
        _changed(object_id, change, types.get(object_id), version)
        for object_id, change in executed.effects.changed_objects
    )


def _changed(
    object_id: Address, change: ObjectChange, type_: TypeTag | None, lamport_version: int
) -> ChangedObject:
    before = change.input if isinstance(change.input, InputState) else None
    version_before = before.version if before else None
    owner_before = before.owner if before else None
    kind, output = _kind(change), change.output
    version: int | None = None
    owner: Owner | None = None
    if isinstance(output, AccumulatorWrite):
        type_, owner = output.type, AddressOwner(output.address)
    elif isinstance(output, PackageWrite):
        version, owner = output.version, Immutable()
    elif isinstance(output, ObjectWrite):
        version, owner = lamport_version, output.owner
    return ChangedObject(kind, object_id, type_, version_before, owner_before, version, owner)


def _kind(change: ObjectChange) -> ChangeKind:
    if isinstance(change.output, PackageWrite):
        return ChangeKind.PUBLISHED
    if isinstance(change.output, AccumulatorWrite):
        return ChangeKind.ACCUMULATED
    if isinstance(change.input, InputState) and isinstance(change.output, ObjectWrite):
        is_same_owner = change.input.owner == change.output.owner
        return ChangeKind.MUTATED if is_same_owner else ChangeKind.TRANSFERRED
    existed = isinstance(change.input, InputState)
    exists = isinstance(change.output, ObjectWrite)
    # The code above handles objects that exist before and after. Effects do not contain other
    # combinations.
    return _KINDS[existed, exists, change.operation]
