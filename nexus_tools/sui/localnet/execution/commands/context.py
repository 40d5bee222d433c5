"""The values of a programmable transaction while its commands are checked and executed.

Commands take their arguments from the context by value, by `&` or by `&mut`. The checks before the
first command ensure that these uses are allowed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.execution.commands.typed_command import (
    PureSlot,
    ReceivingSlot,
    Slot,
    TypedArgument,
    Usage,
    ValueSlot,
)
from nexus_tools.sui.localnet.execution.environment import Mode, ObjectStore
from nexus_tools.sui.localnet.execution.gas import GasPayment, GasStatus
from nexus_tools.sui.localnet.execution.inputs import InputObject, TransactionInputs
from nexus_tools.sui.localnet.natives import ObjectRuntime, Transfer
from nexus_tools.sui.localnet.vm import (
    REFERENCE_BYTES,
    Context,
    Machine,
    Reference,
    Value,
    copy_value,
)
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import FundsWithdrawal, withdrawal_tag
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.object import MoveObject, MovePackage
from nexus_tools.sui.types.transaction import (
    Input,
    OwnedObject,
    Pure,
    ReceivingObject,
    SharedObject,
)
from nexus_tools.sui.types.type_tag import GAS_COIN, TX_CONTEXT, StructTag, TypeTag

_COIN_ABILITIES = Ability.KEY | Ability.STORE

_Command = TypeVar("_Command")


def coin_value(object_id: Address, balance: int) -> Value:
    """Return a coin as a Move value.

    The Move type is `Coin { id: UID { id: ID { bytes } }, balance: Balance { value } }`. Each
    struct is a list.
    """
    return [[[bytes(object_id)]], [balance]]


class ExecutionContext:
    """The state of an execution: the slots of inputs and results, and the changes by commands.

    `command_index` is the index of the current command, or None before the first and after the
    last. `asked_deny_list` is true if the execution has read the deny list.
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
        self.call_context = Context(machine.types, gas.meter, runtime)
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
        """Yield each command, and set `command_index` for errors of this command."""
        for self.command_index, command in enumerate(commands):
            yield command
        self.command_index = None

    # --- Slots

    def open(self, inputs: Sequence[Input], payment: GasPayment | None) -> None:
        """Create the slots of the inputs and of the gas coin.

        Commands see the gas coin without the budget, so they cannot spend the amount that gas may
        cost. For example, if the coin has 20 000 000 MIST and the budget is 15 000 000, commands
        see 5 000 000.
        """
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
        input_object = self._objects[value.object_id]
        assert isinstance(input_object.object.data, MoveObject)
        tag = input_object.object.data.type
        return ValueSlot(tag, self.abilities(tag), None, input_object, is_unread=True)

    # --- Values

    def cell(self, slot: ValueSlot) -> list[Value]:
        """Return the list that contains a slot's value.

        On the first use of an input, decode and charge the input.

        Raises:
            OutOfGas: the budget is used up.
        """
        if slot.cell is None:
            assert slot.input is not None
            data = slot.input.object.data
            assert isinstance(data, MoveObject)
            slot.cell = [self.machine.types.decode(slot.type, data.contents)]
        # Inputs that no command uses are never decoded or charged here.
        if slot.is_unread:
            slot.is_unread = False
            self.charge_copy(slot.type, slot.cell[0])
        return slot.cell

    def take(self, argument: TypedArgument) -> Value:
        """Return the value of an argument, or a reference to it.

        Raises:
            OutOfGas: the budget is used up.
        """
        return _TAKE[argument.usage](self, argument.slot, argument.moves)

    def take_all(self, arguments: Iterable[TypedArgument]) -> list[Value]:
        """Return the values of arguments in order."""
        return [self.take(argument) for argument in arguments]

    # --- Gas charges of commands, which are like the charges of instructions

    def charge_copy(self, tag: TypeTag, value: Value) -> None:
        """Charge for reading or copying a value.

        Raises:
            OutOfGas: the budget is used up.
        """
        self.gas.meter.charge_push(self.machine.types.size(tag, value))

    def charge_reference(self) -> None:
        """Charge for borrowing or moving a value.

        Raises:
            OutOfGas: the budget is used up.
        """
        self.gas.meter.charge_push(REFERENCE_BYTES)

    # --- Types

    def abilities(self, tag: TypeTag) -> Ability:
        """Return the abilities of a type."""
        return _COIN_ABILITIES if tag == GAS_COIN else self.machine.types.abilities(tag)

    def has_public_transfer(self, tag: StructTag) -> bool:
        """Return whether any owner of an object of this type may transfer it."""
        return Ability.STORE in self.abilities(tag)


# --- Usages of values


def _by_value(context: ExecutionContext, slot: ValueSlot, moves: bool) -> Value:
    (value,) = context.cell(slot)
    # A move costs the size of a pointer for values of any size. A copy costs the value's bytes.
    if moves:
        context.charge_reference()
        slot.cell = []
        return value
    if slot.reference is not None:
        context.charge_reference()
        return value
    context.charge_copy(slot.type, value)
    return copy_value(value)


def _borrow(context: ExecutionContext, slot: ValueSlot, _moves: bool) -> Reference:
    context.charge_reference()
    return Reference(context.cell(slot), 0)


def _borrow_mutably(context: ExecutionContext, slot: ValueSlot, moves: bool) -> Reference:
    slot.lent_mutably = True
    return _borrow(context, slot, moves)


def _read(context: ExecutionContext, slot: ValueSlot, moves: bool) -> Value:
    value = _by_value(context, slot, moves).read()
    context.charge_copy(slot.type, value)
    return copy_value(value)


_TAKE: Mapping[Usage, Callable[[ExecutionContext, ValueSlot, bool], Value]] = {
    Usage.BY_VALUE: _by_value,
    Usage.BORROW: _borrow,
    Usage.BORROW_MUTABLY: _borrow_mutably,
    Usage.READ: _read,
    Usage.FREEZE: _by_value,
}
