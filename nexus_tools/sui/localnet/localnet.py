"""A Sui network of one node that listens on one port of this machine."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from nexus_tools.sui.errors import WrongStateError
from nexus_tools.sui.localnet.genesis import DEFAULT_GENESIS_CONFIG, Origin, framework_digests
from nexus_tools.sui.localnet.ledger import ExecutedTransaction, Snapshot
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.rpc import Limits, Server
from nexus_tools.sui.support.allowed_sources import AllowedSources
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.transaction import TRANSACTION_DATA

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.trace import TransactionTrace


@validate_arguments
class Localnet:
    """A network that runs between `start` and `stop`.

    If `port` is 0, the operating system chooses a free port. If `state` is a directory, the chain
    outlives the process. If `state` is None, each start creates a new chain. `origin` is the
    framework and the protocol version of a new chain. Only web pages from a loopback origin, or
    from an origin in `sources`, may control the network.

    Use the network only in the thread whose event loop started it.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        state: Path | None = None,
        limits: Limits | None = None,
        origin: Origin = DEFAULT_GENESIS_CONFIG,
        sources: AllowedSources | None = None,
    ) -> None:
        self._sources = sources
        self._host = host
        self._requested_port = port
        self._state = state
        self._limits = limits
        self._origin = origin
        self._port = 0
        self._node: Node | None = None
        self._server: Server | None = None

    # --- Start and stop

    async def start(self) -> None:
        """Create or load the chain, and start to listen.

        Raises:
            WrongStateError: `localnet_running`, `port_unavailable`.
            NexusError: the errors of `Node.open`.
        """
        if self._node is not None:
            raise WrongStateError("localnet_running", "the localnet is already running")
        node = Node.open(self._state, origin=self._origin)
        try:
            server = Server(node, limits=self._limits, sources=self._sources)
            self._port = await server.start(self._host, self._requested_port)
        except BaseException:
            node.close()
            raise
        self._node, self._server = node, server

    async def stop(self) -> None:
        """Close all connections and the state. Do nothing if the network is stopped."""
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
        """The running node.

        Raises:
            WrongStateError: `localnet_stopped`.
        """
        if self._node is None:
            raise WrongStateError(
                "localnet_stopped", "the localnet is not running", hint="Call `start` first."
            )
        return self._node

    @property
    def port(self) -> int:
        """The port that serves gRPC, gRPC-Web and the faucet."""
        return self._port

    @property
    def url(self) -> str:
        """The URL of the network for clients."""
        return f"http://{self._host}:{self._port}"

    @property
    def protocol_version(self) -> int:
        """The protocol version whose rules the network follows."""
        return self.node.environment.rules.version

    @property
    def framework(self) -> Mapping[str, str]:
        """The digests of the framework packages in hexadecimal, by address (`0x1`, `0x2`, …)."""
        return framework_digests(self.node.ledger)

    def fund(self, recipient: Address, *amounts_mist: int) -> ExecutedTransaction:
        """Send SUI from the faucet to an address, as one coin for each amount.

        Raises:
            ValidationError: `faucet_amount_invalid`.
            WrongStateError: `faucet_empty`.
        """
        return self.node.fund(recipient, *amounts_mist)

    def advance_clock(self, milliseconds: int) -> int:
        """Move the clock forward immediately and return the new time in ms."""
        return self.node.advance_clock(milliseconds).timestamp_ms

    def advance_epoch(self) -> int:
        """End the epoch, start the next epoch, and return its number.

        Epochs never end by themselves.

        Raises:
            NexusError: `epoch_change_failed`.
        """
        return self.node.advance_epoch()

    def seed_randomness(self, seed: bytes) -> None:
        """Derive the random bytes of all future rounds from a seed."""
        self.node.seed_randomness(seed)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current state for `revert`."""
        return self.node.snapshot()

    def revert(self, snapshot: Snapshot) -> None:
        """Return to a snapshot and discard everything that happened since."""
        self.node.revert(snapshot)

    def trace(self, digest: Digest) -> "TransactionTrace":
        """Execute a committed transaction again and return a trace of its calls.

        Raises:
            NotFoundError: `transaction_not_found`.
            NexusError: `trace_failed`.
        """
        from nexus_tools.sui.localnet.trace import trace_transaction  # noqa: PLC0415 - 30 ms

        return trace_transaction(self.node, digest)

    def trace_transaction(self, data: bytes) -> "TransactionTrace":
        """Simulate a transaction and return a trace of its calls.

        `data` is the BCS of the transaction.

        Raises:
            BcsError: `data` is not a valid transaction.
            TransactionRefused: the network would not accept the transaction.
        """
        from nexus_tools.sui.localnet.trace import trace_simulation  # noqa: PLC0415 - 30 ms

        return trace_simulation(self.node, TRANSACTION_DATA.decode(data))
