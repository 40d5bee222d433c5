"""The ledger: all versions of objects, transactions, checkpoints, events, and their indexes.

Start reading with `ledger.py`. `database.py` has the tables of the database.
"""

from nexus_tools.sui.localnet.ledger.checkpoint import Checkpoint, epoch_gas_used
from nexus_tools.sui.localnet.ledger.database import STATE_FILE_NAME, State
from nexus_tools.sui.localnet.ledger.event_filter import (
    EmittedBy,
    EventFilter,
    EventLiteral,
    EventPredicate,
    HasType,
    SentBy,
    matches,
)
from nexus_tools.sui.localnet.ledger.events import EventPosition, LedgerEvent
from nexus_tools.sui.localnet.ledger.ledger import Ledger, Snapshot
from nexus_tools.sui.localnet.ledger.live_objects import CoinBalance
from nexus_tools.sui.localnet.ledger.object_index import listing_sort_key, type_sort_key
from nexus_tools.sui.localnet.ledger.object_versions import PastObjects
from nexus_tools.sui.localnet.ledger.progress_record import delete_state
from nexus_tools.sui.localnet.ledger.transaction import (
    BalanceChange,
    ExecutedTransaction,
    TransactionPlace,
    balance_changes,
)

__all__ = [
    "STATE_FILE_NAME",
    "BalanceChange",
    "Checkpoint",
    "CoinBalance",
    "EmittedBy",
    "EventFilter",
    "EventLiteral",
    "EventPosition",
    "EventPredicate",
    "ExecutedTransaction",
    "HasType",
    "Ledger",
    "LedgerEvent",
    "PastObjects",
    "SentBy",
    "Snapshot",
    "State",
    "TransactionPlace",
    "balance_changes",
    "delete_state",
    "epoch_gas_used",
    "listing_sort_key",
    "matches",
    "type_sort_key",
]
