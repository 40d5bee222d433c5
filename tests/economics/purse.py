"""A client that knows what Sui took from it."""

from nexus_tools.errors import RefusedOnChainError
from nexus_tools.sui.client import SuiClient


class Purse(SuiClient):
    """A client that remembers what its transactions cost, those that failed, too."""

    gas_mist = failures = 0

    async def execute(self, builder, **options):
        try:
            executed = await super().execute(builder, **options)
        except RefusedOnChainError as error:
            if "digest" in error.details:  # else it was simulated, and never sent
                self.gas_mist += error.details["gas_mist"]
                self.failures += 1
            raise
        self.gas_mist += executed.cost.net
        return executed
