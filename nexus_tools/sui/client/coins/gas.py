"""Gas: the budget of a transaction, what it takes from the gas coin, and what it leaves."""

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
"""The largest gas budget: `max_tx_gas` of the protocol configuration."""

MIN_BUDGET_UNITS = 2_000
"""The smallest budget, in units at the gas price: `base_tx_cost_fixed`, doubled."""

ROOMY_BUDGET_MIST = 10_000_000_000
"""What a simulation may use if the wallet has it: twice the most computation at usual prices."""

TIGHT_BUDGET_MIST = 500_000_000
"""The same where coins are spared for other transactions: all but the largest of ours fit."""

_SAFETY_UNITS = 1_000
_SALT_BYTES = 16
_MARGIN_MIST = 10_000_000


def budget_for(cost: GasCostSummary, price: int) -> int:
    """A budget, in MIST, for a transaction that cost this much when it was simulated.

    The rebate counts only against storage, and the chain may move on meanwhile: 1 000 units more.

    For a transfer at a price of 1 000 with the costs 1 000 000 for computation and 1 976 000 for
    storage, and a rebate of 978 120, that is 1 000 000 + 997 880 + 1 000 000.
    """
    storage = max(0, cost.storage_cost - cost.storage_rebate)
    return cost.computation_cost + storage + _SAFETY_UNITS * price


def with_margin(budget: int) -> int:
    """A budget, in MIST, that a wallet should have: a command may send a second transaction."""
    return budget + max(budget // 5, _MARGIN_MIST)


def withdrawn(transaction: ProgrammableTransaction) -> int | None:
    """What the commands take from the gas coin at most, in MIST; None if that cannot be told.

    It cannot if the coin is given to Move code, or away, or amounts are computed.
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
    """Return the transaction with a random input that no command uses.

    A network executes equal transactions once. Two programs that share a key and pay 1 SUI to the
    same address with the same coin would both receive the digest of one payment. Every protocol
    version accepts unused pure inputs, and the gas does not depend on them.
    """
    salt = Pure(secrets.token_bytes(_SALT_BYTES))
    return replace(transaction, inputs=(*transaction.inputs, salt))


def uses_gas_coin(transaction: ProgrammableTransaction) -> bool:
    """Whether a command names the gas coin."""
    gas = GasCoin()
    return any(gas in arguments_of(command) for command in transaction.commands)


def gives_gas_coin_away(transaction: ProgrammableTransaction) -> bool:
    """Whether a command sends the gas coin itself to somebody."""
    gas = GasCoin()
    commands = transaction.commands
    return any(isinstance(each, TransferObjects) and gas in each.objects for each in commands)


def withdrawals(transaction: ProgrammableTransaction) -> int:
    """What the commands may take from the sender's address balance by themselves, in MIST."""
    inputs = transaction.inputs
    found = (value for value in inputs if isinstance(value, FundsWithdrawal) and value.type == SUI)
    return sum(value.amount for value in found)


def what_is_left(
    effects: TransactionEffects, paid: Payment, taken: int | None, owner: Address
) -> Payment:
    """What a transaction left of what paid for it, as far as that can be told: so much at least.

    `taken` is what the commands took from the gas coin at most (MIST), as `withdrawn` says. What
    came into the address balance is not counted: it can be used once a checkpoint has settled it.
    """
    change = effects.address_balance_change(owner, SUI)
    coin = _gas_coin_left(effects, paid, taken, owner)
    return Payment(() if coin is None else (coin,), paid.held + min(0, change))


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
    # What was reserved went into the coin.
    return Coin(reference, paid.total - effects.gas_used.net - taken)


def _amount(transaction: ProgrammableTransaction, argument: Argument) -> int | None:
    value = transaction.inputs[argument.index] if isinstance(argument, InputArgument) else None
    return u64.decode(value.value) if isinstance(value, Pure) else None
