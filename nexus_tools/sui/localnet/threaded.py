"""A local network in its own thread, for programs and tests that are not async."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from nexus_tools.sui.localnet.genesis import DEFAULT_GENESIS_CONFIG, Origin
from nexus_tools.sui.localnet.ledger import ExecutedTransaction, Snapshot
from nexus_tools.sui.localnet.localnet import Localnet
from nexus_tools.sui.localnet.rpc import Limits
from nexus_tools.sui.support.arguments import validate_arguments
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.trace import TransactionTrace

T = TypeVar("T")


@validate_arguments
class ThreadedLocalnet:
    """A synchronous context manager for a `Localnet`. Any thread may call its methods."""

    def __init__(
        self,
        *,
        port: int = 0,
        state: Path | None = None,
        limits: Limits | None = None,
        origin: Origin = DEFAULT_GENESIS_CONFIG,
    ) -> None:
        self._localnet = Localnet(port=port, state=state, limits=limits, origin=origin)
        self._startup: Future[asyncio.AbstractEventLoop] = Future()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run()), name="localnet", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        self._startup.result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._startup.result().call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    async def _run(self) -> None:
        try:
            await self._localnet.start()
        except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
            self._startup.set_exception(error)
            return
        self._startup.set_result(asyncio.get_running_loop())
        await self._stopping.wait()
        await self._localnet.stop()

    @property
    def url(self) -> str:
        """The URL of the network for clients."""
        return self._localnet.url

    def fund(self, recipient: Address, *amounts_mist: int) -> ExecutedTransaction:
        """Send SUI from the faucet to an address, as one coin for each amount."""
        return self.call(lambda localnet: localnet.fund(recipient, *amounts_mist))

    def advance_clock(self, milliseconds: int) -> int:
        """Move the clock forward immediately and return the new time in ms."""
        return self.call(lambda localnet: localnet.advance_clock(milliseconds))

    def advance_epoch(self) -> int:
        """End the epoch, start the next epoch, and return its number.

        Epochs never end by themselves.
        """
        return self.call(Localnet.advance_epoch)

    def seed_randomness(self, seed: bytes) -> None:
        """Derive the random bytes of all future rounds from a seed."""
        self.call(lambda localnet: localnet.seed_randomness(seed))

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current state for `revert`."""
        return self.call(Localnet.snapshot)

    def revert(self, snapshot: Snapshot) -> None:
        """Return to a snapshot and discard everything that happened since."""
        self.call(lambda localnet: localnet.revert(snapshot))

    def trace(self, digest: Digest) -> "TransactionTrace":
        """Execute a committed transaction again and return a trace of its calls."""
        return self.call(lambda localnet: localnet.trace(digest))

    def trace_transaction(self, data: bytes) -> "TransactionTrace":
        """Simulate a transaction and return a trace of its calls.

        `data` is the BCS of the transaction.
        """
        return self.call(lambda localnet: localnet.trace_transaction(data))

    def call(self, function: Callable[[Localnet], T]) -> T:
        """Call `function(localnet)` in the thread of the network and return its result."""

        async def run() -> T:
            return function(self._localnet)

        return asyncio.run_coroutine_threadsafe(run(), self._startup.result()).result()
