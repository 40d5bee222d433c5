"""The outcome of a transaction: its collected changes, their cost, and its effects."""

from nexus_tools.sui.localnet.execution.outcome.bill import Bill, pay, settle
from nexus_tools.sui.localnet.execution.outcome.changes import (
    ChangeCollector,
    Changes,
    CommandsRun,
    Write,
    untouched,
)
from nexus_tools.sui.localnet.execution.outcome.effects import (
    ExecutionResult,
    build_effects,
    encoded_objects,
    written_objects,
)

__all__ = [
    "Bill",
    "ChangeCollector",
    "Changes",
    "CommandsRun",
    "ExecutionResult",
    "Write",
    "build_effects",
    "encoded_objects",
    "pay",
    "settle",
    "untouched",
    "written_objects",
]
