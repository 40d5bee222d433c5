"""The resolution of a transaction's payment and budget if the client omits them.

In a simulation, the payer's address balance pays if it is sufficient and no command uses the gas
coin. Otherwise, coins pay. If a command uses the gas coin, the address balance pays together with
the coins.

Source: `sui-rpc-api`, `transaction_execution_service/simulate/mod.rs`.
"""

import secrets
from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from nexus_tools.sui.localnet.execution import (
    GAS_ROUNDING_STEP,
    MAX_GAS_PAYMENT_OBJECTS,
    MAX_INPUT_OBJECTS,
    MAX_TX_GAS,
    MOCK_COIN_ID,
    OBJECT_ACCESS_COST_READ_PER_BYTE,
    Mode,
    available_for_gas,
    uses_gas_coin,
)
from nexus_tools.sui.localnet.ledger import Ledger, listing_sort_key
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc.interface import invalid
from nexus_tools.sui.localnet.rpc.requests import address, digest
from nexus_tools.sui.localnet.rpc.resolution.objects import (
    find_object,
    resolve_reference,
    too_large,
)
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.address_balance import (
    CoinReservation,
    FundsWithdrawal,
    is_coin_reservation,
    reserved_amount,
)
from nexus_tools.sui.types.coin import coin_balance, is_gas_coin
from nexus_tools.sui.types.expiration import NoExpiration, ValidDuring
from nexus_tools.sui.types.object import AddressOwner, MoveObject, Object, ObjectReference
from nexus_tools.sui.types.transaction import (
    GasData,
    OwnedObject,
    ProgrammableTransaction,
    Pure,
    ReceivingObject,
    TransactionData,
)
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI

SAFE_OVERHEAD = 1000
"""The gas units that the estimate adds to the gas of the simulation."""

_COIN_SIZE_BYTES = 40


def resolve_payment(node: Node, transaction: Message, sender: Address) -> GasData:
    """Return the gas data of a transaction message. By default, the sender pays.

    The default budget is the maximum budget. If the message has coins, the default is at most their
    total balance.

    Raises:
        RpcError: NOT_FOUND if a coin does not exist, otherwise INVALID_ARGUMENT.
    """
    reference_price = node.environment.reference_gas_price
    if not transaction.HasField("gas_payment"):
        return GasData((), sender, reference_price, MAX_TX_GAS)
    message = transaction.gas_payment
    if len(message.objects) > MAX_GAS_PAYMENT_OBJECTS:
        raise too_large("maximum number of gas payment objects", MAX_GAS_PAYMENT_OBJECTS)
    payment = [_payment(node, coin) for coin in message.objects]
    max_budget = min(sum(amount for _, amount in payment), MAX_TX_GAS) if payment else MAX_TX_GAS
    return GasData(
        tuple(reference for reference, _ in payment),
        address(message, "owner"),
        message.price if message.HasField("price") else reference_price,
        message.budget if message.HasField("budget") else max_budget,
    )


def _payment(node: Node, message: Message) -> tuple[ObjectReference, int]:
    """Return a coin, or a reservation of an address balance, and the amount in MIST."""
    if message.HasField("digest"):
        reference = ObjectReference(
            address(message, "object_id"), message.version, digest(message, "digest")
        )
        if is_coin_reservation(reference):
            return reference, reserved_amount(reference)
    coin = find_object(node, message)
    if not is_gas_coin(coin):
        raise invalid(f"object {coin.id} is not a valid gas coin")
    return resolve_reference(coin, message), coin_balance(coin)


# --- Gas selection for simulations


def with_estimated_budget(node: Node, data: TransactionData) -> TransactionData:
    """Replace the budget by an estimate from a simulation.

    The budget in `data` is the maximum that the payer can pay.

    Raises:
        RpcError: The transaction needs a larger budget.
    """
    available = data.gas.budget
    budget = _estimate(node, data)
    if available < budget:
        raise invalid(
            "Insufficient gas balance to cover estimated transaction cost. Available gas balance:"
            f" {available} MIST. Estimated gas budget required: {budget} MIST"
        )
    return replace(data, gas=replace(data.gas, budget=budget))


def _estimate(node: Node, data: TransactionData) -> int:
    """Return the estimated budget in MIST.

    The budget covers the commands, loading the gas coins, and a safety margin.
    """
    unpaid = replace(data.gas, payment=(), budget=MAX_TX_GAS)
    _, result = node.simulate(replace(data, gas=unpaid), Mode.SIMULATE)
    gas = result.effects.gas_used
    coin = result.written.get(MOCK_COIN_ID)
    # The executed transaction does not store the mock coin, so subtract its storage cost.
    mock_coin_rebate = coin.storage_rebate if coin is not None else 0
    net = gas.computation_cost + max(0, gas.storage_cost - mock_coin_rebate) - gas.storage_rebate
    cost = max(gas.computation_cost, net) + _loading_cost(node, len(data.gas.payment))
    overhead = SAFE_OVERHEAD * node.environment.reference_gas_price
    return min(cost + overhead, MAX_TX_GAS)


