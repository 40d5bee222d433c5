"""The gas of a transaction: its limit, its use and its cost.

The computation units are the sum of VM instructions, native functions, bytes read and bytes
published. `rounded_computation` rounds the sum up. Source: `sui-types/src/gas_model/gas_v2.rs`.
"""

from nexus_tools.sui.localnet.execution.errors import TransactionRefused
from nexus_tools.sui.localnet.execution.gas.storage import StorageCharge, sender_rebate
from nexus_tools.sui.localnet.execution.limits import (
    BASE_TX_COST_FIXED,
    MAX_GAS_COMPUTATION_BUCKET,
    MAX_TX_GAS,
    MIN_GAS_COMPUTATION,
    OBJECT_ACCESS_COST_READ_PER_BYTE,
    PACKAGE_PUBLISH_COST_PER_BYTE,
)
from nexus_tools.sui.localnet.execution.protocol import ProtocolRules
from nexus_tools.sui.localnet.natives import (
    INTERNAL_UNITS_PER_GAS_UNIT,
    METERED_LIMITS,
    UNMETERED_LIMITS,
    NativeGas,
)
from nexus_tools.sui.localnet.vm import Meter
from nexus_tools.sui.types.effects import GasCostSummary
from nexus_tools.sui.types.transaction import GasData

_UNMETERED = 1 << 62
_KB = 1_000  # the protocol's configuration defines a KB as 1 000 bytes


def rounded_computation(units: int) -> int:
    """Round gas units up as Sui bills them: at least 1 000, and with fewer significant digits.

    For example, 1 234 units are billed as 1 240, and 12 345 as 12 400.
    """
    if units < MIN_GAS_COMPUTATION:
        return MIN_GAS_COMPUTATION
    step = 10 ** ((len(str(units)) - 1) // 2)
    return int(-(-units // step) * step)


class GasStatus:
    """The gas of one transaction: the sender's budget and price, and the units used so far.

    `meter` counts all charges in internal gas units. Native functions charge the meter through
    `natives`. `rules` are the protocol rules of the epoch.
    """

    limits = METERED_LIMITS

    def __init__(self, gas: GasData, rules: ProtocolRules) -> None:
        self._rules = rules
        self.price = gas.price
        self.budget = gas.budget
        most = min(self.budget // max(self.price, 1), MAX_GAS_COMPUTATION_BUCKET)
        self.meter = Meter(most * INTERNAL_UNITS_PER_GAS_UNIT)
        self.natives = NativeGas(self.meter.budget, self.meter)

    def check_budget(self, balance: int) -> None:
        """Refuse a budget that is out of bounds or above the gas coins' balance, all in MIST."""
        least = BASE_TX_COST_FIXED * self.price
        if self.budget > MAX_TX_GAS:
            raise TransactionRefused(
                "gas_budget_too_high",
                f"Gas budget: {self.budget} is higher than max: {MAX_TX_GAS}",
            )
        if self.budget < least:
            raise TransactionRefused(
                "gas_budget_too_low", f"Gas budget: {self.budget} is lower than min: {least}"
            )
        if balance < self.budget:
            raise TransactionRefused(
                "gas_balance_too_low",
                f"Balance of gas object {balance} is lower than the needed amount: {self.budget}",
            )

    def charge_read(self, size: int) -> None:
        """Charge for reading objects of this many bytes."""
        self.meter.charge(size * OBJECT_ACCESS_COST_READ_PER_BYTE)

    def charge_package_read(self, size: int) -> None:
        """Charge for reading packages with a total of this many bytes."""
        per_kb = self._rules.obj_access_cost_read_per_package_kb
        if per_kb is None:
            self.charge_read(size)
        else:
            self.meter.charge(-(-size * per_kb // _KB))

    def charge_publish(self, size: int) -> None:
        """Charge for verifying modules of this many bytes."""
        self.meter.charge(size * PACKAGE_PUBLISH_COST_PER_BYTE)

    def computation_cost(self, price_max: int | None = None) -> tuple[int, bool]:
        """Return the computation cost in MIST, and whether the budget covers it.

        The cost is at most the budget. If `price_max` is given, a gas unit costs at most
        `price_max`.
        """
        units = self.meter.spent // INTERNAL_UNITS_PER_GAS_UNIT
        price = self.price if price_max is None else min(self.price, price_max)
        cost = rounded_computation(units) * price
        return (cost, True) if cost < self.budget else (self.budget, False)

    def can_pay(self, computation_cost: int, storage: StorageCharge) -> bool:
        """Return whether the budget covers computation and storage."""
        due = max(storage.cost - self._sender_rebate(storage), 0)
        return due <= self.budget - computation_cost

    def summary(self, computation_cost: int, storage: StorageCharge) -> GasCostSummary:
        """Return the costs in the format of the effects."""
        rebate = self._sender_rebate(storage)
        return GasCostSummary(computation_cost, storage.cost, rebate, storage.rebate - rebate)

    def _sender_rebate(self, storage: StorageCharge) -> int:
        return sender_rebate(storage.rebate, self._rules.storage_rebate_rate)


class UnmeteredGas(GasStatus):
    """The gas of system transactions, which charge nothing."""

    limits = UNMETERED_LIMITS

    def __init__(self, gas: GasData, rules: ProtocolRules) -> None:
        super().__init__(gas, rules)
        self.meter = Meter(_UNMETERED)
        self.natives = NativeGas(_UNMETERED)

    def computation_cost(self, price_max: int | None = None) -> tuple[int, bool]:  # noqa: ARG002
        """Return zero."""
        return 0, True

    def can_pay(self, _computation_cost: int, _storage: StorageCharge) -> bool:
        """Return True."""
        return True

    def summary(self, _computation_cost: int, _storage: StorageCharge) -> GasCostSummary:
        """Return zero costs."""
        return GasCostSummary(0, 0, 0, 0)
