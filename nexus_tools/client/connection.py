"""One connection to a node: calls with a time limit, patience and errors in words."""

import asyncio
import random
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from nexus_tools.client.messages import rpc
from nexus_tools.client.network import Network
from nexus_tools.errors import UnreachableError, UsageError


class UnsupportedByNodeError(UnreachableError):
    """The node does not offer this method, or does not keep what it would need for it."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a call is tried and how long the pauses are, which double and vary at random.

    A stream that is silent for `silence_s` counts as broken.
    """

    attempts: int = 4
    first_pause_s: float = 0.1
    longest_pause_s: float = 10.0
    call_timeout_s: float = 30.0
    silence_s: float = 90.0

    def pauses(self) -> Iterator[float]:
        """The pauses after the failed attempts, without end."""
        pause = self.first_pause_s
        while True:
            yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, keeps no secret
            pause = min(2 * pause, self.longest_pause_s)


class Connection:
    """The services of a node. Open it inside the event loop that uses it."""

    def __init__(self, network: Network, patience: Patience | None = None) -> None:
        self.network = network
        self.patience = patience or Patience()
        self._channel: Any = None
        self._stubs: dict[str, Any] = {}

    def open(self) -> None:
        """Get ready; the connection itself is made by the first call."""
        from grpclib.client import Channel  # noqa: PLC0415 - the command line starts without it

        endpoint = self.network.endpoint()
        context = _tls_context() if endpoint.tls else None
        self._channel = Channel(endpoint.host, endpoint.port, ssl=context)
        self._stubs = {}

    def close(self) -> None:
        """End the connection and every stream on it."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    @property
    def ledger(self) -> Any:
        """Objects, transactions, checkpoints, epochs, past events."""
        return self._stub("LedgerServiceStub")

    @property
    def state(self) -> Any:
        """What an address owns."""
        return self._stub("StateServiceStub")

    @property
    def packages(self) -> Any:
        """What packages offer, and their versions."""
        return self._stub("MovePackageServiceStub")

    @property
    def execution(self) -> Any:
        """Execution and simulation."""
        return self._stub("TransactionExecutionServiceStub")

    @property
    def subscription(self) -> Any:
        """What happens from now on."""
        return self._stub("SubscriptionServiceStub")

    def _stub(self, name: str) -> Any:
        if self._channel is None:
            raise UsageError(
                "client_closed",
                "the client is not open",
                hint="use it in `async with SuiClient(...) as client:`",
            )
        if name not in self._stubs:
            self._stubs[name] = getattr(rpc(), name)(self._channel)
        return self._stubs[name]

    async def call(self, method: Callable[..., Awaitable[Any]], message: Any) -> Any:
        """Call a method, again if the node does not answer: all our calls may be repeated.

        Raises the error that `grpc_errors` makes of the last failure.
        """
        from nexus_tools.client.grpc_errors import (  # noqa: PLC0415 - comes with grpclib
            CALL_ERRORS,
            explain,
            is_transient,
        )

        pauses = self.patience.pauses()
        for attempt in range(1, self.patience.attempts + 1):
            try:
                return await method(message, timeout=self.patience.call_timeout_s)
            except CALL_ERRORS as error:
                if attempt == self.patience.attempts or not is_transient(error):
                    raise explain(error, self.network.url) from error
            await asyncio.sleep(next(pauses))
        raise AssertionError("at least one attempt is made")

    async def stream(
        self, method: Callable[..., AsyncGenerator[Any, None]], message: Any
    ) -> AsyncGenerator[Any, None]:
        """The frames of a stream, until it ends, breaks or falls silent. It is not tried again."""
        from nexus_tools.client.grpc_errors import (  # noqa: PLC0415 - comes with grpclib
            CALL_ERRORS,
            explain,
        )

        try:
            async with aclosing(method(message)) as frames:
                while True:
                    async with asyncio.timeout(self.patience.silence_s):
                        frame = await anext(frames, None)
                    if frame is None:
                        return
                    yield frame
        except CALL_ERRORS as error:
            raise explain(error, self.network.url) from error


def _tls_context() -> ssl.SSLContext:
    """The system's certificates and SSL_CERT_FILE, and those of certifi beside them."""
    import certifi  # noqa: PLC0415 - only needed with TLS

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["h2"])
    return context
