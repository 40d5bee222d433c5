"""The background process that reads FQNs from a node for shell completion.

The process runs as `python -m nexus_tools.cli.framework.input.completion_process NETWORK` and
prints nothing, because it caches the names for the next time that the user presses Tab.
"""

import asyncio
import sys
from contextlib import suppress

from nexus_tools.cli.framework.input.completion import cache_fqns
from nexus_tools.errors import NexusError
from nexus_tools.registry import ToolRegistry
from nexus_tools.settings.settings import Settings
from nexus_tools.sui.client import RetryPolicy, SuiClient

_TIMEOUT_S = 10


async def _read(settings: Settings, network: str) -> list[str]:
    """Return the FQNs in the registry. Raises `TimeoutError`, or the errors of the client."""
    async with (
        asyncio.timeout(_TIMEOUT_S),
        SuiClient(settings.find_network(network), retry_policy=RetryPolicy(attempts=1)) as client,
    ):
        tools = ToolRegistry(client, settings.find_deployment(network, await client.chain_id()))
        state = await tools.state()
        return [str(fqn) for fqn in await tools.fqns(state, 0, state.fqns.size)]


if __name__ == "__main__":
    with suppress(NexusError, TimeoutError):
        found = Settings.load()
        cache_fqns(found, sys.argv[1], asyncio.run(_read(found, sys.argv[1])))
