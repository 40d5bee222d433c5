"""Using the values of a transaction as arguments: by value, by `&`, by `&mut`.

Source: `static_programmable_transactions/typing` of `sui-adapter`. There all commands are checked
before the first is executed, here each is checked when its turn comes: a transaction with two
mistakes may end with the other one.
"""

from collections.abc import Sequence

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.environment import Mode
from nexus_tools.localnet.execution.errors import argument_failed
from nexus_tools.localnet.execution.pure import pure_check
from nexus_tools.localnet.execution.slots import PureSlot, ReceivingSlot, Slot, ValueSlot
from nexus_tools.localnet.vm import Reference, Value, copy_value
from nexus_tools.sui.address import SUI_FRAMEWORK
from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.execution_status import ArgumentErrorKind
from nexus_tools.sui.object import Shared
from nexus_tools.sui.transaction import Argument
from nexus_tools.sui.type_tag import StructTag, TypeTag

_PURE_ABILITIES = Ability.COPY | Ability.DROP | Ability.STORE


class Arguments:
    """The arguments of one command: located, then typed, then taken, each in their order.

    `cliques` are those of all values that were used; `mutated` are the arguments lent as `&mut`.
    """

    def __init__(self, context: ExecutionContext, *, gas_by_value: bool = False) -> None:
        self._context = context
        self._gas_by_value = gas_by_value
        self._borrows: dict[int, list[tuple[int, bool]]] = {}  # by slot: argument, mutable
        self.cliques: list[int] = []
        self.consumes_shared_object = False
        self.mutated: list[tuple[Argument, ValueSlot]] = []

    def locate(self, arguments: Sequence[Argument]) -> None:
        """Refuse arguments that name nothing, whatever else may be wrong with the others."""
        for index, argument in enumerate(arguments):
            self._context.slot(argument, index)

    def by_value(self, index: int, argument: Argument, tag: TypeTag) -> Value:
        """A value of this type, copied if it may be, else moved out of its slot."""
        return self.take(index, self.typed(index, argument, tag))

    def typed(self, index: int, argument: Argument, tag: TypeTag) -> ValueSlot:
        """The slot of an argument, which has to be of this type."""
        slot = self._context.slot(argument, index)
        if isinstance(slot, PureSlot):
            return self._typed_pure(index, slot, tag)
        if isinstance(slot, ReceivingSlot):
            return self._typed_receiving(index, slot, tag)
        if slot.type != tag:
            raise argument_failed(index, ArgumentErrorKind.TYPE_MISMATCH)
        return slot

    def object(self, index: int, argument: Argument, otherwise: ArgumentErrorKind) -> ValueSlot:
        """The slot of an argument that has a type of its own, whatever it is."""
        slot: Slot = self._context.slot(argument, index)
        if isinstance(slot, PureSlot | ReceivingSlot):
            raise argument_failed(index, otherwise)
        return slot

    def take(self, index: int, slot: ValueSlot) -> Value:
        """The value of a slot, copied if it may be, else moved."""
        self.check_may_be_taken(index, slot)
        cell = self._context.cell(slot)
        if not cell:
            raise argument_failed(index, ArgumentErrorKind.ARGUMENT_WITHOUT_VALUE)
        self.cliques.append(slot.clique)
        is_borrowed = id(slot) in self._borrows
        slot.used_by_value_last = not is_borrowed
        self._charge_taking(slot, cell[0])
        if Ability.COPY in slot.abilities:
            return copy_value(cell[0])
        if is_borrowed:
            raise argument_failed(index, ArgumentErrorKind.CANNOT_MOVE_BORROWED_VALUE)
        if slot.input is not None and isinstance(slot.input.object.owner, Shared):
            self.consumes_shared_object = True
        if slot.is_hot_potato:
            self._context.cliques.cool(slot.clique)
        slot.cell = []
        return cell[0]

    def lend(self, index: int, argument: Argument, slot: ValueSlot, *, mutable: bool) -> Reference:
        """A reference to the value of a slot."""
        if mutable:
            self.check_may_be_changed(index, slot)
        cell = self._context.cell(slot)
        if not cell:
            raise argument_failed(index, ArgumentErrorKind.ARGUMENT_WITHOUT_VALUE)
        self._borrows.setdefault(id(slot), []).append((index, mutable))
        self._context.charge_reference()
        self.cliques.append(slot.clique)
        slot.used_by_value_last = False
        if mutable:
            slot.lent_mutably = True
            self.mutated.append((argument, slot))
        return Reference(cell, 0)

    def check_references(self) -> None:
        """Refuse two references to one value of which one is mutable, when all are taken."""
        for borrows in self._borrows.values():
            mutable = [index for index, is_mutable in borrows if is_mutable]
            if mutable and len(borrows) > 1:
                raise argument_failed(mutable[0], ArgumentErrorKind.INVALID_REFERENCE_ARGUMENT)

    def finish(self) -> int:
        """The clique of all that was used, and of what comes out of the command."""
        cliques = self._context.cliques
        merged = cliques.merge(self.cliques)
        if self.consumes_shared_object:
            cliques.heat_for_ever(merged)
        return merged

    def _charge_taking(self, slot: ValueSlot, value: Value) -> None:
        """Of all uses of a value that can be copied one moves it: here that is the first."""
        if slot.is_taken:
            self._context.charge_copy(slot.type, value)
        else:
            self._context.charge_reference()
        slot.is_taken = True

    def check_may_be_taken(self, index: int, slot: ValueSlot) -> None:
        """Refuse to move an object that is only read, and the gas coin but to transfer it."""
        if slot.is_gas_coin and not self._gas_by_value:
            raise argument_failed(index, ArgumentErrorKind.INVALID_GAS_COIN_USAGE)
        if slot.input is None:
            return
        if not slot.input.mutable and self._context.mode is not Mode.INSPECT:
            raise argument_failed(index, ArgumentErrorKind.INVALID_OBJECT_BY_VALUE)

    def check_may_be_changed(self, index: int, slot: ValueSlot) -> None:
        """Refuse to change an object that is only read."""
        immutable = slot.input is not None and not slot.input.mutable
        if immutable and self._context.mode is not Mode.INSPECT:
            raise argument_failed(index, ArgumentErrorKind.INVALID_OBJECT_BY_MUT_REF)

    def _typed_pure(self, index: int, slot: PureSlot, tag: TypeTag) -> ValueSlot:
        found = slot.typed.get(tag)
        if found is None:
            found = slot.typed[tag] = self._decode_pure(index, slot, tag)
        return found

    def _decode_pure(self, index: int, slot: PureSlot, tag: TypeTag) -> ValueSlot:
        inspecting = self._context.mode is Mode.INSPECT
        check = pure_check(tag)
        if check is None and not inspecting:
            raise argument_failed(index, ArgumentErrorKind.INVALID_USAGE_OF_PURE_ARGUMENT)
        try:
            value = self._context.machine.decode(tag, slot.data)
        except BcsError:
            raise argument_failed(index, ArgumentErrorKind.INVALID_BCS_BYTES) from None
        if check is not None and not check(value):
            raise argument_failed(index, ArgumentErrorKind.INVALID_BCS_BYTES)
        self._context.charge_copy(tag, value)
        abilities = _PURE_ABILITIES if check else self._context.abilities(tag)
        return ValueSlot(tag, abilities, slot.clique, [value])

    def _typed_receiving(self, index: int, slot: ReceivingSlot, tag: TypeTag) -> ValueSlot:
        found = slot.typed.get(tag)
        if found is None:
            if not _is_receiving(tag):
                raise argument_failed(index, ArgumentErrorKind.TYPE_MISMATCH)
            reference = slot.reference
            value = [[bytes(reference.object_id)], reference.version]
            self._context.charge_copy(tag, value)
            found = slot.typed[tag] = ValueSlot(tag, Ability.DROP, slot.clique, [value])
        return found


def _is_receiving(tag: TypeTag) -> bool:
    return isinstance(tag, StructTag) and (tag.address, tag.module, tag.name) == (
        SUI_FRAMEWORK,
        "transfer",
        "Receiving",
    )


def by_value_all(
    arguments: Arguments, values: Sequence[Argument], tag: TypeTag, start: int = 0
) -> list[Value]:
    """Values of one type, of arguments that begin at the command's `start`th."""
    return [
        arguments.by_value(index, argument, tag) for index, argument in enumerate(values, start)
    ]
