"""The outcome of a transaction: its collected changes, their cost, and its effects."""

from nexus_tools.sui.localnet.execution.outcome.bill import Bill, charge_gas, settle
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
    "charge_gas",
    "encoded_objects",
    "settle",
    "untouched",
    "written_objects",
]
