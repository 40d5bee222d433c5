"""The changes of a transaction, collected after all its commands.

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

# Estimated sizes of parts of the effects. The fixed part has the status, the epoch, the costs, the
# digest of events, and a reserve of 2 x 1 000. Each state of an object before or after the
# transaction adds an owner and a reference. Each input adds a digest.
_EFFECTS_BYTES = 120 + 10 + 40 + 40 + 2 * 1_000
_CHANGE_BYTES = 48 + 80
_DEPENDENCY_BYTES = 40


class Write(Struct, frozen=True):
    """An object that a transaction writes, before its storage rebate is known."""

    owner: Owner
    data: MoveObject | MovePackage


class Changes(Struct):
    """The changes of a transaction.

    `modified` are the existing objects that the transaction writes or removes. `received` are
    objects that the transaction received, so it depends on the transactions that wrote these
    objects. `balances` are the deposits and withdrawals of address balances in order. `streams` are
    the events of each stream. `gas_coin` pays the gas. If `gas_coin` is None, the payer's address
    balance pays.
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
        """Deposit MIST into an address balance, or withdraw from it if `amount` is negative."""
        if amount:
            self.balances.append(sui_change(owner, amount))


class CommandsRun(Struct, frozen=True):
    """The result of the commands before the gas is charged. `failure` is a message for users.

    Only a simulation has `results`. The VM has loaded `packages`, even if the ledger will not store
    them. `asked_deny_list` is true if the deny list was read.
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
        """Whether all commands succeeded."""
        return isinstance(self.status, Success)

    def out_of_gas(self, changes: Changes) -> "CommandsRun":
        """Return the run with these changes. If the run succeeded, set an out-of-gas failure."""
        status, failure = self.status, self.failure
        if self.succeeded:
            status = ExecutionFailure(ExecutionError(ErrorKind.INSUFFICIENT_GAS), None)
            failure = "the gas budget is insufficient"
        return replace(self, status=status, changes=changes, events=(), failure=failure)


# --- Changes of a failed transaction


def untouched(inputs: TransactionInputs, payment: GasPayment | None, version: int) -> Changes:
    """Return the changes of a failed transaction: new input versions and smashed gas coins."""
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
    _delete_smashed(changes, payment)


def _delete_smashed(changes: Changes, payment: GasPayment | None) -> None:
    """Delete the smashed coins, and move their balance if an address balance pays.

    For example, the payment has coins of 3 and 4 and a reservation of 5. If the first part of the
    payment is a coin, this coin pays. The coin then has 12 MIST, and the address balance loses 5
    MIST. If the first part is the reservation, the address balance pays and gains 7 MIST.
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


# --- Changes of a successful transaction


class ChangeCollector:
    """The collector of one successful transaction's changes. Methods raise `CommandFailed`."""

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
        """Collect and check all changes."""
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
        _delete_smashed(changes, self._payment)
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
            # If commands did not use the input or only read it, only its version is new. `cell` is
            # None while no command has used the input, and empty after a command has moved the
            # value.
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
        """Determine the coin or balance that pays.

        Delete a temporary gas coin unless a command sent it.

        If an address balance pays, commands still see a temporary gas coin. The coin holds the
        reserved amount minus the budget, and a command may send the coin to an address. If no
        command sends the coin, its remainder returns to the address balance.

        For example, if 20 MIST are reserved and the budget is 15, commands see a coin with 5 MIST.
        If the commands leave 3 MIST in the coin, 18 of the 20 MIST remain, and the address balance
        loses 2 MIST. The gas cost is deducted later.
        """
        payment, temporary_coin = self._payment, self._context.made_gas_coin
        if payment is None:
            return
        if payment.coin is not None:
            self._changes.gas_coin = payment.coin.id
            return
        slot, remainder = self._context.gas_slot, 0
        assert temporary_coin is not None
        if slot.cell:
            self._changes.created_ids.discard(temporary_coin)
            remainder = slot.cell[0][1][0] + self._context.gas.budget
        else:
            self._changes.gas_coin = temporary_coin
        self._changes.move_sui(payment.payer, remainder - payment.balance)

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
        """Write a child if it is new, or if its value or its parent has changed.

        A child borrowed by `&mut` may be unchanged, so the method compares its bytes.
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
        """Refuse a consumed shared object that was neither deleted nor shared again."""
        for object_id, before in self._changes.modified.items():
            if not isinstance(before.owner, Shared):
                continue
            write = self._changes.written.get(object_id)
            is_allowed = (
                object_id in self._changes.deleted_ids
                if write is None
                else isinstance(write.owner, Shared)
            )
            if not is_allowed:
                raise CommandFailed(
                    ErrorKind.SHARED_OBJECT_OPERATION_NOT_ALLOWED,
                    message=f"Shared object operation on {object_id} not allowed",
                )

    def _check_coin_owners(self) -> None:
        """Refuse coin owners that the coin's deny list does not allow."""
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
        """Check the estimated size of the effects and the size of the written objects."""
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
        """Estimate the size of the effects, as `estimate_effects_size_upperbound_v2` does."""
        changes = len(self._changes.written) + len(self._changes.modified)
        inputs = len(self._inputs.objects) + len(self._inputs.packages)
        return _EFFECTS_BYTES + _CHANGE_BYTES * changes + _DEPENDENCY_BYTES * inputs
