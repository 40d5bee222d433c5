"""The health check of the node, which must respond, have the right chain, and not be rolled back.

Other components wait silently for an unreachable node, and only the heartbeat reports the problem.
The heartbeat uses the connection that all components share. If the node does not respond, the
heartbeat replaces the connection, because a dead connection never recovers.
"""

import asyncio

from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.chain import WRONG_CHAIN_HINT, Chain
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.metrics import LeaderMetrics


class Heartbeat:
    """A periodic check of the node. `trouble` is the problem, and `code` is its error code.

    A node with fewer checkpoints than before was rolled back. If the node regains its earlier
    height before the next check, only the event watcher detects the rollback.
    """

    def __init__(self, config: LeaderConfig, chain: Chain, metrics: LeaderMetrics) -> None:
        self._config = config
        self._chain = chain
        self._metrics = metrics
        self.trouble = self.code = ""

    async def beat(self) -> None:
        """Check the node once."""
        timeout_s = self._config.heartbeat_timeout_ms / 1000
        # Read before the request, because other tasks may observe more checkpoints during it.
        previous_height = self._chain.seen
        try:
            async with asyncio.timeout(timeout_s):
                height = await self._chain.height()
        except TimeoutError:
            connection = self._chain.client.connection
            connection.renew()
            url = connection.network.url
            self.record_failure(_no_response(url, timeout_s))
        except NexusError as error:
            self.record_failure(error)
        else:
            self.observe(height, previous_height)

    def record_failure(self, error: NexusError) -> None:
        """Record the error of the last check."""
        hint = WRONG_CHAIN_HINT if error.code == "wrong_chain" else error.hint
        self.trouble = f"{error.message}. {hint}" if hint else error.message
        self.code = error.code
        self._metrics.node_up.set(0)
        self._chain.note_reachable(is_reachable=False)

    def observe(self, height: int, seen: int = 0) -> None:
        """Record the node's number of checkpoints, which was at least `seen` before."""
        self._metrics.node_up.set(1)
        self._chain.note_reachable(is_reachable=True)
        self._metrics.node_checkpoint.set(height)
        self.trouble = self.code = ""
        if height < seen:
            self.trouble = f"the chain was rolled back from checkpoint {seen} to {height}"
            self.code = "node_reorg"
            self._chain.note_rollback(height)
        self._chain.observe(height)

    @property
    def pause_s(self) -> float:
        """The time until the next check, in seconds."""
        config = self._config
        return (
            config.error_retry_delay_ms if self.trouble else config.heartbeat_interval_ms
        ) / 1000


def _no_response(url: str, seconds: float) -> UnreachableError:
    return UnreachableError(
        "node_unreachable", f"the node at {url} does not respond: no response within {seconds:g} s"
    )
