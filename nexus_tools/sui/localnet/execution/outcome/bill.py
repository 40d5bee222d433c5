"""The bill of a transaction: computation, and storing what it leaves behind.

Whoever writes an object pays for its bytes, and gets 99 % of that back when the object goes; what
was paid is kept with the object as its *rebate*. So everything that a transaction changes is
charged as if it were new, and given back as it was before. A transfer of 1 MIST at a price of
1 000 MIST per unit, of a coin of 20 000 000 MIST with a budget of 15 000 000:

                                          MIST
    computation    1 000 units x 1 000    1 000 000
    storage cost   130 bytes x 7 600        988 000   the coin that pays, which is written again
                   130 bytes x 7 600        988 000   the coin that is new
    rebate         99 % of 988 000         -978 120   of the coin that pays, as it was before
                                          ---------
    what the coin that pays loses         1 997 880   and the 1 MIST that was sent

If the budget does not suffice, what the commands did is forgotten and the bill is made anew, for
the inputs alone.
"""

from collections.abc import Callable

from msgspec import Struct

from nexus_tools.sui.localnet.execution.gas import (
    GasStatus,
    StorageCharge,
    UnmeteredGas,
    storage_cost,
)
from nexus_tools.sui.localnet.execution.limits import MAX_GAS_PRICE_FACTOR_OF_ABORTED
from nexus_tools.sui.localnet.execution.outcome.changes import Changes, CommandsRun, Write
from nexus_tools.sui.types.address import SYSTEM_STATE, Address
from nexus_tools.sui.types.coin import coin_balance, gas_coin
from nexus_tools.sui.types.effects import GasCostSummary
from nexus_tools.sui.types.execution_status import ErrorKind, Success
from nexus_tools.sui.types.object import MoveObject


class Bill(Struct, frozen=True):
    """MIST for computation, the charge for storage, the new rebates by id."""

    computation_cost: int
    storage: StorageCharge
    rebates: dict[Address, int]

    def costs(self, gas: GasStatus) -> GasCostSummary:
        """The bill as effects have it."""
        return gas.summary(self.computation_cost, self.storage)


def settle(
    run: CommandsRun, gas: GasStatus, reference_price: int, untouched: Callable[[], Changes]
) -> tuple[CommandsRun, Bill]:
    """Charge what was done; if the budget does not suffice, nothing is done but to charge.

    `untouched` gives what is left then.
    """
    # Computation has used up the budget: nothing is left for storage.
    computation, enough = gas.computation_cost(_price_max(run, reference_price))
    if not enough and run.succeeded:
        run = run.out_of_gas(untouched())
    bill = _bill(computation, run.changes, gas)
    if gas.can_pay(computation, bill.storage):
        return run, bill
    # Storing what was done is too dear. Storing the inputs again costs little, and what was paid
    # for them comes back: mostly that is within the budget.
    run = run.out_of_gas(untouched())
    bill = _bill(computation, run.changes, gas)
    if gas.can_pay(computation, bill.storage):
        return run, bill
    return run, _whole_budget(run.changes, gas)


def _price_max(run: CommandsRun, reference_price: int) -> int | None:
    """What a gas unit costs at most: Move code that aborts has not to outbid others."""
    if isinstance(run.status, Success) or run.status.error.kind is not ErrorKind.MOVE_ABORT:
        return None
    return reference_price * MAX_GAS_PRICE_FACTOR_OF_ABORTED


def _bill(computation: int, changes: Changes, gas: GasStatus) -> Bill:
    """What storing the changes costs, and what comes back for what was there before."""
    returned = sum([value.storage_rebate for value in changes.modified.values()])
    if isinstance(gas, UnmeteredGas):
        # Nobody is paid what the network's own transactions free. It stays with the system state.
        kept = {SYSTEM_STATE: returned} if returned and SYSTEM_STATE in changes.written else {}
        return Bill(0, StorageCharge(0, 0), kept)
    rebates = {object_id: storage_cost(write.data) for object_id, write in changes.written.items()}
    return Bill(computation, StorageCharge(sum(rebates.values()), returned), rebates)


def _whole_budget(changes: Changes, gas: GasStatus) -> Bill:
    """Not even the inputs can be stored again: the budget goes whole, rebates stay as they are."""
    rebates = {object_id: value.storage_rebate for object_id, value in changes.modified.items()}
    gone = sum(rebate for object_id, rebate in rebates.items() if object_id not in changes.written)
    return Bill(gas.budget, StorageCharge(0, gone), rebates)


def pay(run: CommandsRun, payer: Address, gas: GasStatus, net_cost: int, version: int) -> None:
    """Take the costs (MIST) out of the gas coin, wherever it is now, or of an address balance."""
    coin_id = run.changes.gas_coin
    if coin_id is None:
        run.changes.move_sui(payer, -net_cost)
        return
    write = run.changes.written[coin_id]
    assert isinstance(write.data, MoveObject)
    # While commands ran, the coin lacked the budget.
    # Those of a run that failed never had the coin: it is as it was smashed, with the budget.
    refund = gas.budget if run.succeeded else 0
    balance = coin_balance(write.data) + refund - net_cost
    run.changes.written[coin_id] = Write(write.owner, gas_coin(coin_id, balance, version))
