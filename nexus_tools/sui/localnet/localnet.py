"""A Sui network of one node, behind one port of this machine."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from nexus_tools.sui.errors import NotNowError
from nexus_tools.sui.localnet.genesis import DEFAULT_ORIGIN, Origin, framework_digests
from nexus_tools.sui.localnet.ledger import ExecutedTransaction, Snapshot
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc import Limits, Server
from nexus_tools.sui.support.allowed_sources import AllowedSources
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.transaction import TRANSACTION_DATA

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.trace import TransactionTrace


@checks_arguments
class Localnet:
    """A network that lives as long as it is started.

    `port` 0 asks for a free one. With a directory as `state` the chain outlives the process; else
    it begins anew each time. `origin` is the framework and the protocol version of a new chain.
    Web pages control it only if they are of a loopback origin, or of `sources`.

    The network is used in the thread of the event loop in which it was started.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        state: Path | None = None,
        limits: Limits | None = None,
        origin: Origin = DEFAULT_ORIGIN,
        sources: AllowedSources | None = None,
    ) -> None:
        self._sources = sources
        self._host = host
        self._wanted_port = port
        self._state = state
        self._limits = limits
        self._origin = origin
        self._port = 0
        self._node: Node | None = None
        self._server: Server | None = None

    # --- Life

    async def start(self) -> None:
        """Make or load the chain, and listen. Raises `port_unavailable`, and as `Node.open`."""
        if self._node is not None:
            raise NotNowError("localnet_running", "the local network is running already")
        node = Node.open(self._state, origin=self._origin)
        try:
            server = Server(node, limits=self._limits, sources=self._sources)
            self._port = await server.start(self._host, self._wanted_port)
        except BaseException:
            node.close()
            raise
        self._node, self._server = node, server

    async def stop(self) -> None:
        """End all connections, and let the state go. Stopping again does nothing."""
        node, server = self._node, self._server
        self._node = self._server = None
        if server is not None:
            await server.stop()
        if node is not None:
            node.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    # --- Use

    @property
    def node(self) -> Node:
        """The node. Raises `localnet_stopped`."""
        if self._node is None:
            raise NotNowError(
                "localnet_stopped", "the local network does not run", hint="start it first"
            )
        return self._node

    @property
    def port(self) -> int:
        """The port of gRPC, gRPC's clients and the faucet alike."""
        return self._port

    @property
    def url(self) -> str:
        """Where clients find the network."""
        return f"http://{self._host}:{self._port}"

    @property
    def protocol_version(self) -> int:
        """Whose rules hold."""
        return self.node.environment.rules.version

    @property
    def framework(self) -> Mapping[str, str]:
        """The package digests of the framework in hex, by `0x1` and so on."""
        return framework_digests(self.node.ledger)

    def fund(self, recipient: Address, *amounts_mist: int) -> ExecutedTransaction:
        """Send SUI from the faucet's account to an address: a coin of each amount.

        Raises `faucet_amount_invalid` and `faucet_empty`.
        """
        return self.node.fund(recipient, *amounts_mist)

    def advance_clock(self, milliseconds: int) -> int:
        """Move the clock forwards at once; gives the time in ms that it shows then."""
        return self.node.advance_clock(milliseconds).timestamp_ms

    def advance_epoch(self) -> int:
        """End the epoch, and begin the next one; gives its number. Time does not pass by itself.

        Raises `epoch_change_failed`.
        """
        return self.node.advance_epoch()

    def seed_randomness(self, seed: bytes) -> None:
        """Let the random bytes of all rounds to come follow from a seed."""
        self.node.seed_randomness(seed)

    def snapshot(self) -> Snapshot:
        """The present, to come back to."""
        return self.node.snapshot()

    def revert(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot: whatever happened since did not happen."""
        self.node.revert(snapshot)

    def trace(self, digest: Digest) -> "TransactionTrace":
        """What a transaction did, call by call: it is executed once more.

        Raises `transaction_not_found` and `trace_impossible`.
        """
        from nexus_tools.sui.localnet.trace import trace_transaction  # noqa: PLC0415 - 30 ms

        return trace_transaction(self.node, digest)

    def trace_transaction(self, data: bytes) -> "TransactionTrace":
        """What a transaction would do now, call by call; `data` are its BCS bytes.

        Raises `BcsError` and `TransactionRefused`.
        """
        from nexus_tools.sui.localnet.trace import trace_simulation  # noqa: PLC0415 - 30 ms

        return trace_simulation(self.node, TRANSACTION_DATA.decode(data))
