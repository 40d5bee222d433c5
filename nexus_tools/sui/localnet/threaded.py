"""A local network in a thread of its own, for programs and tests that are not async."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from nexus_tools.sui.localnet.genesis import DEFAULT_ORIGIN, Origin
from nexus_tools.sui.localnet.ledger import ExecutedTransaction, Snapshot
from nexus_tools.sui.localnet.localnet import Localnet
from nexus_tools.sui.localnet.rpc import Limits
from nexus_tools.sui.support.arguments import checks_arguments
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest

if TYPE_CHECKING:
    from nexus_tools.sui.localnet.trace import TransactionTrace

T = TypeVar("T")


@checks_arguments
class ThreadedLocalnet:
    """As `Localnet`, as a plain context manager. Its methods may be called from any thread."""

    def __init__(
        self,
        *,
        port: int = 0,
        state: Path | None = None,
        limits: Limits | None = None,
        origin: Origin = DEFAULT_ORIGIN,
    ) -> None:
        self._localnet = Localnet(port=port, state=state, limits=limits, origin=origin)
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._live()), name="localnet", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._started.result().call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    async def _live(self) -> None:
        try:
            await self._localnet.start()
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
            self._started.set_exception(error)
            return
        self._started.set_result(asyncio.get_running_loop())
        await self._stopping.wait()
        await self._localnet.stop()

    @property
    def url(self) -> str:
        """Where clients find the network."""
        return self._localnet.url

    def fund(self, recipient: Address, *amounts_mist: int) -> ExecutedTransaction:
        """Send SUI from the faucet's account to an address: a coin of each amount."""
        return self.call(lambda localnet: localnet.fund(recipient, *amounts_mist))

    def advance_clock(self, milliseconds: int) -> int:
        """Move the clock forwards at once; gives the time in ms that it shows then."""
        return self.call(lambda localnet: localnet.advance_clock(milliseconds))

    def advance_epoch(self) -> int:
        """End the epoch, and begin the next one; gives its number. Time does not pass by itself."""
        return self.call(Localnet.advance_epoch)

    def seed_randomness(self, seed: bytes) -> None:
        """Let the random bytes of all rounds to come follow from a seed."""
        self.call(lambda localnet: localnet.seed_randomness(seed))

    def snapshot(self) -> Snapshot:
        """The present, to come back to."""
        return self.call(Localnet.snapshot)

    def revert(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot: whatever happened since did not happen."""
        self.call(lambda localnet: localnet.revert(snapshot))

    def trace(self, digest: Digest) -> "TransactionTrace":
        """What a transaction did, call by call: it is executed once more."""
        return self.call(lambda localnet: localnet.trace(digest))

    def trace_transaction(self, data: bytes) -> "TransactionTrace":
        """What a transaction would do now, call by call; `data` are its BCS bytes."""
        return self.call(lambda localnet: localnet.trace_transaction(data))

    def call(self, function: Callable[[Localnet], T]) -> T:
        """Call a function with the network, in the network's thread, and wait for its result."""

        async def run() -> T:
            return function(self._localnet)

        return asyncio.run_coroutine_threadsafe(run(), self._started.result()).result()
