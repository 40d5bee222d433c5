"""The transaction's state that Move code can read, and the transaction's changes so far.

Source: `object_runtime/mod.rs` of `sui-move-natives`. The runtime does not change anything outside
itself, so discarding the runtime reverts the transaction.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from nexus_tools.sui.localnet.natives.accumulators import Accumulators
from nexus_tools.sui.localnet.natives.child_objects import (
    ChildObjects,
    Decode,
    FindObject,
    MismatchedType,
)
from nexus_tools.sui.localnet.natives.errors import LimitExceeded
from nexus_tools.sui.localnet.natives.gas import NativeGas
from nexus_tools.sui.localnet.natives.limits import (
    MAX_EVENT_EMIT_SIZE,
    MAX_EVENT_EMIT_SIZE_TOTAL,
    MAX_NUM_EVENT_EMIT,
    METERED_LIMITS,
    Limits,
)
from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.address import (
    ACCUMULATOR_ROOT,
    AUTHENTICATOR_STATE,
    BRIDGE,
    CLOCK,
    COIN_REGISTRY,
    DENY_LIST,
    DISPLAY_REGISTRY,
    RANDOM,
    SYSTEM_STATE,
    Address,
)
from nexus_tools.sui.types.digest import Digest, created_object_id
from nexus_tools.sui.types.object import AddressOwner, MoveObject, Object, Owner, Shared
from nexus_tools.sui.types.type_tag import StructTag

# The objects with fixed ids. Functions such as `object::clock()` do not create a fresh id.
_FRAMEWORK_OBJECTS = frozenset(
    {
        SYSTEM_STATE,
        CLOCK,
        AUTHENTICATOR_STATE,
        RANDOM,
        BRIDGE,
        COIN_REGISTRY,
        DISPLAY_REGISTRY,
        DENY_LIST,
        ACCUMULATOR_ROOT,
    }
)


class TransactionContext(Struct):
    """The properties of a transaction, and the number of ids that it has created.

    Prices are in MIST per gas unit, and the budget is in MIST. `sponsor` is None if the sender
    pays.
    """

    sender: Address
    digest: Digest
    epoch: int
    epoch_timestamp_ms: int
    reference_gas_price: int
    gas_price: int
    gas_budget: int
    sponsor: Address | None
    ids_created: int = 0

    def fresh_id(self) -> Address:
        """Return the id of the next object or package that the transaction creates."""
        object_id = created_object_id(self.digest, self.ids_created)
        self.ids_created += 1
        return object_id

    def as_move_value(self) -> list[object]:
        """Return a `TxContext` value.

        Framework functions call native functions and ignore the value.
        """
        return [bytes(self.sender), bytearray(self.digest), self.epoch, self.epoch_timestamp_ms, 0]


class Transfer(Struct, frozen=True):
    """A Move value that becomes an object with a new owner."""

    owner: Owner
    type: StructTag
    value: Value


class EmittedEvent(Struct, frozen=True):
    """An event's type and BCS bytes."""

    type: StructTag
    contents: bytes


