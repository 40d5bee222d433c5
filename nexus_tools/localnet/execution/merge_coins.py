"""The command `MergeCoins`."""

from nexus_tools.localnet.execution.arguments import Arguments, by_value_all
from nexus_tools.localnet.execution.coins import MAX_BALANCE, is_coin
from nexus_tools.localnet.execution.command import CommandOutcome
from nexus_tools.localnet.execution.context import ExecutionContext
from nexus_tools.localnet.execution.errors import CommandFailed, argument_failed
from nexus_tools.localnet.natives import object_id_of
from nexus_tools.sui.execution_status import ArgumentErrorKind, ErrorKind
from nexus_tools.sui.transaction import MergeCoins


def merge_coins(context: ExecutionContext, command: MergeCoins) -> CommandOutcome:
    """Put coins of the same type into a coin; they cease to exist."""
    arguments = Arguments(context)
    arguments.locate((command.destination, *command.sources))
    slot = arguments.object(0, command.destination, ArgumentErrorKind.TYPE_MISMATCH)
    if not is_coin(slot.type):
        raise argument_failed(0, ArgumentErrorKind.TYPE_MISMATCH)
    balance = arguments.lend(0, command.destination, slot, mutable=True).read()[1]
    for coin in by_value_all(arguments, command.sources, slot.type, start=1):
        context.runtime.delete_id(object_id_of(coin))
        balance[0] += coin[1][0]
        if balance[0] > MAX_BALANCE:
            raise CommandFailed(ErrorKind.COIN_BALANCE_OVERFLOW)
    context.charge_reference()  # the interpreter copies it to read the balance
    return CommandOutcome((), arguments)
