"""The objects that a test's transactions have created, and the objects that the test has taken.

A test is one call of a function, which `test_scenario` divides into transactions. At the end of a
transaction, its objects are put into the inventories of their owners. Later transactions can take
objects from the inventories.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from nexus_tools.sui.localnet.natives import (
    UNMETERED_LIMITS,
    ChildObject,
    EmittedEvent,
    NativeGas,
    ObjectRuntime,
    TransactionContext,
)
from nexus_tools.sui.localnet.vm import (
    Context,
    Machine,
    NativeAbort,
    Types,
    Value,
    Variant,
    substitute,
)
from nexus_tools.sui.types.address import ZERO, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import (
    AddressOwner,
    Immutable,
    MoveObject,
    Object,
    ObjectOwner,
    Owner,
    Shared,
)
from nexus_tools.sui.types.type_tag import UID, Primitive, StructTag, TypeTag, VectorTag

INVALID_SHARED_OR_IMMUTABLE_USAGE = 1
OBJECT_NOT_FOUND = 4

_NO_DIGEST = Digest(bytes(32))


class Effects(Struct):
    """The effects of a transaction in a scenario, by object ids.

    Dynamic fields are listed only if the transaction deleted them.

    Wrapped objects are listed as `deleted`.
    """

    created: list[Address] = field(default_factory=list)
    written: list[Address] = field(default_factory=list)
    deleted: list[Address] = field(default_factory=list)
    to_account: dict[Address, Address] = field(default_factory=dict)
    shared: list[Address] = field(default_factory=list)
    frozen: list[Address] = field(default_factory=list)
    events: int = 0


class Scenario:
    """The state of a test between transactions. `objects` is sorted by the last write."""

    def __init__(self, machine: Machine, gas: NativeGas) -> None:
        self.machine = machine
        self._gas = gas
        self._version = 1
        self.objects: dict[Address, Object] = {}
        self.taken: dict[Address, Owner] = {}
        self.tickets: dict[Address, int] = {}
        self.printed: list[str] = []
        self.runtime = self._begin(TransactionContext(ZERO, _NO_DIGEST, 0, 0, 0, 0, 0, None))

    def _begin(self, transaction: TransactionContext) -> "ScenarioRuntime":
        return ScenarioRuntime(self, transaction, self.machine, self._gas)

    # --- Inventories

    def ids(self, owner: Owner, tag: StructTag) -> Iterator[Address]:
        """Yield the ids of the objects of a type that can be taken from an owner, oldest first."""
        for object_id, stored in self.objects.items():
            is_theirs = _same_owner(stored.owner, owner) and stored.type == tag
            if is_theirs and object_id not in self.taken:
                yield object_id

    def take(self, owner: Owner, object_id: Address, tag: StructTag) -> Value:
        """Take an object out of an owner's inventory.

        Abort if the inventory does not contain it.
        """
        stored = self.objects.get(object_id)
        if stored is None or object_id in self.taken or stored.type != tag:
            raise NativeAbort(OBJECT_NOT_FOUND)
        if not _same_owner(stored.owner, owner) or not isinstance(stored.data, MoveObject):
            raise NativeAbort(OBJECT_NOT_FOUND)
        self.taken[object_id] = stored.owner
        return self.machine.types.decode(tag, stored.data.contents)

    def was_taken(self, owner: Owner, object_id: Address) -> bool:
        """Return whether the transaction took the object from this owner."""
        owner_before = self.taken.get(object_id)
        return owner_before is not None and _same_owner(owner_before, owner)

    # --- The end of a transaction

    def end_transaction(self, context: Context) -> Effects:
        """Put the transaction's objects into the inventories, and start the next transaction.

        Abort if the transaction used a shared or immutable object in a way that Sui does not allow.

        For example, a test takes the shared object 0x5 and the coin 0x6, returns 0x5, and wraps 0x6
        into a new object that it transfers. At the end of the transaction, 0x5 is in `transfers`
        and no longer in `taken`. The new object contains the id 0x6, so 0x6 is in `wrapped` and
        counts as deleted. An address owned 0x6, so 0x6 is not in `shared_or_immutable`, and the
        transaction is valid.
        """
        runtime, effects = self.runtime, Effects()
        effects.events = len(runtime.take_events())
        is_invalid = self._write_transfers(runtime, effects)
        children = self._write_children(runtime)
        for object_id in (*runtime.deleted_ids, *runtime.received):
            is_invalid = is_invalid or isinstance(self.taken.pop(object_id, None), Immutable)
            if object_id not in runtime.transfers:
                self.objects.pop(object_id, None)
        wrapped = self._wrapped(runtime, children)
        shared_or_immutable = {
            object_id
            for object_id, owner in self.taken.items()
            if not isinstance(owner, AddressOwner)
        }
        effects.deleted = [*runtime.deleted_ids, *sorted(wrapped)]
        self.tickets.clear()
        self._version += 1
        self.runtime = context.runtime = self._begin(runtime.transaction)
        if is_invalid or shared_or_immutable & (wrapped | children.keys()):
            raise NativeAbort(INVALID_SHARED_OR_IMMUTABLE_USAGE)
        return effects

    def _wrapped(
        self, runtime: ObjectRuntime, children: Mapping[Address, ChildObject]
    ) -> set[Address]:
        """Return the ids of the objects wrapped in the written objects."""
        values = [
            (object_id, transfer.type, transfer.value)
            for object_id, transfer in runtime.transfers.items()
        ]
        values += [(object_id, child.type, child.cell[0]) for object_id, child in children.items()]
        return {
            inner_id
            for object_id, tag, value in values
            for inner_id in ids_in(self.machine.types, tag, value)
            if inner_id != object_id
        }

    def _write_transfers(self, runtime: ObjectRuntime, effects: Effects) -> bool:
        is_invalid = False
        for object_id, transfer in runtime.transfers.items():
            old_owner, old_object = self.taken.pop(object_id, None), self.objects.get(object_id)
            contents = self.machine.types.encode(transfer.type, transfer.value)
            is_invalid = is_invalid or _mistreated(old_owner, transfer.owner, old_object, contents)
            self._store(transfer.owner, transfer.type, contents)
            (effects.created if object_id in runtime.new_ids else effects.written).append(object_id)
            if isinstance(transfer.owner, AddressOwner):
                effects.to_account[object_id] = transfer.owner.address
            elif isinstance(transfer.owner, Shared):
                effects.shared.append(object_id)
            elif isinstance(transfer.owner, Immutable):
                effects.frozen.append(object_id)
        return is_invalid

    def _write_children(self, runtime: ObjectRuntime) -> Mapping[Address, ChildObject]:
        """Store the used dynamic fields that still exist, and return these fields."""
        existing = {}
        for object_id, child in runtime.children.used():
            if child.cell:
                contents = self.machine.types.encode(child.type, child.cell[0])
                self._store(ObjectOwner(child.parent), child.type, contents)
                existing[object_id] = child
            elif object_id not in runtime.transfers:
                self.objects.pop(object_id, None)
        return existing

    def _store(self, owner: Owner, tag: StructTag, contents: bytes) -> None:
        data = MoveObject(tag, False, self._version, contents)
        # `objects` is in the order of the last writes, so a written object moves to the end.
        self.objects.pop(data.id, None)
        self.objects[data.id] = Object(data, owner, _NO_DIGEST, 0)


class ScenarioRuntime(ObjectRuntime):
    """The runtime of one transaction of a test.

    The transaction may share a taken shared object again.
    """

    def __init__(
        self, scenario: Scenario, transaction: TransactionContext, machine: Machine, gas: NativeGas
    ) -> None:
        find, decode, owners = scenario.objects.get, machine.types.decode, scenario.taken
        super().__init__(transaction, owners, find, decode, gas, limits=UNMETERED_LIMITS)
        self.scenario = scenario

    def emitted(self) -> tuple[EmittedEvent, ...]:
        """Return the events of the transaction so far."""
        return tuple(self._events)


def scenario_of(context: Context) -> Scenario:
    """Return the scenario of the test that calls a native function."""
    runtime = context.runtime
    assert isinstance(runtime, ScenarioRuntime)
    return runtime.scenario


def ids_in(types: Types, type_: TypeTag, value: Value) -> Iterator[Address]:
    """Yield the ids of all objects in a value, including the id of the value itself."""
    if isinstance(type_, VectorTag):
        if not isinstance(type_.element, Primitive):
            for item in value:
                yield from ids_in(types, type_.element, item)
    elif type_ == UID:
        yield Address(value[0][0])
    elif isinstance(type_, StructTag):
        definition = types.datatype(type_)
        assert definition is not None  # a value of this type exists
        fields = definition.fields or ()
        if isinstance(value, Variant) and definition.variants is not None:
            fields, value = definition.variants[value.tag][1], value.fields
        for (_, field_type), item in zip(fields, value, strict=True):
            concrete = substitute(field_type, type_.type_params)
            yield from ids_in(types, concrete, item)  # type: ignore[arg-type]  # no references


def _same_owner(first: Owner, second: Owner) -> bool:
    """Return whether two owners are equal.

    The initial version of a shared object is ignored.
    """
    return isinstance(second, Shared) if isinstance(first, Shared) else first == second


def _contents(stored: Object) -> bytes:
    return stored.data.contents if isinstance(stored.data, MoveObject) else b""


def _mistreated(
    old_owner: Owner | None, new_owner: Owner, stored: Object | None, contents: bytes
) -> bool:
    """Return whether the change is not allowed, because the object was shared or immutable."""
    if isinstance(old_owner, Shared):
        return not isinstance(new_owner, Shared)
    if isinstance(old_owner, Immutable):
        is_changed = stored is not None and _contents(stored) != contents
        return is_changed or not isinstance(new_owner, Immutable)
    return False
