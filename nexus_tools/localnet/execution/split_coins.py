"""The command `SplitCoins`."""

from nexus_tools.localnet.execution.arguments import Arguments, by_value_all
from nexus_tools.localnet.execution.coins import MAX_BALANCE, coin_value, is_coin
from nexus_tools.localnet.execution.command import CommandOutcome
from nexus_tools.localnet.execution.context import ExecutionContext, ResultValue
from nexus_tools.localnet.execution.errors import CommandFailed, argument_failed
from nexus_tools.sui.execution_status import ArgumentErrorKind, ErrorKind
from nexus_tools.sui.transaction import SplitCoins
from nexus_tools.sui.type_tag import Primitive


def split_coins(context: ExecutionContext, command: SplitCoins) -> CommandOutcome:
    """Take new coins of the given amounts from a coin."""
    arguments = Arguments(context)
    arguments.locate((command.coin, *command.amounts))
    slot = arguments.object(0, command.coin, ArgumentErrorKind.TYPE_MISMATCH)
    if not is_coin(slot.type):
        raise argument_failed(0, ArgumentErrorKind.TYPE_MISMATCH)
    coin = arguments.lend(0, command.coin, slot, mutable=True).read()
    context.charge_reference()  # the interpreter copies it to read the balance
    amounts = by_value_all(arguments, command.amounts, Primitive.U64, start=1)
    total = sum(amounts)
    if total > MAX_BALANCE:
        raise CommandFailed(ErrorKind.COIN_BALANCE_OVERFLOW)
    balance = coin[1]
    if total > balance[0]:
        raise CommandFailed(
            ErrorKind.INSUFFICIENT_COIN_BALANCE, message=f"balance: {balance[0]} required: {total}"
        )
    balance[0] -= total
    new = [coin_value(context.runtime.fresh_id(), amount) for amount in amounts]
    return CommandOutcome([ResultValue(slot.type, value) for value in new], arguments)
