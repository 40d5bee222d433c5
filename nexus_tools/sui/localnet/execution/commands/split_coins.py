"""The command `SplitCoins`."""

from itertools import repeat

from nexus_tools.sui.localnet.execution.commands.argument_typing import ArgumentTyper
from nexus_tools.sui.localnet.execution.commands.context import ExecutionContext, coin_value
from nexus_tools.sui.localnet.execution.commands.typed_command import TypedCommand
from nexus_tools.sui.localnet.execution.errors import CommandFailed
from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.coin import MAX_BALANCE
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.transaction import SplitCoins
from nexus_tools.sui.types.type_tag import Primitive


def type_split_coins(typer: ArgumentTyper, command: SplitCoins, _loaded: None) -> TypedCommand:
    """Require a coin borrowed by `&mut`, and the amount of each new coin as u64."""
    coin, *amounts = typer.locate((command.coin, *command.amounts))
    typed_coin = typer.coin(coin)
    typed_amounts = typer.all_typed(amounts, repeat(Primitive.U64))
    arguments = [typed_coin, *typed_amounts]
    results = [typer.result(typed_coin.slot.type) for _ in amounts]
    return TypedCommand(command, None, arguments, results)


def split_coins(context: ExecutionContext, command: TypedCommand) -> list[Value]:
    """Split the given amounts off a coin, and return the new coins."""
    coin, *amount_arguments = command.arguments
    balance = context.take(coin).read()[1]
    amounts = context.take_all(amount_arguments)
    total = sum(amounts)
    if total > MAX_BALANCE:
        raise CommandFailed(ErrorKind.COIN_BALANCE_OVERFLOW)
    context.charge_reference()  # the interpreter copies the reference to read the balance
    if total > balance[0]:
        raise CommandFailed(
            ErrorKind.INSUFFICIENT_COIN_BALANCE, message=f"balance: {balance[0]} required: {total}"
        )
    balance[0] -= total
    return [coin_value(context.runtime.fresh_id(), amount) for amount in amounts]
