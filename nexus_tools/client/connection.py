"""One connection to a node: calls with a time limit, patience and errors in words."""

import asyncio
import random
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from nexus_tools.client.channel import open_channel
from nexus_tools.client.grpc_errors import explain, is_transient
from nexus_tools.client.network import Network
from nexus_tools.errors import NexusError, UsageError

if TYPE_CHECKING:
    from nexus_tools.sui.rpc import Message, Procedure


_ECHO_S = 0.02
"""How long the loop stays after a call was cancelled, whose end gRPC tells to the loop once more.

If the loop were closed by then, another one of this process would have to take the message, and
report that it cannot.
"""


class Patience(Struct, frozen=True):
    """How often a call is tried and how long the pauses are, which double and vary at random.

    A stream that is silent for `silence_s` counts as broken.
    """

    attempts: int = 4
    first_pause_s: float = 0.1
    longest_pause_s: float = 10.0
    call_timeout_s: float = 30.0
    silence_s: float = 90.0

    def pauses(self) -> Iterator[float]:
        """The pauses after the failed attempts, without end.

        Of 0.1, 0.2, 0.4, ... up to 10 s, each between half of it and all of it: clients that a node
        has lost at one moment do not come back at one moment.
        """
        pause = self.first_pause_s
        while True:
            yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, keeps no secret
            pause = min(2 * pause, self.longest_pause_s)


class Connection:
    """The procedures of a node. Open it inside the event loop that uses it.

    A procedure is named as in `LedgerService/GetObject`, one outside of `sui.rpc.v2` by its path;
    the fields of its request are given by name.
    """

    def __init__(self, network: Network, patience: Patience | None = None) -> None:
        self.network = network
        self.patience = patience or Patience()
        self._channel: Any = None
        self._methods: dict[str, Any] = {}
        self._under_way = 0
        self._cancelled_at = 0.0

    def open(self) -> None:
        """Get ready; the connection itself is made by the first call."""
        from grpc import aio  # noqa: PLC0415 - the command line starts without it

        self._channel = self._open_channel(aio)
        self._methods = {}

    async def close(self) -> None:
        """End the connection and every call and stream on it."""
        channel, self._channel = self._channel, None
        if channel is None:
            return
        now = asyncio.get_running_loop().time()
        cancelled_at = now if self._under_way else self._cancelled_at
        await channel.close()
        await asyncio.sleep(cancelled_at + _ECHO_S - now)

    async def call(self, name: str, **fields: Any) -> "Message":
        """Call a procedure, again if the node does not respond: all our calls may be repeated.

        Raises the error that `grpc_errors` makes of the last failure.
        """
        from grpc import RpcError  # noqa: PLC0415 - comes with the connection

        procedure = _find_procedure(name)
        request = procedure.request(**fields)
        pauses = self.patience.pauses()
        for attempt in range(1, self.patience.attempts + 1):
            try:
                return await self._ask(procedure, request)
            except RpcError as error:
                if attempt == self.patience.attempts or not is_transient(error):
                    raise explain(error, self.network.url) from error
            await asyncio.sleep(next(pauses))
        raise AssertionError("at least one attempt is made")

    async def stream(self, name: str, **fields: Any) -> "AsyncGenerator[Message, None]":
        """The frames of a stream, until it ends, breaks or falls silent. It is not tried again."""
        from grpc import RpcError, aio  # noqa: PLC0415 - comes with the connection

        procedure = _find_procedure(name)
        with self._calling() as channel:
            call = self._method(channel, procedure)(procedure.request(**fields))
            try:
                while True:
                    async with asyncio.timeout(self.patience.silence_s):
                        frame = await call.read()
                    if frame is aio.EOF:
                        return
                    yield frame
            except (RpcError, TimeoutError) as error:
                raise explain(error, self.network.url) from error
            finally:
                call.cancel()  # which does nothing to a stream that has ended

    async def _ask(self, procedure: "Procedure", request: "Message") -> "Message":
        """One attempt to call a procedure. Raises an `RpcError`."""
        with self._calling() as channel:
            method = self._method(channel, procedure)
            return await method(request, timeout=self.patience.call_timeout_s)

    @contextmanager
    def _calling(self) -> Iterator[Any]:
        """The channel, for one call that is under way.

        gRPC cancels what is under way when its channel is closed, as if the task were.
        """
        if self._channel is None:
            raise _closed()
        channel = self._channel
        self._under_way += 1
        try:
            yield channel
        except GeneratorExit:
            self._cancelled_at = asyncio.get_running_loop().time()
            raise
        except asyncio.CancelledError as error:
            self._cancelled_at = asyncio.get_running_loop().time()
            task = asyncio.current_task()
            if self._channel is not channel and not (task and task.cancelling()):
                raise _closed() from error
            raise
        finally:
            self._under_way -= 1

    def _method(self, channel: Any, procedure: "Procedure") -> Any:
        """The procedure as a function of requests, on a channel of gRPC."""
        found = self._methods.get(procedure.path)
        if found is None:
            make = channel.unary_stream if procedure.streaming else channel.unary_unary
            found = self._methods[procedure.path] = make(
                procedure.path,
                request_serializer=procedure.request.SerializeToString,
                response_deserializer=procedure.response.FromString,
            )
        return found

    def _open_channel(self, kind: ModuleType) -> Any:
        return open_channel(
            kind,
            self.network.endpoint(),
            first_pause_s=self.patience.first_pause_s,
            longest_pause_s=self.patience.longest_pause_s,
        )


def _find_procedure(name: str) -> "Procedure":
    """The procedure with a name such as `LedgerService/GetObject`, or with a whole path."""
    from nexus_tools.sui.rpc import SUI_PACKAGE, load_messages  # noqa: PLC0415 - takes 10 ms

    path = name if name.startswith("/") else f"/{SUI_PACKAGE}.{name}"
    return load_messages().procedures[path]


def mask(*paths: str) -> dict[str, list[str]]:
    """A read mask: the node sends these fields and no others."""
    return {"paths": list(paths)}


def _closed() -> NexusError:
    return UsageError(
        "client_closed",
        "the client is not open",
        hint="use it in `async with SuiClient(...) as client:`",
    )
