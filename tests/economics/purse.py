"""A client that records its costs."""

from nexus_tools.errors import RefusedOnChainError
from nexus_tools.sui.client import SuiClient


class Purse(SuiClient):
    """A client that records the cost of its transactions, including failed ones."""

    gas_mist = failures = 0

    async def execute(self, builder, **options):
        try:
            executed = await super().execute(builder, **options)
        except RefusedOnChainError as error:
            if "digest" in error.details:  # otherwise it was only simulated
                self.gas_mist += error.details["gas_mist"]
                self.failures += 1
            raise
        self.gas_mist += executed.cost.net
        return executed
