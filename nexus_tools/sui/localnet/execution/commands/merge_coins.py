"""The command `MergeCoins`."""

from itertools import repeat

from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext
from nexus_tools.sui.localnet.execution.commands.typed_command import TypedCommand
from nexus_tools.sui.localnet.execution.errors import CommandFailed
from nexus_tools.sui.localnet.natives import object_id_of
from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.coin import MAX_BALANCE
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.transaction import MergeCoins


def type_merge_coins(typer: ArgumentTyper, command: MergeCoins, _loaded: None) -> TypedCommand:
    """Require a destination coin borrowed by `&mut`, and source coins of the same type by value."""
    destination, *sources = typer.locate((command.destination, *command.sources))
    coin = typer.coin(destination)
    typed_sources = typer.all_typed(sources, repeat(coin.slot.type))
    return TypedCommand(command, None, [coin, *typed_sources])


def merge_coins(context: ExecutionContext, command: TypedCommand) -> list[Value]:
    """Merge the source coins into the destination coin, and delete the source coins."""
    destination, *sources = command.arguments
    balance = context.take(destination).read()[1]
    for coin in context.take_all(sources):
        context.runtime.delete_id(object_id_of(coin))
        balance[0] += coin[1][0]
        if balance[0] > MAX_BALANCE:
            raise CommandFailed(ErrorKind.COIN_BALANCE_OVERFLOW)
    context.charge_reference()  # the interpreter copies the reference to read the balance
    return []
