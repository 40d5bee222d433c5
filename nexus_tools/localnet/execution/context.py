"""The state of a programmable transaction while its commands are checked and executed."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.execution.coins import coin_value
from nexus_tools.localnet.execution.environment import Mode, ObjectStore
from nexus_tools.localnet.execution.gas import GasStatus
from nexus_tools.localnet.execution.gas_payment import GasPayment
from nexus_tools.localnet.execution.inputs import InputObject, TransactionInputs
from nexus_tools.localnet.execution.slots import PureSlot, ReceivingSlot, Slot, ValueSlot
from nexus_tools.localnet.natives import ObjectRuntime, Transfer
from nexus_tools.localnet.vm import REFERENCE_BYTES, Context, Machine, Value
from nexus_tools.sui.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.address_balance import withdrawal_tag
from nexus_tools.sui.event import Event
from nexus_tools.sui.funds_withdrawal import FundsWithdrawal
from nexus_tools.sui.object import MoveObject, MovePackage
from nexus_tools.sui.transaction import (
    Input,
    OwnedObject,
    Pure,
    ReceivingObject,
    SharedObject,
)
from nexus_tools.sui.type_tag import GAS_COIN, StructTag, TypeTag

TX_CONTEXT = StructTag(SUI_FRAMEWORK, "tx_context", "TxContext")

_COIN_ABILITIES = Ability.KEY | Ability.STORE

_Command = TypeVar("_Command")


class ExecutionContext:
    """The values of a transaction by their arguments, and what commands have done besides.

    `command_index` is that of the command whose turn it is; None before and after.
    `asked_deny_list` says that the deny list was looked at.
    """

    def __init__(
        self,
        *,
        machine: Machine,
        store: ObjectStore,
        runtime: ObjectRuntime,
        gas: GasStatus,
        mode: Mode,
        inputs: TransactionInputs,
    ) -> None:
        self.machine = machine
        self.store = store
        self.runtime = runtime
        self.gas = gas
        self.mode = mode
        self.call_context = Context(machine, gas.meter, runtime)
        self.transfers: dict[Address, Transfer] = {}
        self.new_packages: list[MovePackage] = []
        self.events: list[Event] = []
        self.command_index: int | None = None
        self.asked_deny_list = False
        self.gas_slot = ValueSlot(GAS_COIN, _COIN_ABILITIES, is_gas_coin=True)
        self.made_gas_coin: Address | None = None
        self.tx_context = ValueSlot(TX_CONTEXT, Ability.NONE, [runtime.transaction.as_move_value()])
        self.input_slots: list[Slot] = []
        self.results: list[Sequence[ValueSlot]] = []
        self._objects = inputs.objects

    def in_turn(self, commands: Iterable[_Command]) -> Iterator[_Command]:
        """Each command; while it is looked at, errors are its own."""
        for self.command_index, command in enumerate(commands):
            yield command
        self.command_index = None

    # --- Making slots

    def open(self, inputs: Sequence[Input], payment: GasPayment | None) -> None:
        """Lay out the inputs, and the gas coin without the budget."""
        self.input_slots = [self._input_slot(value) for value in inputs]
        if payment is None:
            return
        coin = payment.coin
        if coin is None:
            self.made_gas_coin = self.runtime.fresh_id()
        coin_id = self.made_gas_coin if coin is None else coin.id
        assert coin_id is not None
        self.gas_slot.cell = [coin_value(coin_id, payment.balance - self.gas.budget)]
        if coin is not None:
            self.gas_slot.input = InputObject(coin, mutable=True)

    def _input_slot(self, value: Input) -> Slot:
        if isinstance(value, Pure):
            return PureSlot(value.value)
        if isinstance(value, ReceivingObject):
            return ReceivingSlot(value.reference)
        if isinstance(value, FundsWithdrawal):
            right = [bytes(self.runtime.transaction.sender), value.amount]
            return ValueSlot(withdrawal_tag(value.type), Ability.DROP, [right])
        assert isinstance(value, OwnedObject | SharedObject)
        object_id = (
            value.object_id if isinstance(value, SharedObject) else value.reference.object_id
        )
        found = self._objects[object_id]
        assert isinstance(found.object.data, MoveObject)
        tag = found.object.data.type
        return ValueSlot(tag, self.abilities(tag), None, found, is_unread=True)

    # --- Values

    def cell(self, slot: ValueSlot) -> list[Value]:
        """The value of a slot in a list; an input is read, and charged for, when it is first used.

        Raises `OutOfGas`.
        """
        if slot.cell is None:
            assert slot.input is not None
            data = slot.input.object.data
            assert isinstance(data, MoveObject)
            slot.cell = [self.machine.decode(slot.type, data.contents)]
        if slot.is_unread:
            slot.is_unread = False
            self.charge_copy(slot.type, slot.cell[0])
        return slot.cell

    # --- Gas: what the interpreter of commands does is charged as instructions are

    def charge_copy(self, tag: TypeTag, value: Value) -> None:
        """Charge for a value that is read, or copied. Raises `OutOfGas`."""
        self.gas.meter.charge_push(self.machine.size(tag, value))

    def charge_reference(self) -> None:
        """Charge for a value that is lent, or moved. Raises `OutOfGas`."""
        self.gas.meter.charge_push(REFERENCE_BYTES)

    # --- Types

    def abilities(self, tag: TypeTag) -> Ability:
        """What values of a type may be used for."""
        return _COIN_ABILITIES if tag == GAS_COIN else self.machine.abilities(tag)

    def has_public_transfer(self, tag: StructTag) -> bool:
        """Whether everyone who owns an object of this type may transfer it."""
        return Ability.STORE in self.abilities(tag)