class ObjectRuntime:
    """The ids, transfers, events, dynamic fields and address balances of a transaction.

    `inputs` are the owners of the transaction's input objects, and `find` returns live objects.
    Transactions that do not pay gas have higher `limits`.
    """

    def __init__(
        self,
        transaction: TransactionContext,
        inputs: Mapping[Address, Owner],
        find: FindObject,
        decode: Decode,
        gas: NativeGas,
        *,
        limits: Limits = METERED_LIMITS,
    ) -> None:
        self.transaction = transaction
        self.gas = gas
        self.children = ChildObjects(find, decode, limits)
        self.new_ids: dict[Address, None] = {}
        self.deleted_ids: dict[Address, None] = {}
        self.transfers: dict[Address, Transfer] = {}
        self.received: dict[Address, Object] = {}
        self.accumulators = Accumulators()
        self._limits = limits
        self._inputs = inputs
        self._find = find
        self._decode = decode
        self._events: list[EmittedEvent] = []
        self._event_count = 0
        self._event_bytes = 0

    # --- Ids

    def fresh_id(self) -> Address:
        """Create the id of a new object. Raises `LimitExceeded`."""
        object_id = self.transaction.fresh_id()
        self.record_new_id(object_id)
        return object_id

    def record_new_id(self, object_id: Address) -> None:
        """Record a new id, or restore an id that this transaction has deleted."""
        maximum = self._limits.max_num_new_move_object_ids
        if len(self.new_ids) >= maximum:
            raise LimitExceeded(f"more than {maximum} ids are created")
        if object_id in self.deleted_ids:
            del self.deleted_ids[object_id]
        else:
            self.new_ids[object_id] = None

    def delete_id(self, object_id: Address) -> None:
        """Record a deleted id, or discard an id that is new. Raises `LimitExceeded`."""
        maximum = self._limits.max_num_deleted_move_object_ids
        if len(self.deleted_ids) >= maximum:
            raise LimitExceeded(f"more than {maximum} ids are deleted")
        if object_id in self.new_ids:
            del self.new_ids[object_id]
        else:
            self.deleted_ids[object_id] = None

    # --- Owners

    def transfer(self, owner: Owner, tag: StructTag, value: Value) -> None:
        """Transfer an object to an owner. Raises `LimitExceeded`."""
        maximum = self._limits.max_num_transferred_move_object_ids
        if len(self.transfers) >= maximum:
            raise LimitExceeded(f"more than {maximum} objects are transferred")
        self.transfers[object_id_of(value)] = Transfer(owner, tag, value)

    def may_be_shared(self, object_id: Address) -> bool:
        """Return whether an object may be shared, because it is new or already shared."""
        if object_id in self.new_ids or object_id in _FRAMEWORK_OBJECTS:
            return True
        return isinstance(self._inputs.get(object_id), Shared)

    def receive(
        self, parent: Address, object_id: Address, version: int, tag: StructTag
    ) -> Value | None:
        """Receive an object that was transferred to the address `parent`.

        Return None if the object does not exist at this version or was already received. Raises
        `MismatchedType`.
        """
        stored = self._find(object_id)
        if stored is None or object_id in self.received or stored.version != version:
            return None
        if stored.owner != AddressOwner(parent) or not isinstance(stored.data, MoveObject):
            return None
        if stored.data.type != tag:
            raise MismatchedType
        self.received[object_id] = stored
        return self._decode(tag, stored.data.contents)

    # --- Events

    def check_event_size(self, size: int) -> None:
        """Count the bytes of an event's value and type. Raises `LimitExceeded`."""
        if size > MAX_EVENT_EMIT_SIZE:
            raise LimitExceeded(f"an event has more than {MAX_EVENT_EMIT_SIZE} bytes")
        self._event_bytes += size
        if self._event_bytes > MAX_EVENT_EMIT_SIZE_TOTAL:
            raise LimitExceeded(f"all events have more than {MAX_EVENT_EMIT_SIZE_TOTAL} bytes")

    def emit(self, tag: StructTag, contents: bytes) -> int:
        """Emit an event and return its index in the transaction. Raises `LimitExceeded`."""
        if self._event_count >= MAX_NUM_EVENT_EMIT:
            raise LimitExceeded(f"more than {MAX_NUM_EVENT_EMIT} events are emitted")
        self._event_count += 1
        self._events.append(EmittedEvent(tag, contents))
        return self._event_count - 1

    @property
    def pending_events(self) -> Sequence[EmittedEvent]:
        """The events that `take_events` has not returned yet, in order."""
        return self._events

    def take_events(self) -> list[EmittedEvent]:
        """Return the events since the last call of this method, in order."""
        events, self._events = self._events, []
        return events


def object_id_of(value: Value) -> Address:
    """Return the id of an object. The first field of an object is `UID { id: ID { bytes } }`."""
    return Address(value[0][0][0])
