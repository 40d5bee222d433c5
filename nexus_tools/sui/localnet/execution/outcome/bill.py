"""The bill of a transaction, for its computation and for the storage of the objects that it writes.

A transaction that writes an object pays for its bytes. A transaction that deletes the object gets
99 % of the amount back. The object stores the paid amount as its *rebate*. So each changed object
is charged as if it were new, and its earlier rebate is refunded. For example, a transaction splits
1 MIST off a gas coin of 20 000 000 MIST and sends it. Its price is 1 000 MIST per unit, and its
budget is 15 000 000 MIST:

                                          MIST
    computation    1 000 units x 1 000    1 000 000
    storage cost   130 bytes x 7 600        988 000   the gas coin, which is written again
                   130 bytes x 7 600        988 000   the new coin
    rebate         99 % of 988 000         -978 120   of the gas coin's earlier version
                                          ---------
    decrease of the gas coin              1 997 880   plus the 1 MIST that was sent

If the budget is insufficient, the changes of the commands are discarded, and a new bill covers only
the inputs.
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
    """The computation cost, the storage charge, and the new rebates by object ID, all in MIST."""

    computation_cost: int
    storage: StorageCharge
    rebates: dict[Address, int]

    def costs(self, gas: GasStatus) -> GasCostSummary:
        """Return the bill in the format of the effects."""
        return gas.summary(self.computation_cost, self.storage)


def settle(
    run: CommandsRun, gas: GasStatus, reference_price: int, untouched: Callable[[], Changes]
) -> tuple[CommandsRun, Bill]:
    """Return the run and its bill.

    If the budget is too small, discard the changes and bill only the inputs.

    `untouched` returns the changes that a failed transaction makes.
    """
    # If computation uses up the budget, nothing is left for storage.
    computation, is_covered = gas.computation_cost(_price_max(run, reference_price))
    if not is_covered and run.succeeded:
        run = run.out_of_gas(untouched())
    bill = _bill(computation, run.changes, gas)
    if gas.can_pay(computation, bill.storage):
        return run, bill
    # The changes are too expensive to store. Storing only the inputs again costs little, because
    # their rebates are refunded. So the budget usually covers the new bill.
    run = run.out_of_gas(untouched())
    bill = _bill(computation, run.changes, gas)
    if gas.can_pay(computation, bill.storage):
        return run, bill
    return run, _whole_budget(run.changes, gas)


def _price_max(run: CommandsRun, reference_price: int) -> int | None:
    """Return the maximum price of a gas unit, or None.

    Only a transaction that aborts has a maximum price.
    """
    if isinstance(run.status, Success) or run.status.error.kind is not ErrorKind.MOVE_ABORT:
        return None
    return reference_price * MAX_GAS_PRICE_FACTOR_OF_ABORTED


def _bill(computation: int, changes: Changes, gas: GasStatus) -> Bill:
    """Return a bill with the storage cost of the changes and the rebate of earlier versions."""
    rebate = sum([value.storage_rebate for value in changes.modified.values()])
    if isinstance(gas, UnmeteredGas):
        # If a system transaction frees rebates, they are stored in the system state object.
        kept_rebates = {SYSTEM_STATE: rebate} if rebate and SYSTEM_STATE in changes.written else {}
        return Bill(0, StorageCharge(0, 0), kept_rebates)
    rebates = {object_id: storage_cost(write.data) for object_id, write in changes.written.items()}
    return Bill(computation, StorageCharge(sum(rebates.values()), rebate), rebates)


def _whole_budget(changes: Changes, gas: GasStatus) -> Bill:
    """Return a bill for the whole budget, which is not even sufficient for the inputs.

    The objects keep their rebates.
    """
    rebates = {object_id: value.storage_rebate for object_id, value in changes.modified.items()}
    lost = sum(rebate for object_id, rebate in rebates.items() if object_id not in changes.written)
    return Bill(gas.budget, StorageCharge(0, lost), rebates)


def charge_gas(
    run: CommandsRun, payer: Address, gas: GasStatus, net_cost: int, version: int
) -> None:
    """Take the net cost in MIST from the gas coin or from the payer's address balance."""
    coin_id = run.changes.gas_coin
    if coin_id is None:
        run.changes.move_sui(payer, -net_cost)
        return
    write = run.changes.written[coin_id]
    assert isinstance(write.data, MoveObject)
    # Commands saw the coin without the budget, so the budget is added back. After a failure, the
    # coin is in its state after smashing, which includes the budget.
    refund = gas.budget if run.succeeded else 0
    balance = coin_balance(write.data) + refund - net_cost
    run.changes.written[coin_id] = Write(write.owner, gas_coin(coin_id, balance, version))