def _loading_cost(node: Node, coins: int) -> int:
    """Return the cost, in MIST, of reading the coins after the first coin.

    The simulation already includes one coin. For example, with 10 coins, reading 9 * 40 bytes takes
    15 units per byte, which is 5 400 units in total. This number is rounded up to 6 000 units and
    multiplied by the gas price.
    """
    units = max(0, coins - 1) * _COIN_SIZE_BYTES * OBJECT_ACCESS_COST_READ_PER_BYTE
    rounded = -(-units // GAS_ROUNDING_STEP) * GAS_ROUNDING_STEP
    return rounded * node.environment.reference_gas_price


def with_payment(node: Node, data: TransactionData, *, estimated: bool) -> TransactionData:
    """Return the transaction with its payment. Without coins, the payer's address balance pays.

    Raises:
        RpcError: Neither the address balance nor the coins cover the budget.
    """
    available, for_commands = available_for_gas(data, node.ledger), uses_gas_coin(data)
    if not for_commands and available >= data.gas.budget:
        return _with_brief_validity(node, data)
    reserved = available if for_commands and data.gas.owner == data.sender else 0
    return _with_coins(node, data, reserved, estimated=estimated)


def _with_brief_validity(node: Node, data: TransactionData) -> TransactionData:
    """Add a short validity to a transaction, unless the transaction has an expiration.

    Payment from an address balance requires a validity. A nonce makes the digest unique.
    """
    if not isinstance(data.expiration, NoExpiration):
        return data
    epoch = node.environment.epoch
    nonce = secrets.randbits(32)
    during = ValidDuring(epoch, epoch + 1, None, None, node.chain_id, nonce)
    return replace(data, expiration=during)


def _with_coins(
    node: Node, data: TransactionData, reserved: int, *, estimated: bool
) -> TransactionData:
    """Return the transaction with the payer's unused coins as payment, largest first.

    The payment consists of all unused coins, up to the limit of 256. If the budget was `estimated`,
    the cost of loading the coins is added to it. If an amount of the address balance is `reserved`,
    the reservation is the first item of the payment.
    """
    places = MAX_GAS_PAYMENT_OBJECTS - bool(reserved)
    coins = _unused_coins(node, data, places)
    budget = data.gas.budget
    if estimated:
        budget = min(budget + _loading_cost(node, len(coins)), MAX_TX_GAS)
    if reserved + sum(map(coin_balance, coins)) < budget:
        raise invalid(
            "Unable to perform gas selection due to insufficient SUI balance (in address balance"
            f" or coins) for account {data.gas.owner} to satisfy required budget {budget}."
        )
    payment = tuple(coin.reference() for coin in coins)
    if reserved:
        epoch = node.environment.epoch
        reservation = CoinReservation.of(data.gas.owner, SUI, reserved, epoch)
        payment = (reservation.reference(node.chain_id), *payment)
        data = _with_brief_validity(node, data)
    return replace(data, gas=replace(data.gas, payment=payment, budget=budget))


def _unused_coins(node: Node, data: TransactionData, places: int) -> list[Object]:
    """Return the payer's unused coins, up to `places` and the limit of input objects."""
    assert isinstance(data.kind, ProgrammableTransaction)
    inputs = sum(not isinstance(value, Pure | FundsWithdrawal) for value in data.kind.inputs)
    limit = min(places, max(0, MAX_INPUT_OBJECTS - inputs))
    used_ids = _used_objects(data.kind)
    coins = (
        coin
        for coin in _gas_coins(node.ledger, data.gas.owner)
        if coin.id not in used_ids and isinstance(coin.owner, AddressOwner)
    )
    return list(islice(coins, limit))


def _gas_coins(ledger: Ledger, owner: Address) -> Iterator[Object]:
    """Yield all coins of an address. The coins are read in pages, because they may be many."""
    after = b""
    while page := ledger.owned_by(owner, GAS_COIN, after=after, limit=MAX_GAS_PAYMENT_OBJECTS):
        yield from page
        assert isinstance(page[-1].data, MoveObject)
        after = listing_sort_key(page[-1].data)


def _used_objects(kind: ProgrammableTransaction) -> set[Address]:
    return {
        value.reference.object_id
        for value in kind.inputs
        if isinstance(value, OwnedObject | ReceivingObject)
    }
