"""The state of a programmable transaction while its commands run."""

from collections.abc import Sequence
from dataclasses import dataclass

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.execution.cliques import Cliques
from nexus_tools.localnet.execution.coins import coin_value
from nexus_tools.localnet.execution.environment import Mode, ObjectStore
from nexus_tools.localnet.execution.errors import argument_failed
from nexus_tools.localnet.execution.gas import GasStatus
from nexus_tools.localnet.execution.gas_payment import GasPayment
from nexus_tools.localnet.execution.inputs import InputObject, TransactionInputs
from nexus_tools.localnet.execution.slots import PureSlot, ReceivingSlot, Slot, ValueSlot
from nexus_tools.localnet.natives import ObjectRuntime, Transfer
from nexus_tools.localnet.vm import REFERENCE_BYTES, Context, Machine, Value
from nexus_tools.sui.address import Address
from nexus_tools.sui.address_balance import withdrawal_tag
from nexus_tools.sui.event import Event
from nexus_tools.sui.execution_status import ArgumentErrorKind
from nexus_tools.sui.funds_withdrawal import FundsWithdrawal
from nexus_tools.sui.object import MoveObject, MovePackage
from nexus_tools.sui.transaction import (
    Argument,
    GasCoin,
    Input,
    InputArgument,
    OwnedObject,
    Pure,
    ReceivingObject,
    Result,
    SharedObject,
)
from nexus_tools.sui.type_tag import GAS_COIN, StructTag, TypeTag

_COIN_ABILITIES = Ability.KEY | Ability.STORE


@dataclass(frozen=True, slots=True)
class ResultValue:
    """A value that a command returns."""

    type: TypeTag
    value: Value


class ExecutionContext:
    """The values of a transaction by their arguments, and what commands have done besides."""

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
        self.cliques = Cliques()
        self.transfers: dict[Address, Transfer] = {}
        self.new_packages: list[MovePackage] = []
        self.events: list[Event] = []
        self.gas_slot: ValueSlot | None = None
        self.made_gas_coin: Address | None = None
        self.input_slots: list[Slot] = []
        self.results: list[list[ValueSlot]] = []
        self._objects = inputs.objects

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
        self.gas_slot = ValueSlot(
            GAS_COIN,
            _COIN_ABILITIES,
            self.cliques.new(),
            [coin_value(coin_id, payment.balance - self.gas.budget)],
            InputObject(coin, mutable=True) if coin is not None else None,
            is_gas_coin=True,
        )

    def _input_slot(self, value: Input) -> Slot:
        clique = self.cliques.new()
        if isinstance(value, Pure):
            return PureSlot(value.value, clique)
        if isinstance(value, ReceivingObject):
            return ReceivingSlot(value.reference, clique)
        if isinstance(value, FundsWithdrawal):
            right = [bytes(self.runtime.transaction.sender), value.amount]
            return ValueSlot(withdrawal_tag(value.type), Ability.DROP, clique, [right])
        assert isinstance(value, OwnedObject | SharedObject)
        object_id = (
            value.object_id if isinstance(value, SharedObject) else value.reference.object_id
        )
        found = self._objects[object_id]
        assert isinstance(found.object.data, MoveObject)
        tag = found.object.data.type
        return ValueSlot(tag, self.abilities(tag), clique, None, found)

    def add_results(self, values: Sequence[ResultValue], clique: int) -> None:
        """The results of the command that was run."""
        slots = []
        for result in values:
            slot = ValueSlot(result.type, self.abilities(result.type), clique, [result.value])
            if slot.is_hot_potato:
                self.cliques.heat(clique)
            slots.append(slot)
        self.results.append(slots)

    # --- Finding slots

    def slot(self, argument: Argument, index: int) -> Slot:
        """The slot that the command's `index`th argument names. Raises `CommandFailed`."""
        if isinstance(argument, InputArgument):
            if argument.index >= len(self.input_slots):
                raise argument_failed(index, ArgumentErrorKind.INDEX_OUT_OF_BOUNDS, argument.index)
            return self.input_slots[argument.index]
        if isinstance(argument, GasCoin):
            if self.gas_slot is None:
                raise argument_failed(index, ArgumentErrorKind.ARGUMENT_WITHOUT_VALUE)
            return self.gas_slot
        if argument.command >= len(self.results):
            raise argument_failed(index, ArgumentErrorKind.INDEX_OUT_OF_BOUNDS, argument.command)
        results = self.results[argument.command]
        if isinstance(argument, Result):
            if len(results) != 1:
                raise argument_failed(
                    index, ArgumentErrorKind.INVALID_RESULT_ARITY, argument.command
                )
            return results[0]
        if argument.index >= len(results):
            raise argument_failed(
                index,
                ArgumentErrorKind.SECONDARY_INDEX_OUT_OF_BOUNDS,
                argument.command,
                argument.index,
            )
        return results[argument.index]

    def cell(self, slot: ValueSlot) -> list[Value]:
        """The value of a slot in a list; an input object is decoded when it is first used."""
        if slot.cell is None:
            assert slot.input is not None
            data = slot.input.object.data
            assert isinstance(data, MoveObject)
            slot.cell = [self.machine.decode(slot.type, data.contents)]
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
