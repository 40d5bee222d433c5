"""Whether the node is there, of the right chain, and as far as it was: asked every two seconds.

Who reads and sends waits for a node that is away, each as suits it, without a word. This part says
so, once; and since it asks on the connection that all share, it has that made anew when the node
leaves a question unanswered: a connection that died without a word carries nothing ever again.
"""

import asyncio

from nexus_tools.errors import NexusError, UnreachableError
from nexus_tools.leader.chain.chain import WRONG_CHAIN_HINT, Chain
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.metrics import LeaderMetrics


class Heartbeat:
    """Asks the node; `trouble` is what is wrong with it, and `code` of which kind that is.

    A node with fewer checkpoints than it had went back. One that has passed its old height by the
    next beat is noticed by whoever follows its events.
    """

    def __init__(self, config: LeaderConfig, chain: Chain, metrics: LeaderMetrics) -> None:
        self._config = config
        self._chain = chain
        self._metrics = metrics
        self.trouble = self.code = ""

    async def beat(self) -> None:
        """Ask once."""
        timeout_s = self._config.heartbeat_timeout_ms / 1000
        # Before it is asked: others may see more while the answer is on its way.
        seen = self._chain.seen
        try:
            async with asyncio.timeout(timeout_s):
                height = await self._chain.height()
        except TimeoutError:
            connection = self._chain.client.connection
            connection.renew()
            url = connection.network.url
            self.note(_silent(url, timeout_s))
        except NexusError as error:
            self.note(error)
        else:
            self.observe(height, seen)

    def note(self, error: NexusError) -> None:
        """The node does not do what it is there for."""
        hint = WRONG_CHAIN_HINT if error.code == "wrong_chain" else error.hint
        self.trouble = f"{error.message}: {hint}" if hint else error.message
        self.code = error.code
        self._metrics.node_up.set(0)

    def observe(self, height: int, seen: int = 0) -> None:
        """The node has so many checkpoints, and had shown `seen` of them before."""
        self._metrics.node_up.set(1)
        self._metrics.node_checkpoint.set(height)
        self.trouble = self.code = ""
        if height < seen:
            self.trouble = f"the node went back from checkpoint {seen} to {height}"
            self.code = "node_went_back"
            self._chain.note_went_back(height)
        self._chain.observe(height)

    @property
    def pause_s(self) -> float:
        """How long to wait until it is asked again."""
        config = self._config
        return (config.trouble_pause_ms if self.trouble else config.heartbeat_ms) / 1000


def _silent(url: str, seconds: float) -> UnreachableError:
    return UnreachableError(
        "node_unreachable", f"the node at {url} does not respond: no answer within {seconds:g} s"
    )
