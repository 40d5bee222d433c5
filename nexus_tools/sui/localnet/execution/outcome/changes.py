"""What a transaction changed, found out when all its commands are done.

Source: `ExecutionContext::finish` of `sui-adapter` and `ObjectRuntimeState::finish` of
`sui-move-natives`.
"""

from msgspec import Struct, field
from msgspec.structs import replace

from nexus_tools.sui.localnet.execution.commands import CommandResult, ExecutionContext, ValueSlot
from nexus_tools.sui.localnet.execution.environment import Mode
from nexus_tools.sui.localnet.execution.errors import CommandFailed
from nexus_tools.sui.localnet.execution.gas import GasPayment, storage_bytes
from nexus_tools.sui.localnet.execution.inputs import (
    BYTES_READ_PER_OWNER,
    TransactionInputs,
    check_denied_owners,
    coin_owners,
)
from nexus_tools.sui.localnet.execution.limits import (
    MAX_MOVE_OBJECT_SIZE,
    MAX_SERIALIZED_TX_EFFECTS_SIZE_BYTES,
    MAX_SIZE_WRITTEN_OBJECTS,
)
from nexus_tools.sui.localnet.execution.outcome.accumulators import stream_changes, sui_change
from nexus_tools.sui.localnet.natives import ChildObject, Transfer
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.coin import gas_coin
from nexus_tools.sui.types.effects import AccumulatorWrite
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.execution_status import (
    ErrorKind,
    ExecutionError,
    ExecutionFailure,
    ExecutionStatus,
    Success,
)
from nexus_tools.sui.types.object import (
    Immutable,
    MoveObject,
    MovePackage,
    Object,
    ObjectOwner,
    Owner,
    Shared,
)

# Bytes of effects as they are estimated: status, epoch, costs, digest of events, and twice 1 000 in
# reserve; an owner and a reference for each object before and after; a digest for each input.
_EFFECTS_BYTES = 120 + 10 + 40 + 40 + 2 * 1_000
_CHANGE_BYTES = 48 + 80
_DEPENDENCY_BYTES = 40


class Write(Struct, frozen=True):
    """An object that the transaction leaves behind, before its rebate is known."""

    owner: Owner
    data: MoveObject | MovePackage


class Changes(Struct):
    """The objects after and before: `modified` are those that existed and are written or gone.

    `received` are objects that were taken by a ticket: the transaction depends on their makers.
    `balances` are what goes into address balances and comes out of them, in its order; `streams`
    are the events for each stream. The gas is paid from `gas_coin`; without one, from the payer's
    address balance.
    """

    written: dict[Address, Write] = field(default_factory=dict)
    modified: dict[Address, Object] = field(default_factory=dict)
    created_ids: set[Address] = field(default_factory=set)
    deleted_ids: set[Address] = field(default_factory=set)
    received: tuple[Object, ...] = ()
    balances: list[AccumulatorWrite] = field(default_factory=list)
    streams: tuple[AccumulatorWrite, ...] = ()
    gas_coin: Address | None = None

    def move_sui(self, owner: Address, amount: int) -> None:
        """Put MIST into an address balance or, if negative, take it out."""
        if amount:
            self.balances.append(sui_change(owner, amount))


