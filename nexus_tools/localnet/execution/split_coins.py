"""The command `SplitCoins`."""

from nexus_tools.localnet.execution.arguments import Arguments
from nexus_tools.localnet.execution.coins import coin_value, is_coin
from nexus_tools.localnet.execution.command import CommandOutcome
from nexus_tools.localnet.execution.context import ExecutionContext, ResultValue
from nexus_tools.localnet.execution.errors import CommandFailed, argument_failed
from nexus_tools.sui.execution_status import ArgumentErrorKind, ErrorKind
from nexus_tools.sui.transaction import SplitCoins
from nexus_tools.sui.type_tag import Primitive


def split_coins(context: ExecutionContext, command: SplitCoins) -> CommandOutcome:
    """Take new coins of the given amounts from a coin."""
    arguments = Arguments(context)
    slot = arguments.object(0, command.coin)
    if not is_coin(slot.type):
        raise argument_failed(0, ArgumentErrorKind.TYPE_MISMATCH)
    coin = arguments.lend(0, command.coin, slot, mutable=True).read()
    context.charge_reference()  # the interpreter copies it to read the balance
    results = []
    for index, argument in enumerate(command.amounts, 1):
        amount = arguments.by_value(index, argument, Primitive.U64)
        balance = coin[1]
        if amount > balance[0]:
            raise CommandFailed(
                ErrorKind.INSUFFICIENT_COIN_BALANCE,
                message=f"balance: {balance[0]} required: {amount}",
            )
        balance[0] -= amount
        results.append(ResultValue(slot.type, coin_value(context.runtime.fresh_id(), amount)))
    return CommandOutcome(results, arguments)
