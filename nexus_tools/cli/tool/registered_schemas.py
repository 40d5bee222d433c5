"""The check whether served tools have the schemas of their registered versions."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from nexus_tools.cli.framework import Session
from nexus_tools.errors import NexusError

if TYPE_CHECKING:
    from nexus_tools.tool import ToolDefinition
    from nexus_tools.tool_server import Check

_NODE_TIMEOUT_S = 4.0


async def compare_with_chain(
    session: Session, definitions: "Sequence[ToolDefinition]"
) -> "AsyncIterator[tuple[str, Check]]":
    """Yield the FQN and the check of each tool that is registered on the user's network.

    Nothing is yielded if the network or the package is not available, because the other checks need
    no network.
    """
    from nexus_tools.registry import ToolRegistry, compare_interfaces
    from nexus_tools.sui.client import RetryPolicy, SuiClient
    from nexus_tools.tool_server import Check, Status

    policy = RetryPolicy(attempts=1, call_timeout_s=_NODE_TIMEOUT_S)
    try:
        network = session.network()
        async with SuiClient(network, retry_policy=policy) as client:
            tools = ToolRegistry(client, await session.deployment(client))
            results = await compare_interfaces(tools, definitions)
    except NexusError:
        return
    for fqn, is_same in results.items():
        if is_same:
            message = f"the schemas are registered on {network.name}"
            yield fqn, Check("registered schemas", Status.PASSED, message)
        else:
            yield (
                fqn,
                Check(
                    "registered schemas",
                    Status.FAILED,
                    f"the schemas differ from the registered schemas on {network.name}, so Leaders"
                    " refuse to call the tool",
                    "Restore the schemas, or raise the number after @ and register the next"
                    " version.",
                ),
            )
