"""The command `TransferObjects`."""

from nexus_tools.localnet.bytecode.module import Ability
from nexus_tools.localnet.execution.arguments import Arguments
from nexus_tools.localnet.execution.command import CommandOutcome
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.errors import argument_failed
from nexus_tools.localnet.natives import Transfer, object_id_of
from nexus_tools.sui.address import Address
from nexus_tools.sui.execution_status import ArgumentErrorKind
from nexus_tools.sui.object import AddressOwner
from nexus_tools.sui.transaction import TransferObjects
from nexus_tools.sui.type_tag import Primitive, StructTag

_PUBLIC_OBJECT = Ability.KEY | Ability.STORE


def transfer_objects(context: ExecutionContext, command: TransferObjects) -> CommandOutcome:
    """Give objects, which everyone may transfer, to an address. The gas coin may be among them."""
    arguments = Arguments(context, gas_by_value=True)
    arguments.locate((*command.objects, command.address))
    slots = []
    for index, argument in enumerate(command.objects):
        slot = arguments.object(index, argument, ArgumentErrorKind.INVALID_TRANSFER_OBJECT)
        if slot.abilities & _PUBLIC_OBJECT != _PUBLIC_OBJECT:
            raise argument_failed(index, ArgumentErrorKind.INVALID_TRANSFER_OBJECT)
        slots.append(slot)
    recipient_slot = arguments.typed(len(slots), command.address, Primitive.ADDRESS)
    taken = [(slot.type, arguments.take(index, slot)) for index, slot in enumerate(slots)]
    recipient = arguments.take(len(slots), recipient_slot)
    owner = AddressOwner(Address(recipient))
    for tag, value in taken:
        assert isinstance(tag, StructTag)  # only structs have the ability key
        context.transfers[object_id_of(value)] = Transfer(owner, tag, value)
    return CommandOutcome((), arguments)
