"""The gas of a transaction: its budget, its use of the gas coin, and the remaining payment."""

import secrets

from msgspec.structs import replace

from nexus_tools.sui.bcs import u64
from nexus_tools.sui.client.coins.coin_pool import Payment
from nexus_tools.sui.client.reads import Coin
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import FundsWithdrawal
from nexus_tools.sui.types.effects import GasCostSummary, ObjectWrite, TransactionEffects
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.object import AddressOwner, ObjectReference
from nexus_tools.sui.types.transaction import (
    Argument,
    GasCoin,
    InputArgument,
    MergeCoins,
    ProgrammableTransaction,
    Pure,
    SplitCoins,
    TransferObjects,
    arguments_of,
)
from nexus_tools.sui.types.type_tag import SUI

MAX_BUDGET_MIST = 50_000_000_000_000
"""The largest gas budget, in MIST: `max_tx_gas` of the protocol configuration."""

MIN_BUDGET_UNITS = 2_000
"""The smallest budget, in gas units: twice `base_tx_cost_fixed` of the protocol configuration."""

LARGE_SIMULATION_BUDGET_MIST = 10_000_000_000
"""The budget of a simulation if the wallet has this amount: twice the maximum computation cost."""

SMALL_SIMULATION_BUDGET_MIST = 500_000_000
"""The budget of a simulation if parallel transactions share the coins.

The budget suffices for most of our transactions.
"""

_SAFETY_UNITS = 1_000
_SALT_BYTES = 16
_MARGIN_MIST = 10_000_000


def budget_for(cost: GasCostSummary, price: int) -> int:
    """Return the gas budget, in MIST, for a transaction with this simulated cost.

    The storage rebate reduces only the storage cost. The budget includes 1 000 extra gas units
    because the chain may change before execution.

    For example, at a gas price of 1 000 MIST, a transfer costs 1 000 000 MIST for computation.
    Storage costs 1 976 000 MIST, and the rebate is 978 120 MIST. The budget is 1 000 000 + 997 880
    + 1 000 000.
    """
    storage = max(0, cost.storage_cost - cost.storage_rebate)
    return cost.computation_cost + storage + _SAFETY_UNITS * price


def with_margin(budget: int) -> int:
    """Return a budget with a margin, in MIST.

    The margin covers the gas of a second transaction of the same CLI command.
    """
    return budget + max(budget // 5, _MARGIN_MIST)


def withdrawn(transaction: ProgrammableTransaction) -> int | None:
    """Return the maximum amount (MIST) that commands take from the gas coin, or None if unknown.

    The maximum is unknown if a command passes the gas coin to a Move function or transfers it. The
    maximum is also unknown if an amount is the result of a command.
    """
    total = 0
    for command in transaction.commands:
        if not isinstance(command, SplitCoins | MergeCoins):
            if GasCoin() in arguments_of(command):
                return None
        elif isinstance(command, SplitCoins) and command.coin == GasCoin():
            amounts = [_amount(transaction, amount) for amount in command.amounts]
            if None in amounts:
                return None
            total += sum(amount for amount in amounts if amount is not None)
        elif isinstance(command, MergeCoins) and GasCoin() in command.sources:
            return None
    return total


def unique(transaction: ProgrammableTransaction) -> ProgrammableTransaction:
    """Return the transaction with an additional random input that no command uses.

    A network executes identical transactions only once. Suppose that two programs share a key, and
    each program pays 1 SUI to the same address with the same coin. Without the random input, only
    one payment would be made, and both programs would receive its digest. Every protocol version
    accepts unused pure inputs. An unused input does not affect the gas.
    """
    salt = Pure(secrets.token_bytes(_SALT_BYTES))
    return replace(transaction, inputs=(*transaction.inputs, salt))


def uses_gas_coin(transaction: ProgrammableTransaction) -> bool:
    """Return whether a command uses the gas coin."""
    gas = GasCoin()
    return any(gas in arguments_of(command) for command in transaction.commands)


def transfers_gas_coin(transaction: ProgrammableTransaction) -> bool:
    """Return whether a command transfers the gas coin itself."""
    gas = GasCoin()
    commands = transaction.commands
    return any(
        isinstance(command, TransferObjects) and gas in command.objects for command in commands
    )


def withdrawals(transaction: ProgrammableTransaction) -> int:
    """Return the maximum amount (MIST) that commands withdraw from the sender's address balance."""
    inputs = transaction.inputs
    sui_withdrawals = (
        value for value in inputs if isinstance(value, FundsWithdrawal) and value.type == SUI
    )
    return sum(value.amount for value in sui_withdrawals)


def remaining_payment(
    effects: TransactionEffects, paid: Payment, taken: int | None, owner: Address
) -> Payment:
    """Return the known remainder of a transaction's payment. The actual remainder may be larger.

    `taken` is the result of `withdrawn` for the transaction. Deposits in the address balance are
    not counted because they are not usable until a checkpoint settles them.
    """
    change = effects.address_balance_change(owner, SUI)
    coin = _gas_coin_left(effects, paid, taken, owner)
    return Payment(() if coin is None else (coin,), paid.reserved_balance + min(0, change))


def _gas_coin_left(
    effects: TransactionEffects, paid: Payment, taken: int | None, owner: Address
) -> Coin | None:
    if not isinstance(effects.status, Success):
        taken = 0
    if taken is None or effects.gas_object_index is None:
        return None
    object_id, change = effects.changed_objects[effects.gas_object_index]
    if not isinstance(change.output, ObjectWrite) or change.output.owner != AddressOwner(owner):
        return None
    reference = ObjectReference(object_id, effects.lamport_version, change.output.digest)
    # The gas coin also contains the reserved address balance, because the network merges them.
    return Coin(reference, paid.total - effects.gas_used.net - taken)


def _amount(transaction: ProgrammableTransaction, argument: Argument) -> int | None:
    value = transaction.inputs[argument.index] if isinstance(argument, InputArgument) else None
    return u64.decode(value.value) if isinstance(value, Pure) else None
