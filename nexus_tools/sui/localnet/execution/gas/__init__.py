"""Gas: the cost of computation and storage, and the coins that pay it."""

from nexus_tools.sui.localnet.execution.gas.payment import (
    MOCK_COIN_ID,
    GasPayment,
    mock_payment,
    needs_mock_payment,
    smash,
    with_simulated_gas,
)
from nexus_tools.sui.localnet.execution.gas.status import (
    GasStatus,
    UnmeteredGas,
    rounded_computation,
)
from nexus_tools.sui.localnet.execution.gas.storage import (
    StorageCharge,
    package_bytes,
    storage_bytes,
    storage_cost,
)

__all__ = [
    "MOCK_COIN_ID",
    "GasPayment",
    "GasStatus",
    "StorageCharge",
    "UnmeteredGas",
    "mock_payment",
    "needs_mock_payment",
    "package_bytes",
    "rounded_computation",
    "smash",
    "storage_bytes",
    "storage_cost",
    "with_simulated_gas",
]
