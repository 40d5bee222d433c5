"""From ids to inputs: who owns an object, and which version of it is the newest.

What is known is kept. The version at which an object was shared never changes; that of an owned
object changes with every transaction that names it, whose effects say how.
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

MAX_KNOWN = 10_000
"""How many objects are remembered; beyond, the oldest are forgotten and read again when needed."""


class KnownObjects:
    """Owner and newest reference of objects, as far as they are known."""

    def __init__(self) -> None:
        self._known: dict[Address, tuple[Owner, ObjectReference]] = {}

    def __contains__(self, object_id: Address) -> bool:
        return object_id in self._known

    def __getitem__(self, object_id: Address) -> tuple[Owner, ObjectReference]:
        return self._known[object_id]

    def latest(self, owner: Owner, reference: ObjectReference) -> tuple[Owner, ObjectReference]:
        """What is known of an object of which this was known, or is read; it may be forgotten."""
        known = self._known.get(reference.object_id)
        is_newer = known is not None and known[1].version > reference.version
        return known if known is not None and is_newer else (owner, reference)

    def learn(self, owner: Owner, reference: ObjectReference) -> None:
        """Remember a version, unless a newer one is known."""
        object_id = reference.object_id
        known = self._known.get(object_id)
        if known is not None and known[1].version > reference.version:
            return
        if known is None and len(self._known) >= MAX_KNOWN:
            self._known.pop(next(iter(self._known)))
        self._known[object_id] = (owner, reference)

    def learn_object(self, value: Object) -> None:
        """Remember an object that was read."""
        self.learn(value.owner, value.reference())

    def learn_shared(self, values: Iterable[Object | None]) -> None:
        """Remember what is shared of objects that were read for their contents.

        Who owns the others may be another one by the time that they are used.
        """
        for value in values:
            if value is not None and isinstance(value.owner, Shared):
                self.learn_object(value)

    def learn_effects(self, effects: TransactionEffects) -> None:
        """Remember what a transaction left of the objects that it changed."""
        for object_id, change in effects.changed_objects:
            if isinstance(change.output, ObjectWrite):
                reference = ObjectReference(
                    object_id, effects.lamport_version, change.output.digest
                )
                self.learn(change.output.owner, reference)
            else:
                self._known.pop(object_id, None)

    def forget(self, object_ids: Iterable[Address]) -> None:
        """Have these objects read again before they are used."""
        for object_id in object_ids:
            self._known.pop(object_id, None)


async def resolve(
    connection: Connection,
    known: KnownObjects,
    builder: TransactionBuilder,
    sender: Address | None,
) -> dict[Address, ObjectArgument]:
    """The inputs for the objects that `builder` knows by id alone.

    Raises `object_unknown`, or `object_not_yours` if somebody else than `sender` owns one; with
    None, anybody may.
    """
    wanted = builder.unresolved()
    # What is learned makes it forget what it knows: that is kept here.
    found = {
        value.object_id: known[value.object_id] for value in wanted if value.object_id in known
    }
    missing = [
        value.object_id
        for value in wanted
        if value.object_id not in found and value.object_id != CLOCK
    ]
    for object_id, value in zip(missing, await read_objects(connection, missing), strict=True):
        if value is None:
            raise NotFoundError(
                "object_unknown",
                f"there is no object {object_id} on {connection.network.name}",
                hint="it was deleted or never existed there: check the id and the network",
            )
        known.learn_object(value)
        found[object_id] = value.owner, value.reference()
    # Meanwhile others may have changed some of it.
    latest = {object_id: known.latest(*each) for object_id, each in found.items()}
    return {
        value.object_id: _argument(value, latest, sender)
        if value.object_id in latest
        else clock_input(mutable=value.mutable)
        for value in wanted
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
            f"{wanted.object_id} is a field of {owner.parent}",
            hint="name the object that has the field",
        )
    # Sent to an object that is an input as well: the transaction receives it from there.
    if isinstance(owner, AddressOwner) and owner.address in known:
        return ReceivingObject(reference)
    if isinstance(owner, AddressOwner):
        _check_owner(owner.address, wanted.object_id, sender)
    return OwnedObject(reference)


def _check_owner(owner: Address, object_id: Address, sender: Address | None) -> None:
    if sender is not None and owner != sender:
        raise NotAllowedError(
            "object_not_yours",
            f"{object_id} belongs to {owner}, not to {sender}",
            hint="sign with the wallet that owns the object",
        )


def owned_ids(arguments: Mapping[Address, ObjectArgument]) -> frozenset[Address]:
    """The inputs that no two transactions may use at once: all that are not shared."""
    return frozenset(
        object_id
        for object_id, argument in arguments.items()
        if not isinstance(argument, SharedObject)
    )
