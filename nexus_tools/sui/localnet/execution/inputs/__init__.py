"""The inputs of a transaction: the checks, the loading, and the sender's permissions."""

from nexus_tools.sui.localnet.execution.inputs.deny_list import (
    BYTES_READ_PER_OWNER,
    check_denied_inputs,
    check_denied_owners,
    coin_owners,
)
from nexus_tools.sui.localnet.execution.inputs.funds import (
    available_for_gas,
    can_pay_from_balance,
    check_funds,
    check_replay_protection,
    uses_gas_coin,
)
from nexus_tools.sui.localnet.execution.inputs.loader import (
    InputLoader,
    InputObject,
    TransactionInputs,
)
from nexus_tools.sui.localnet.execution.inputs.pure import pure_check
from nexus_tools.sui.localnet.execution.inputs.validity import check_programmable, check_transaction

__all__ = [
    "BYTES_READ_PER_OWNER",
    "InputLoader",
    "InputObject",
    "TransactionInputs",
    "available_for_gas",
    "can_pay_from_balance",
    "check_denied_inputs",
    "check_denied_owners",
    "check_funds",
    "check_programmable",
    "check_replay_protection",
    "check_transaction",
    "coin_owners",
    "pure_check",
    "uses_gas_coin",
]
