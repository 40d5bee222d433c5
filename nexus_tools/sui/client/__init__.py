"""The Sui client. The client reads objects, sends transactions, manages coins and follows events.

Start with `SuiClient` in `sui_client.py`. `Connection` calls the node. `Sender` sends transactions.
"""

from nexus_tools.sui.client.any_loop_client import AnyLoopClient
from nexus_tools.sui.client.coins.coin_pool import MAX_PAYMENT_COINS, GasSource
from nexus_tools.sui.client.connection.connection import Connection, RetryPolicy
from nexus_tools.sui.client.connection.grpc_errors import (
    UnsupportedByNodeError,
    explain_rpc_error,
)
from nexus_tools.sui.client.dependency_walk import (
    ObjectTransaction,
    object_history,
)
from nexus_tools.sui.client.epoch import Epoch, read_epoch
from nexus_tools.sui.client.events.event_following import follow_events, past_events
from nexus_tools.sui.client.events.events import (
    Cursor,
    EventFilter,
    EventPage,
    EventRecord,
    Mark,
    Progress,
)
from nexus_tools.sui.client.events.newest_events import (
    has_all_events,
    newest_events,
    oldest_checkpoint,
)
from nexus_tools.sui.client.events.pagination import paginate
from nexus_tools.sui.client.events.rollback_detection import (
    CHAIN_ROLLED_BACK,
    latest_common_checkpoint,
)
from nexus_tools.sui.client.faucet import FaucetCoin, faucet_command, funding_hint, request_sui
from nexus_tools.sui.client.object_transactions import newest_transactions_of
from nexus_tools.sui.client.reads import Balance, Coin, DynamicField
from nexus_tools.sui.client.records import (
    CheckpointRecord,
    TransactionRecord,
    ValidatorSignature,
    read_checkpoint_record,
    read_transaction_record,
)
from nexus_tools.sui.client.sui_client import SuiClient
from nexus_tools.sui.client.trace import fetch_trace
from nexus_tools.sui.client.trace_view import (
    Label,
    TraceView,
    call_label,
    command_label,
    event_label,
    failure_text,
)
from nexus_tools.sui.client.transactions.execution_failure import (
    explain_refusals,
    failure_gas_mist,
    name_uncertain_transaction,
)
from nexus_tools.sui.client.transactions.transactions import (
    CreatedObject,
    Executed,
    SignedTransaction,
    SimulatedTransaction,
    execute_transaction,
    parse_executed,
    parse_simulated,
    simulate_transaction,
)

__all__ = [
    "CHAIN_ROLLED_BACK",
    "MAX_PAYMENT_COINS",
    "AnyLoopClient",
    "Balance",
    "CheckpointRecord",
    "Coin",
    "Connection",
    "CreatedObject",
    "Cursor",
    "DynamicField",
    "Epoch",
    "EventFilter",
    "EventPage",
    "EventRecord",
    "Executed",
    "FaucetCoin",
    "GasSource",
    "Label",
    "Mark",
    "ObjectTransaction",
    "Progress",
    "RetryPolicy",
    "SignedTransaction",
    "SimulatedTransaction",
    "SuiClient",
    "TraceView",
    "TransactionRecord",
    "UnsupportedByNodeError",
    "ValidatorSignature",
    "call_label",
    "command_label",
    "event_label",
    "execute_transaction",
    "explain_refusals",
    "explain_rpc_error",
    "failure_gas_mist",
    "failure_text",
    "faucet_command",
    "fetch_trace",
    "follow_events",
    "funding_hint",
    "has_all_events",
    "latest_common_checkpoint",
    "name_uncertain_transaction",
    "newest_events",
    "newest_transactions_of",
    "object_history",
    "oldest_checkpoint",
    "paginate",
    "parse_executed",
    "parse_simulated",
    "past_events",
    "read_checkpoint_record",
    "read_epoch",
    "read_transaction_record",
    "request_sui",
    "simulate_transaction",
]
