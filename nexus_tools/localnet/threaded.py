"""A local network in a thread of its own, for programs and tests that are not async."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from nexus_tools.localnet.ledger import ExecutedTransaction, Snapshot
from nexus_tools.localnet.localnet import Localnet
from nexus_tools.sui.address import Address

T = TypeVar("T")


class ThreadedLocalnet:
    """As `Localnet`, as a plain context manager. Its methods may be called from any thread."""

    def __init__(
        self, *, port: int = 0, state: Path | None = None, cache: Path | None = None
    ) -> None:
        self._localnet = Localnet(port=port, state=state, cache=cache)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="localnet", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._wait_for(self._localnet.start())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._wait_for(self._localnet.stop())
        finally:
            self._end()

    @property
    def url(self) -> str:
        """Where clients find the network."""
        return self._localnet.url

    def fund(self, recipient: Address, amount_mist: int) -> ExecutedTransaction:
        """Send SUI from the faucet's account to an address, as one coin."""
        return self.call(lambda localnet: localnet.fund(recipient, amount_mist))

    def advance_clock(self, milliseconds: int) -> int:
        """Move the clock forwards at once; gives the time in ms that it shows then."""
        return self.call(lambda localnet: localnet.advance_clock(milliseconds))

    def snapshot(self) -> Snapshot:
        """The present, to come back to."""
        return self.call(Localnet.snapshot)

    def revert(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot: whatever happened since did not happen."""
        self.call(lambda localnet: localnet.revert(snapshot))

    def call(self, function: Callable[[Localnet], T]) -> T:
        """Call a function with the network, in the network's thread, and wait for its result."""

        async def run() -> T:
            return function(self._localnet)

        return self._wait_for(run())

    def _wait_for(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
