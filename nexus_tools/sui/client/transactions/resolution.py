"""The resolution of object IDs to transaction inputs, which need the owner and newest version.

A cache contains the owners and versions that are known. The version at which an object was shared
never changes. The version of an owned object changes with every transaction that uses the object,
and the effects report the new version.
"""

from collections.abc import Iterable, Mapping

from nexus_tools.sui.client.connection.connection import Connection
from nexus_tools.sui.client.reads import read_objects
from nexus_tools.sui.errors import NotAllowedError, NotFoundError, ValidationError
from nexus_tools.sui.transaction_builder import TransactionBuilder, UnresolvedObject
from nexus_tools.sui.types.address import CLOCK, Address
from nexus_tools.sui.types.clock import clock_input
from nexus_tools.sui.types.effects import ObjectWrite, TransactionEffects
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Object,
    ObjectOwner,
    ObjectReference,
    Owner,
    Shared,
)
from nexus_tools.sui.types.transaction import (
    ObjectArgument,
    OwnedObject,
    ReceivingObject,
    SharedObject,
)

MAX_CACHED_OBJECTS = 10_000
"""The maximum number of cached objects. A full cache drops its oldest objects."""


class ObjectCache:
    """A cache of the owners and newest references of objects."""

    def __init__(self) -> None:
        self._known: dict[Address, tuple[Owner, ObjectReference]] = {}

    def __contains__(self, object_id: Address) -> bool:
        return object_id in self._known

    def __getitem__(self, object_id: Address) -> tuple[Owner, ObjectReference]:
        return self._known[object_id]

    def latest(self, owner: Owner, reference: ObjectReference) -> tuple[Owner, ObjectReference]:
        """Return the given or the cached state of an object, whichever is newer."""
        cached = self._known.get(reference.object_id)
        is_newer = cached is not None and cached[1].version > reference.version
        return cached if cached is not None and is_newer else (owner, reference)

    def add(self, owner: Owner, reference: ObjectReference) -> None:
        """Cache the owner and version of an object, unless a newer version is cached."""
        object_id = reference.object_id
        cached = self._known.get(object_id)
        if cached is not None and cached[1].version > reference.version:
            return
        if cached is None and len(self._known) >= MAX_CACHED_OBJECTS:
            self._known.pop(next(iter(self._known)))
        self._known[object_id] = (owner, reference)

    def add_object(self, value: Object) -> None:
        """Cache the owner and version of an object that was read."""
        self.add(value.owner, value.reference())

    def add_shared(self, values: Iterable[Object | None]) -> None:
        """Cache the owners and versions of the shared objects in `values`.

        Other objects are not cached, because their owners and versions may change before the
        objects are used.
        """
        for value in values:
            if value is not None and isinstance(value.owner, Shared):
                self.add_object(value)

    def apply_effects(self, effects: TransactionEffects) -> None:
        """Cache the new owners and versions of the objects that a transaction changed."""
        for object_id, change in effects.changed_objects:
            if isinstance(change.output, ObjectWrite):
                reference = ObjectReference(
                    object_id, effects.lamport_version, change.output.digest
                )
                self.add(change.output.owner, reference)
            else:
                self._known.pop(object_id, None)

    def forget(self, object_ids: Iterable[Address]) -> None:
        """Remove objects from the cache, so that they are read again before they are used."""
        for object_id in object_ids:
            self._known.pop(object_id, None)


async def resolve(
    connection: Connection,
    known: ObjectCache,
    builder: TransactionBuilder,
    sender: Address | None,
) -> dict[Address, ObjectArgument]:
    """Return the inputs for the builder's objects of which only the ID is known.

    Raises:
        NexusError: `object_unknown`, `object_is_a_field`, or `object_not_owned` if another account
            than `sender` owns an object. If `sender` is None, any owner is accepted.
    """
    unresolved = builder.unresolved()
    # Copy the cached states first, because adding objects to the cache may evict other objects.
    states = {
        value.object_id: known[value.object_id] for value in unresolved if value.object_id in known
    }
    missing_ids = [
        value.object_id
        for value in unresolved
        if value.object_id not in states and value.object_id != CLOCK
    ]
    for object_id, value in zip(
        missing_ids, await read_objects(connection, missing_ids), strict=True
    ):
        if value is None:
            raise NotFoundError(
                "object_unknown",
                f"the object {object_id} does not exist on {connection.network.name}",
                hint="Check the ID and the network. The object may have been deleted.",
            )
        known.add_object(value)
        states[object_id] = value.owner, value.reference()
    # Other transactions may have changed some of the objects in the meantime.
    latest = {object_id: known.latest(*state) for object_id, state in states.items()}
    return {
        value.object_id: _argument(value, latest, sender)
        if value.object_id in latest
        else clock_input(mutable=value.mutable)
        for value in unresolved
    }


def _argument(
    wanted: UnresolvedObject,
    known: Mapping[Address, tuple[Owner, ObjectReference]],
    sender: Address | None,
) -> ObjectArgument:
    owner, reference = known[wanted.object_id]
    if isinstance(owner, Shared):
        return SharedObject(wanted.object_id, owner.initial_version, mutable=wanted.mutable)
    if isinstance(owner, ConsensusAddressOwner):
        _check_owner(owner.address, wanted.object_id, sender)
        return SharedObject(wanted.object_id, owner.start_version, mutable=wanted.mutable)
    if isinstance(owner, ObjectOwner):
        raise ValidationError(
            "object_is_a_field",
            f"the object {wanted.object_id} is a dynamic field of {owner.parent}",
            hint="Pass the parent object instead of the field.",
        )
    # The object was sent to another input object, so the transaction receives it from that object.
    if isinstance(owner, AddressOwner) and owner.address in known:
        return ReceivingObject(reference)
    if isinstance(owner, AddressOwner):
        _check_owner(owner.address, wanted.object_id, sender)
    return OwnedObject(reference)


def _check_owner(owner: Address, object_id: Address, sender: Address | None) -> None:
    if sender is not None and owner != sender:
        raise NotAllowedError(
            "object_not_owned",
            f"{object_id} belongs to {owner}, not to {sender}",
            hint="Sign with the wallet that owns the object.",
        )


def owned_ids(arguments: Mapping[Address, ObjectArgument]) -> frozenset[Address]:
    """Return the IDs of the inputs that are not shared.

    Only one transaction at a time can use an input that is not shared.
    """
    return frozenset(
        object_id
        for object_id, argument in arguments.items()
        if not isinstance(argument, SharedObject)
    )
