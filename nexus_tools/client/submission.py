"""Transactions at the node: executing, simulating and looking them up."""

from nexus_tools.client.connection import Connection
from nexus_tools.client.executed import (
    EXECUTED_FIELDS,
    Executed,
    Simulated,
    parse_executed,
    parse_simulated,
)
from nexus_tools.client.messages import mask, rpc
from nexus_tools.errors import NotFoundError
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.transaction import TransactionData

_SIMULATED_FIELDS = (
    "transaction.effects.bcs",
    "transaction.events.bcs",
    "command_outputs.return_values.value",
)


async def execute_transaction(
    connection: Connection, transaction: bytes, signature: bytes
) -> Executed:
    """Have a signed transaction executed, whether or not it then fails on chain.

    Sent twice, the same bytes are executed once: the second answer is the first one again.
    """
    message = rpc().ExecuteTransactionRequest(
        transaction=_transaction(transaction),
        signatures=[rpc().UserSignature(bcs=rpc().Bcs(name="UserSignature", value=signature))],
        read_mask=mask(*EXECUTED_FIELDS),
    )
    response = await connection.call(connection.execution.execute_transaction, message)
    return parse_executed(response.transaction)


async def simulate_transaction(
    connection: Connection, data: TransactionData, *, checks: bool = True
) -> Simulated:
    """What a transaction would do. Without `checks`, any function is called with any arguments."""
    kinds = rpc().SimulateTransactionRequestTransactionChecks
    message = rpc().SimulateTransactionRequest(
        transaction=_transaction(data.encode()),
        read_mask=mask(*_SIMULATED_FIELDS),
        checks=kinds.ENABLED if checks else kinds.DISABLED,
        do_gas_selection=False,
    )
    response = await connection.call(connection.execution.simulate_transaction, message)
    return parse_simulated(response)


async def read_transaction(connection: Connection, digest: Digest) -> Executed | None:
    """A transaction that was executed, or None if the node knows none with this digest."""
    message = rpc().GetTransactionRequest(digest=str(digest), read_mask=mask(*EXECUTED_FIELDS))
    try:
        response = await connection.call(connection.ledger.get_transaction, message)
    except NotFoundError:
        return None
    return parse_executed(response.transaction)


async def read_gas_price(connection: Connection) -> int:
    """The reference gas price of this epoch, in MIST per unit."""
    message = rpc().GetEpochRequest(read_mask=mask("reference_gas_price"))
    response = await connection.call(connection.ledger.get_epoch, message)
    return int(response.epoch.reference_gas_price)


def _transaction(encoded: bytes) -> object:
    return rpc().Transaction(bcs=rpc().Bcs(name="TransactionData", value=encoded))
