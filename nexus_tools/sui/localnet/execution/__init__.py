"""The execution of transactions: inputs, commands, gas and effects.

A transaction passes through these packages in order. `inputs` checks and loads the objects of the
transaction, and `gas` sets its budget. `commands` executes its commands, with `packages` for
`Publish` and `Upgrade`. `outcome` turns the changes into effects. Start reading with
`programmable.py`, which calls all of these packages.
"""

from nexus_tools.sui.localnet.execution import limits
from nexus_tools.sui.localnet.execution.commands import (
    COMMANDS,
    CommandResult,
    CommandTable,
    ExecutionContext,
    TypedCommand,
    ValueSlot,
)
from nexus_tools.sui.localnet.execution.environment import Environment, Mode, ObjectStore
from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.localnet.execution.executor import Executor, machine_for, packages_of
from nexus_tools.sui.localnet.execution.gas import (
    MOCK_COIN_ID,
    storage_bytes,
    storage_cost,
)
from nexus_tools.sui.localnet.execution.inputs import available_for_gas, uses_gas_coin
from nexus_tools.sui.localnet.execution.limits import (
    BASE_TX_COST_FIXED,
    GAS_ROUNDING_STEP,
    MAX_GAS_PAYMENT_OBJECTS,
    MAX_INPUT_OBJECTS,
    MAX_TX_GAS,
    MAX_TX_SIZE_BYTES,
    OBJECT_ACCESS_COST_READ_PER_BYTE,
)
from nexus_tools.sui.localnet.execution.outcome import ExecutionResult
from nexus_tools.sui.localnet.execution.protocol import (
    NEWEST_PROTOCOL_VERSION,
    ProtocolRules,
    protocol_rules,
)
from nexus_tools.sui.localnet.execution.system import SYSTEM_SIGNATURE, system_data

__all__ = [
    "BASE_TX_COST_FIXED",
    "COMMANDS",
    "GAS_ROUNDING_STEP",
    "MAX_GAS_PAYMENT_OBJECTS",
    "MAX_INPUT_OBJECTS",
    "MAX_TX_GAS",
    "MAX_TX_SIZE_BYTES",
    "MOCK_COIN_ID",
    "NEWEST_PROTOCOL_VERSION",
    "OBJECT_ACCESS_COST_READ_PER_BYTE",
    "SYSTEM_SIGNATURE",
    "CommandResult",
    "CommandTable",
    "Environment",
    "ExecutionContext",
    "ExecutionResult",
    "Executor",
    "Mode",
    "ObjectStore",
    "ProtocolRules",
    "TransactionRefused",
    "TypedCommand",
    "ValueSlot",
    "available_for_gas",
    "limits",
    "machine_for",
    "packages_of",
    "protocol_rules",
    "storage_bytes",
    "storage_cost",
    "system_data",
    "uses_gas_coin",
]