class CommandsRun(Struct, frozen=True):
    """What the commands did, before anything is paid; `failure` explains the status to people.

    `results` are those of a simulation. `packages` are known to the machine, whether or not they
    will be on the ledger. `asked_deny_list` says that the deny list was looked at, whatever came
    of it.
    """

    status: ExecutionStatus
    changes: Changes
    events: tuple[Event, ...] = ()
    results: tuple[CommandResult, ...] = ()
    packages: tuple[Address, ...] = ()
    failure: str = ""
    asked_deny_list: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether all commands did what they were to do."""
        return isinstance(self.status, Success)

    def out_of_gas(self, changes: Changes) -> "CommandsRun":
        """The same when the budget does not suffice; what failed before stays as it failed."""
        status, failure = self.status, self.failure
        if self.succeeded:
            status = ExecutionFailure(ExecutionError(ErrorKind.INSUFFICIENT_GAS), None)
            failure = "the gas budget does not suffice"
        return replace(self, status=status, changes=changes, events=(), failure=failure)


# --- When commands fail


def untouched(inputs: TransactionInputs, payment: GasPayment | None, version: int) -> Changes:
    """What is left of a transaction that failed: inputs get the version, gas coins are smashed."""
    changes = Changes()
    for object_id, value in inputs.objects.items():
        if value.is_written:
            changes.modified[object_id] = value.object
            assert isinstance(value.object.data, MoveObject)
            changes.written[object_id] = Write(
                value.object.owner, _at_version(value.object.data, version)
            )
    _smash(changes, payment, version)
    return changes


def _smash(changes: Changes, payment: GasPayment | None, version: int) -> None:
    if payment is None:
        return
    coin = payment.coin
    if coin is not None:
        changes.gas_coin = coin.id
        changes.written[coin.id] = Write(coin.owner, gas_coin(coin.id, payment.balance, version))
    _take_smashed(changes, payment)


def _take_smashed(changes: Changes, payment: GasPayment | None) -> None:
    """Coins that went into another place are gone, and that place has their money.

    What pays is a coin, or an address balance. Of 3 and 4 in coins and 5 reserved of the balance,
    a coin that pays has 12 and the balance loses 5; if the reservation stands first there is no
    such coin: the balance gains 7.
    """
    if payment is None:
        return
    for coin in payment.smashed:
        changes.written.pop(coin.id, None)
        changes.modified[coin.id] = coin
        changes.deleted_ids.add(coin.id)
    in_coins = payment.balance - payment.reserved
    changes.move_sui(payment.payer, in_coins if payment.coin is None else -payment.reserved)


def _at_version(data: MoveObject, version: int) -> MoveObject:
    return MoveObject(data.type, data.has_public_transfer, version, data.contents)


# --- When they succeed


class ChangeCollector:
    """Collects the changes of one transaction. Raises `CommandFailed`."""

    def __init__(
        self,
        context: ExecutionContext,
        inputs: TransactionInputs,
        payment: GasPayment | None,
        version: int,
    ) -> None:
        self._context = context
        self._inputs = inputs
        self._payment = payment
        self._version = version
        self._changes = Changes()

    def collect(self) -> Changes:
        """All changes."""
        changes, runtime = self._changes, self._context.runtime
        self._collect_inputs()
        for transfer in self._context.transfers.values():
            self._write(transfer)
        for transfer in runtime.transfers.values():
            self._write(transfer)
        for object_id, child in runtime.children.used():
            self._collect_child(object_id, child)
        changes.modified.update(runtime.received)
        changes.received = tuple(runtime.received.values())
        changes.balances.extend(runtime.accumulators)
        changes.streams = stream_changes(runtime.accumulators.streamed, self._context.events)
        changes.created_ids.update(runtime.new_ids)
        changes.deleted_ids.update(runtime.deleted_ids)
        for package in self._context.new_packages:
            changes.written[package.id] = Write(Immutable(), package)
            changes.created_ids.add(package.id)
        self._check_consumed_shared_objects()
        self._check_coin_owners()
        _take_smashed(changes, self._payment)
        self._collect_gas()
        self._check_sizes()
        return changes

    def _collect_inputs(self) -> None:
        slots = [
            slot
            for slot in (*self._context.input_slots, self._context.gas_slot)
            if isinstance(slot, ValueSlot)
        ]
        for slot in slots:
            if slot.input is None or not slot.input.is_written:
                continue
            before = slot.input.object
            self._changes.modified[before.id] = before
            # Never used, or only read: the bytes are as they were, and only the version is new.
            # `cell` is None as long as no command has used the input, and empty when one has taken
            # the value.
            if slot.cell is None or (slot.cell and not slot.lent_mutably and not slot.is_gas_coin):
                assert isinstance(before.data, MoveObject)
                self._changes.written[before.id] = Write(
                    before.owner, _at_version(before.data, self._version)
                )
            elif slot.cell:
                self._write_slot(slot)
        coin = self._payment.coin if self._payment else None
        if coin is not None:
            self._changes.modified[coin.id] = coin

    def _collect_gas(self) -> None:
        """Find out what pays; a coin made for the commands ends, unless it was sent to someone.

        Where an address balance pays, commands still see a gas coin: one that is made for them,
        with all that is reserved but the budget. What they left in it goes back.

        Of 20 that are reserved, with a budget of 15, commands see a coin of 5. If they leave 3 in
        it, 18 of the 20 are left, and the address balance loses 2; what the gas costs is taken
        later.
        """
        payment, made = self._payment, self._context.made_gas_coin
        if payment is None:
            return
        if payment.coin is not None:
            self._changes.gas_coin = payment.coin.id
            return
        slot, left = self._context.gas_slot, 0
        assert made is not None
        if slot.cell:
            self._changes.created_ids.discard(made)
            left = slot.cell[0][1][0] + self._context.gas.budget
        else:
            self._changes.gas_coin = made
        self._changes.move_sui(payment.payer, left - payment.balance)

    def _write_slot(self, slot: ValueSlot) -> None:
        assert slot.input is not None
        assert slot.cell
        before = slot.input.object
        assert isinstance(before.data, MoveObject)
        self._write(Transfer(before.owner, before.data.type, slot.cell[0]))

    def _write(self, transfer: Transfer) -> None:
        contents = self._context.machine.types.encode(transfer.type, transfer.value)
        self._write_contents(transfer, contents)

    def _write_contents(self, transfer: Transfer, contents: bytes) -> None:
        if len(contents) > MAX_MOVE_OBJECT_SIZE:
            raise CommandFailed(
                ErrorKind.MOVE_OBJECT_TOO_BIG, (len(contents), MAX_MOVE_OBJECT_SIZE)
            )
        public = self._context.has_public_transfer(transfer.type)
        data = MoveObject(transfer.type, public, self._version, contents)
        self._changes.written[data.id] = Write(transfer.owner, data)

    def _collect_child(self, object_id: Address, child: ChildObject) -> None:
        """A child is written if it is new, or its value or its parent is another than before.

        What was borrowed by `&mut` need not have changed: only comparing the bytes tells.
        """
        stored = child.stored
        if not child.cell:
            if stored is not None:
                self._changes.modified[object_id] = stored
            return
        if not child.writable:
            return
        owner = ObjectOwner(child.parent)
        contents = self._context.machine.types.encode(child.type, child.cell[0])
        if stored is not None:
            assert isinstance(stored.data, MoveObject)
            before = (stored.owner, stored.data.type, stored.data.contents)
            if before == (owner, child.type, contents):
                return
            self._changes.modified[object_id] = stored
        self._write_contents(Transfer(owner, child.type, child.cell[0]), contents)

    def _check_consumed_shared_objects(self) -> None:
        """A shared object that was taken by value is deleted, or shared again."""
        for object_id, before in self._changes.modified.items():
            if not isinstance(before.owner, Shared):
                continue
            write = self._changes.written.get(object_id)
            allowed = (
                object_id in self._changes.deleted_ids
                if write is None
                else isinstance(write.owner, Shared)
            )
            if not allowed:
                raise CommandFailed(
                    ErrorKind.SHARED_OBJECT_OPERATION_NOT_ALLOWED,
                    message=f"Shared object operation on {object_id} not allowed",
                )

    def _check_coin_owners(self) -> None:
        """Nobody receives a coin that its issuer denies."""
        context = self._context
        owners = coin_owners(
            (write.owner, write.data)
            for write in self._changes.written.values()
            if isinstance(write.data, MoveObject)
        )
        context.asked_deny_list = bool(owners)
        context.gas.charge_read(BYTES_READ_PER_OWNER * sum(map(len, owners.values())))
        check_denied_owners(owners, context.runtime.transaction.epoch, context.store)

    def _check_sizes(self) -> None:
        """Compare what the network estimates for the effects, and what is written, with limits."""
        if self._context.mode is Mode.SYSTEM:
            return
        effects = self._effects_bytes()
        if effects > MAX_SERIALIZED_TX_EFFECTS_SIZE_BYTES:
            raise CommandFailed(
                ErrorKind.EFFECTS_TOO_LARGE, (effects, MAX_SERIALIZED_TX_EFFECTS_SIZE_BYTES)
            )
        size = sum(storage_bytes(write.data) for write in self._changes.written.values())
        if size > MAX_SIZE_WRITTEN_OBJECTS:
            raise CommandFailed(
                ErrorKind.WRITTEN_OBJECTS_TOO_LARGE, (size, MAX_SIZE_WRITTEN_OBJECTS)
            )

    def _effects_bytes(self) -> int:
        """`estimate_effects_size_upperbound_v2` in `sui-types/src/effects/mod.rs`."""
        changes = len(self._changes.written) + len(self._changes.modified)
        inputs = len(self._inputs.objects) + len(self._inputs.packages)
        return _EFFECTS_BYTES + _CHANGE_BYTES * changes + _DEPENDENCY_BYTES * inputs
