"""Gas prices, protocols and costs for the measurements of `scripts/economics`."""

from dataclasses import dataclass

from nexus_tools.contracts import Sent

PRICE = 1_000
"""The reference gas price of a localnet, in MIST."""

PRICES = (500, 1_000, 2_000, 5_000)
PROTOCOLS = (105, 140)


@dataclass(frozen=True, slots=True)
class Cost:
    """The sender's cost: gas units of computation, and storage after rebates."""

    units: int
    storage_mist: int

    def mist(self, price: int = PRICE) -> int:
        """Return the cost at a gas price, in MIST."""
        return self.units * price + self.storage_mist

    def per(self, count: int) -> "Cost":
        """Return the cost of one of `count` operations in a transaction."""
        return Cost(self.units // count, self.storage_mist // count)


def cost_of(sent: Sent, price: int = PRICE) -> Cost:
    """Return the cost of a transaction at a gas price."""
    gas = sent.cost
    return Cost(gas.computation_cost // price, gas.storage_cost - gas.storage_rebate)
