"""The command `TransferObjects`."""

from nexus_tools.sui.bytecode import Ability
from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.typed_command import TypedCommand, ValueSlot
from nexus_tools.sui.localnet.natives import Transfer, object_id_of
from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import ArgumentErrorKind
from nexus_tools.sui.types.object import AddressOwner
from nexus_tools.sui.types.transaction import TransferObjects
from nexus_tools.sui.types.type_tag import Primitive, StructTag

_PUBLIC_OBJECT = Ability.KEY | Ability.STORE


def type_transfer_objects(
    typer: ArgumentTyper, command: TransferObjects, _loaded: None
) -> TypedCommand:
    """Require objects with the abilities `key` and `store`, and the recipient's address."""
    *objects, address = typer.locate((*command.objects, command.address))
    error_kind = ArgumentErrorKind.INVALID_TRANSFER_OBJECT
    arguments = [typer.fixed(located, _is_public_object, error_kind) for located in objects]
    arguments.append(typer.typed(address, Primitive.ADDRESS))
    return TypedCommand(command, None, arguments)


def _is_public_object(slot: ValueSlot) -> bool:
    return _PUBLIC_OBJECT in slot.abilities


def transfer_objects(context: ExecutionContext, command: TypedCommand) -> list[Value]:
    """Transfer objects to an address."""
    *objects, recipient = context.take_all(command.arguments)
    owner = AddressOwner(Address(recipient))
    for argument, value in zip(command.arguments, objects, strict=False):
        tag = argument.slot.type
        assert isinstance(tag, StructTag)  # only structs have the ability key
        context.transfers[object_id_of(value)] = Transfer(owner, tag, value)
    return []
