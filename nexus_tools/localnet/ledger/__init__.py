"""Objects in all their versions, transactions, checkpoints, events, and their indexes."""

from nexus_tools.localnet.ledger.balance_change import BalanceChange, balance_changes
from nexus_tools.localnet.ledger.checkpoint import Checkpoint, epoch_gas_used
from nexus_tools.localnet.ledger.event_filter import (
    EmittedBy,
    EventFilter,
    EventLiteral,
    HasType,
    SentBy,
    matches,
)
from nexus_tools.localnet.ledger.events import EventPosition, LedgerEvent
from nexus_tools.localnet.ledger.ledger import Ledger, Snapshot
from nexus_tools.localnet.ledger.live_objects import CoinBalance
from nexus_tools.localnet.ledger.object_index import listing_place, type_order
from nexus_tools.localnet.ledger.past_objects import PastObjects
from nexus_tools.localnet.ledger.state import State
from nexus_tools.localnet.ledger.transaction import ExecutedTransaction, Place

__all__ = [
    "BalanceChange",
    "Checkpoint",
    "CoinBalance",
    "EmittedBy",
    "EventFilter",
    "EventLiteral",
    "EventPosition",
    "ExecutedTransaction",
    "HasType",
    "Ledger",
    "LedgerEvent",
    "PastObjects",
    "Place",
    "SentBy",
    "Snapshot",
    "State",
    "balance_changes",
    "epoch_gas_used",
    "listing_place",
    "matches",
    "type_order",
]
