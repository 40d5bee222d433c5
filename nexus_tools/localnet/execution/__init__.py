"""Executing transactions: inputs, commands, gas, effects."""

from nexus_tools.localnet.execution.commands import COMMANDS, CommandTable
from nexus_tools.localnet.execution.environment import Environment, Mode, ObjectStore
from nexus_tools.localnet.execution.errors import TransactionRefused
from nexus_tools.localnet.execution.executor import Executor, machine_over, packages_of
from nexus_tools.localnet.execution.gas_payment import MOCK_COIN_ID
from nexus_tools.localnet.execution.limits import (
    BASE_TX_COST_FIXED,
    MAX_TX_GAS,
    MAX_TX_SIZE_BYTES,
)
from nexus_tools.localnet.execution.result import CommandResult, ExecutionResult
from nexus_tools.localnet.execution.storage import storage_bytes, storage_cost

__all__ = [
    "BASE_TX_COST_FIXED",
    "COMMANDS",
    "MAX_TX_GAS",
    "MAX_TX_SIZE_BYTES",
    "MOCK_COIN_ID",
    "CommandResult",
    "CommandTable",
    "Environment",
    "ExecutionResult",
    "Executor",
    "Mode",
    "ObjectStore",
    "TransactionRefused",
    "machine_over",
    "packages_of",
    "storage_bytes",
    "storage_cost",
]
