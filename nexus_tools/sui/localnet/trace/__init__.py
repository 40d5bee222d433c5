"""Traces of transactions, which record every call while a transaction is executed again.

Start reading with `replay.py`. `transaction_trace.py` has the data types.
"""

from nexus_tools.sui.localnet.trace.changed_object import ChangedObject, ChangeKind
from nexus_tools.sui.localnet.trace.document import Form, trace_document
from nexus_tools.sui.localnet.trace.replay import trace_simulation, trace_transaction
from nexus_tools.sui.localnet.trace.transaction_trace import (
    CallStatus,
    CallTrace,
    CommandArgument,
    CommandTrace,
    EventTrace,
    GasUse,
    TracedValue,
    TraceFailure,
    TransactionTrace,
)
from nexus_tools.sui.localnet.trace.value import (
    EnumContent,
    MoveValue,
    StructContent,
    as_json,
    as_text,
)

__all__ = [
    "CallStatus",
    "CallTrace",
    "ChangeKind",
    "ChangedObject",
    "CommandArgument",
    "CommandTrace",
    "EnumContent",
    "EventTrace",
    "Form",
    "GasUse",
    "MoveValue",
    "StructContent",
    "TraceFailure",
    "TracedValue",
    "TransactionTrace",
    "as_json",
    "as_text",
    "trace_document",
    "trace_simulation",
    "trace_transaction",
]
