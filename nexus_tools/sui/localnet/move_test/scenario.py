"""The objects of a test: what its transactions leave behind, and what it has taken of it.

A test is one call of a function. `test_scenario` divides it into transactions: at the end of one,
its objects go into inventories, from which the next ones take them.
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
    """What a transaction of a scenario did, by ids: dynamic fields count as deleted alone.

    Objects inside of others are `deleted`.
    """

    created: list[Address] = field(default_factory=list)
    written: list[Address] = field(default_factory=list)
    deleted: list[Address] = field(default_factory=list)
    to_account: dict[Address, Address] = field(default_factory=dict)
    shared: list[Address] = field(default_factory=list)
    frozen: list[Address] = field(default_factory=list)
    events: int = 0


class Scenario:
    """The objects between transactions, in the order in which they were last written."""

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
        """The objects of an owner and a type that can be taken, oldest first."""
        for object_id, stored in self.objects.items():
            is_theirs = _same_owner(stored.owner, owner) and stored.type == tag
            if is_theirs and object_id not in self.taken:
                yield object_id

    def take(self, owner: Owner, object_id: Address, tag: StructTag) -> Value:
        """Take an object out of an inventory. Aborts if it is not there."""
        stored = self.objects.get(object_id)
        if stored is None or object_id in self.taken or stored.type != tag:
            raise NativeAbort(OBJECT_NOT_FOUND)
        if not _same_owner(stored.owner, owner) or not isinstance(stored.data, MoveObject):
            raise NativeAbort(OBJECT_NOT_FOUND)
        self.taken[object_id] = stored.owner
        return self.machine.types.decode(tag, stored.data.contents)

    def was_taken(self, owner: Owner, object_id: Address) -> bool:
        """Whether the transaction took the object from this owner."""
        taken = self.taken.get(object_id)
        return taken is not None and _same_owner(taken, owner)

    # --- The end of a transaction

    def end_transaction(self, context: Context) -> Effects:
        """Put what the transaction wrote into the inventories, and begin the next one.

        Aborts if a shared or an immutable object was treated as no transaction may.

        Example: a test takes the shared object 0x5 and the coin 0x6, returns 0x5, and wraps 0x6
        into a new object that it transfers. Then 0x5 is among `transfers`, and no longer `taken`;
        0x6 is `wrapped`, because its id is found in the new object, and counts as deleted; being
        owned by an address, it is not `common`, so that nothing is wrong.
        """
        runtime, effects = self.runtime, Effects()
        effects.events = len(runtime.take_events())
        wrong = self._write_transfers(runtime, effects)
        children = self._write_children(runtime)
        for object_id in (*runtime.deleted_ids, *runtime.received):
            wrong = wrong or isinstance(self.taken.pop(object_id, None), Immutable)
            if object_id not in runtime.transfers:
                self.objects.pop(object_id, None)
        wrapped = self._wrapped(runtime, children)
        common = {key for key, owner in self.taken.items() if not isinstance(owner, AddressOwner)}
        effects.deleted = [*runtime.deleted_ids, *sorted(wrapped)]
        self.tickets.clear()
        self._version += 1
        self.runtime = context.runtime = self._begin(runtime.transaction)
        if wrong or common & (wrapped | children.keys()):
            raise NativeAbort(INVALID_SHARED_OR_IMMUTABLE_USAGE)
        return effects

    def _wrapped(
        self, runtime: ObjectRuntime, children: Mapping[Address, ChildObject]
    ) -> set[Address]:
        """The objects inside of those that were written."""
        values = [(key, each.type, each.value) for key, each in runtime.transfers.items()]
        values += [(key, child.type, child.cell[0]) for key, child in children.items()]
        return {
            found
            for key, tag, value in values
            for found in ids_in(self.machine.types, tag, value)
            if found != key
        }

    def _write_transfers(self, runtime: ObjectRuntime, effects: Effects) -> bool:
        wrong = False
        for object_id, transfer in runtime.transfers.items():
            before, stored = self.taken.pop(object_id, None), self.objects.get(object_id)
            contents = self.machine.types.encode(transfer.type, transfer.value)
            wrong = wrong or _mistreated(before, transfer.owner, stored, contents)
            self._store(transfer.owner, transfer.type, contents)
            (effects.created if object_id in runtime.new_ids else effects.written).append(object_id)
            if isinstance(transfer.owner, AddressOwner):
                effects.to_account[object_id] = transfer.owner.address
            elif isinstance(transfer.owner, Shared):
                effects.shared.append(object_id)
            elif isinstance(transfer.owner, Immutable):
                effects.frozen.append(object_id)
        return wrong

    def _write_children(self, runtime: ObjectRuntime) -> Mapping[Address, ChildObject]:
        """Put dynamic fields where they belong: those that were used, and are still there."""
        present = {}
        for object_id, child in runtime.children.used():
            if child.cell:
                contents = self.machine.types.encode(child.type, child.cell[0])
                self._store(ObjectOwner(child.parent), child.type, contents)
                present[object_id] = child
            elif object_id not in runtime.transfers:
                self.objects.pop(object_id, None)
        return present

    def _store(self, owner: Owner, tag: StructTag, contents: bytes) -> None:
        data = MoveObject(tag, False, self._version, contents)
        # Out and in again, to the end: inventories are in the order of the last writes.
        self.objects.pop(data.id, None)
        self.objects[data.id] = Object(data, owner, _NO_DIGEST, 0)


class ScenarioRuntime(ObjectRuntime):
    """One transaction of a test; what it took is what it may share again."""

    def __init__(
        self, scenario: Scenario, transaction: TransactionContext, machine: Machine, gas: NativeGas
    ) -> None:
        find, decode, owners = scenario.objects.get, machine.types.decode, scenario.taken
        super().__init__(transaction, owners, find, decode, gas, limits=UNMETERED_LIMITS)
        self.scenario = scenario

    def emitted(self) -> tuple[EmittedEvent, ...]:
        """The events of the transaction so far."""
        return tuple(self._events)


def scenario_of(context: Context) -> Scenario:
    """The objects of the test that a native works for."""
    runtime = context.runtime
    assert isinstance(runtime, ScenarioRuntime)
    return runtime.scenario


def ids_in(types: Types, type_: TypeTag, value: Value) -> Iterator[Address]:
    """The ids of all objects in a value, the value itself included."""
    if isinstance(type_, VectorTag):
        if not isinstance(type_.element, Primitive):
            for item in value:
                yield from ids_in(types, type_.element, item)
    elif type_ == UID:
        yield Address(value[0][0])
    elif isinstance(type_, StructTag):
        definition = types.datatype(type_)
        assert definition is not None  # a value of it is there
        fields = definition.fields or ()
        if isinstance(value, Variant) and definition.variants is not None:
            fields, value = definition.variants[value.tag][1], value.fields
        for (_, field_type), item in zip(fields, value, strict=True):
            concrete = substitute(field_type, type_.type_params)
            yield from ids_in(types, concrete, item)  # type: ignore[arg-type]  # no references


def _same_owner(one: Owner, other: Owner) -> bool:
    """Whether the owners are the same; since when an object is shared does not count."""
    return isinstance(other, Shared) if isinstance(one, Shared) else one == other


def _contents(stored: Object) -> bytes:
    return stored.data.contents if isinstance(stored.data, MoveObject) else b""


def _mistreated(before: Owner | None, after: Owner, stored: Object | None, contents: bytes) -> bool:
    """Whether a shared or immutable object was given away, or an immutable one changed."""
    if isinstance(before, Shared):
        return not isinstance(after, Shared)
    if isinstance(before, Immutable):
        changed = stored is not None and _contents(stored) != contents
        return changed or not isinstance(after, Immutable)
    return False
