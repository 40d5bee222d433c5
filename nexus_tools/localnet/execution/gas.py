"""What a transaction costs.

Storage is priced exactly as on a real network: bytes times a price, of which 99 % come back when
the object goes. Source: `sui-types/src/gas_model/gas_v2.rs`.

Computation is an approximation of the real model. Instructions are counted by the machine and
priced by the real model's tiers (the more there were, the dearer each), with a guess at the bytes
that they push; natives, bytes read and bytes published have the real prices. As on a real network
the sum is rounded up to a thousand gas units, so that most transactions cost exactly what they
would cost there.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from nexus_tools.localnet.execution.errors import TransactionRefused
from nexus_tools.localnet.execution.limits import (
    BASE_TX_COST_FIXED,
    GAS_ROUNDING_STEP,
    MAX_GAS_COMPUTATION_BUCKET,
    MAX_TX_GAS,
    OBJECT_ACCESS_COST_READ_PER_BYTE,
    PACKAGE_PUBLISH_COST_PER_BYTE,
    STORAGE_REBATE_RATE,
)
from nexus_tools.localnet.natives import INTERNAL_UNITS_PER_GAS_UNIT, NativeGas
from nexus_tools.localnet.vm import Meter, OutOfGas
from nexus_tools.sui.effects import GasCostSummary
from nexus_tools.sui.transaction import GasData

_BASIS_POINTS = 10_000

_UNMETERED = 1 << 62
_NO_LIMIT = 1 << 62
_Tiers = tuple[tuple[int, int], ...]

# Up to how much each costs how many internal units: `gas_model/tables.rs`.
_INSTRUCTION_TIERS: _Tiers = (
    (20_000, 1),
    (50_000, 2),
    (100_000, 10),
    (200_000, 50),
    (10_000_000, 100),
    (_NO_LIMIT, 1_000),
)
_STACK_BYTE_TIERS: _Tiers = (
    (100_000, 1),
    (500_000, 2),
    (1_000_000, 5),
    (100_000_000, 100),
    (_NO_LIMIT, 1_000),
)
# The machine does not count the bytes that instructions push. In loops on numbers and vectors the
# genuine VM counts about this many.
_BYTES_PER_INSTRUCTION = 11


def instruction_cost(instructions: int) -> int:
    """Internal gas units for this many instructions."""
    return _tiered(_INSTRUCTION_TIERS, instructions) + _tiered(
        _STACK_BYTE_TIERS, instructions * _BYTES_PER_INSTRUCTION
    )


def _tiered(tiers: _Tiers, amount: int) -> int:
    cost = counted = 0
    for limit, price in tiers:
        step = min(amount, limit) - counted
        if step <= 0:
            break
        cost += step * price
        counted += step
    return cost


@lru_cache(maxsize=256)
def affordable_instructions(internal_units: int) -> int:
    """The most instructions that cost no more than this."""
    every = range(internal_units + 2)  # an instruction costs one unit at least
    return bisect_right(every, internal_units, key=instruction_cost) - 1


def sender_rebate(storage_rebate: int) -> int:
    """What the sender gets back of the storage that is given up: 99 %, rounded half up."""
    return (storage_rebate * STORAGE_REBATE_RATE + _BASIS_POINTS // 2) // _BASIS_POINTS


@dataclass(frozen=True, slots=True)
class StorageCharge:
    """MIST for all that is written, and MIST once paid for all that is replaced or removed."""

    cost: int
    rebate: int

    @property
    def due(self) -> int:
        """What has to come out of the budget."""
        return max(self.cost - sender_rebate(self.rebate), 0)


class GasStatus:
    """The gas of one transaction: budget and price as the sender set them, and what is used up.

    `meter` counts instructions, `natives` internal gas units.
    """

    def __init__(self, gas: GasData) -> None:
        self.price = gas.price
        self.budget = gas.budget
        most = min(self.budget // max(self.price, 1), MAX_GAS_COMPUTATION_BUCKET)
        self._limit = most * INTERNAL_UNITS_PER_GAS_UNIT
        self._bytes_cost = 0
        self.meter = Meter(affordable_instructions(self._limit))
        self.natives = NativeGas(self._limit)

    def check_budget(self, balance: int) -> None:
        """Refuse a budget out of bounds, or above the balance of the gas coins (MIST)."""
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
        self._charge_bytes(size * OBJECT_ACCESS_COST_READ_PER_BYTE)

    def charge_publish(self, size: int) -> None:
        """Charge for checking modules of this many bytes."""
        self._charge_bytes(size * PACKAGE_PUBLISH_COST_PER_BYTE)

    def _charge_bytes(self, internal_units: int) -> None:
        self._bytes_cost += internal_units
        if self._bytes_cost > self._limit:
            raise OutOfGas

    def computation_cost(self) -> tuple[int, bool]:
        """MIST for the computation, at most the budget; and whether the budget suffices."""
        internal = instruction_cost(self.meter.spent) + self.natives.used + self._bytes_cost
        units = -(-internal // INTERNAL_UNITS_PER_GAS_UNIT)
        steps = -(-units // GAS_ROUNDING_STEP) or 1
        cost = min(steps * GAS_ROUNDING_STEP, MAX_GAS_COMPUTATION_BUCKET) * self.price
        return (cost, True) if cost < self.budget else (self.budget, False)

    def can_pay(self, computation_cost: int, storage: StorageCharge) -> bool:
        """Whether the budget suffices for both."""
        return storage.due <= self.budget - computation_cost

    def summary(self, computation_cost: int, storage: StorageCharge) -> GasCostSummary:
        """The costs as effects have them."""
        rebate = sender_rebate(storage.rebate)
        return GasCostSummary(computation_cost, storage.cost, rebate, storage.rebate - rebate)


class UnmeteredGas(GasStatus):
    """The gas of the network's own transactions: nothing is charged."""

    def __init__(self, gas: GasData) -> None:
        super().__init__(gas)
        self.meter = Meter(_UNMETERED)
        self.natives = NativeGas(_UNMETERED)
        self._limit = _UNMETERED

    def computation_cost(self) -> tuple[int, bool]:
        """Nothing."""
        return 0, True

    def can_pay(self, _computation_cost: int, _storage: StorageCharge) -> bool:
        """Always."""
        return True

    def summary(self, _computation_cost: int, _storage: StorageCharge) -> GasCostSummary:
        """Nothing."""
        return GasCostSummary(0, 0, 0, 0)
