"""Payment for a transaction that is only simulated: a budget that is enough, and the coins.

Source: `sui-rpc-api`, `transaction_execution_service/simulate/mod.rs`.
"""

from dataclasses import replace

from nexus_tools.localnet.execution import MOCK_COIN_ID, Mode
from nexus_tools.localnet.execution.limits import MAX_GAS_PAYMENT_OBJECTS, MAX_TX_GAS
from nexus_tools.localnet.node import Node
from nexus_tools.localnet.rpc.rendering.coin import coin_balance
from nexus_tools.localnet.rpc.status import invalid
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import AddressOwner, Object
from nexus_tools.sui.transaction import (
    OwnedObject,
    ProgrammableTransaction,
    ReceivingObject,
    TransactionData,
)
from nexus_tools.sui.type_tag import GAS_COIN

SAFE_OVERHEAD = 1000
"""Gas units that are added to what the simulation used."""


def with_estimated_budget(node: Node, data: TransactionData) -> TransactionData:
    """The transaction with the budget that it needs by a simulation. Raises `RpcError`."""
    unpaid = replace(data.gas, payment=(), budget=MAX_TX_GAS)
    _, result = node.simulate(replace(data, gas=unpaid), Mode.SIMULATE)
    gas = result.effects.gas_used
    coin = result.written.get(MOCK_COIN_ID)
    lent = coin.storage_rebate if coin is not None else 0  # it will not have to be stored
    net = gas.computation_cost + max(0, gas.storage_cost - lent) - gas.storage_rebate
    overhead = SAFE_OVERHEAD * node.environment.reference_gas_price
    budget = min(max(gas.computation_cost, net) + overhead, MAX_TX_GAS)
    return replace(data, gas=replace(data.gas, budget=budget))


def with_payment(node: Node, data: TransactionData) -> TransactionData:
    """The transaction with all coins of its payer that it does not use otherwise, up to 256.

    Raises `RpcError` if they are not worth the budget.
    """
    owner, budget = data.gas.owner, data.gas.budget
    used = _used_objects(data)
    coins = [
        coin
        for coin in node.ledger.owned_by(owner, GAS_COIN, limit=len(used) + MAX_GAS_PAYMENT_OBJECTS)
        if coin.id not in used and isinstance(coin.owner, AddressOwner)
    ][:MAX_GAS_PAYMENT_OBJECTS]
    if _total(coins) < budget:
        raise invalid(
            "Unable to perform gas selection due to insufficient SUI balance for account"
            f" {owner} to satisfy required budget {budget}."
        )
    payment = tuple(coin.reference() for coin in coins)
    return replace(data, gas=replace(data.gas, payment=payment))


def _total(coins: list[Object]) -> int:
    return sum(map(coin_balance, coins))


def _used_objects(data: TransactionData) -> set[Address]:
    assert isinstance(data.kind, ProgrammableTransaction)
    return {
        value.reference.object_id
        for value in data.kind.inputs
        if isinstance(value, OwnedObject | ReceivingObject)
    }
