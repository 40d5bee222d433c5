"""The Sui client: networks, wallets, reading objects, sending transactions and following events.

Begin with `SuiClient` in `sui_client.py`. `Connection` calls the node, and `Sender` sends
transactions.
"""

from nexus_tools.sui.client.any_loop_client import UnboundClient
from nexus_tools.sui.client.coins.coin_pool import MAX_PAYMENT_COINS, GasSource
from nexus_tools.sui.client.connection.connection import Connection, Patience
from nexus_tools.sui.client.connection.grpc_errors import UnsupportedByNodeError
from nexus_tools.sui.client.epoch import Epoch, read_epoch
from nexus_tools.sui.client.events.event_following import follow_events, past_events
from nexus_tools.sui.client.events.events import Cursor, EventFilter, EventRecord, Mark, Progress
from nexus_tools.sui.client.events.rollback_detection import WENT_BACK
from nexus_tools.sui.client.faucet import Gift, faucet_command, how_to_fund, request_sui
from nexus_tools.sui.client.reads import Balance, Coin, DynamicField
from nexus_tools.sui.client.sui_client import SuiClient
from nexus_tools.sui.client.transactions.execution_failure import explains_refusal, gas_taken_mist
from nexus_tools.sui.client.transactions.transactions import (
    CreatedObject,
    Executed,
    SignedTransaction,
    Simulated,
    execute_transaction,
    simulate_transaction,
)

__all__ = [
    "MAX_PAYMENT_COINS",
    "WENT_BACK",
    "Balance",
    "Coin",
    "Connection",
    "CreatedObject",
    "Cursor",
    "DynamicField",
    "Epoch",
    "EventFilter",
    "EventRecord",
    "Executed",
    "GasSource",
    "Gift",
    "Mark",
    "Patience",
    "Progress",
    "SignedTransaction",
    "Simulated",
    "SuiClient",
    "UnboundClient",
    "UnsupportedByNodeError",
    "execute_transaction",
    "explains_refusal",
    "faucet_command",
    "follow_events",
    "gas_taken_mist",
    "how_to_fund",
    "past_events",
    "read_epoch",
    "request_sui",
    "simulate_transaction",
]
