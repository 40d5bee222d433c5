"""The connection of a `SuiClient` to a node, with time limits, retries and readable errors."""

import asyncio
import random
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from nexus_tools.sui.client.connection.channel import open_channel
from nexus_tools.sui.client.connection.closed_loops import ignore_late_grpc_events
from nexus_tools.sui.client.connection.grpc_errors import explain_rpc_error, is_transient
from nexus_tools.sui.client.connection.silence_limit import SilenceLimit
from nexus_tools.sui.client.connection.stall_timeout import StallTimeout
from nexus_tools.sui.errors import NexusError, UnreachableError, UsageError
from nexus_tools.sui.network import Network

if TYPE_CHECKING:
    from grpc import RpcError

    from nexus_tools.sui.rpc import Message, Procedure

CHAIN_HEADER = "x-sui-chain-id"
"""The response header with the node's chain ID. Source: `sui-rpc-api/src/types.rs`."""
_DIGEST_CHARACTERS = 32
"""The minimum length of a digest in base58. A gateway may have truncated a shorter value."""


class RetryPolicy(Struct, frozen=True):
    """The retry policy of a connection: attempts, pauses and time limits.

    All attempts of one call share `call_timeout_s`. One attempt to connect takes at most
    `connect_s`. If a node does not respond for `unreachable_after_s`, all its calls and event
    streams fail. A stream fails if it is silent for `stream_timeout_s`. If a connection with
    pending calls receives nothing for `keepalive_s`, gRPC sends a ping. Without a reply within
    another `keepalive_s`, gRPC closes the connection. Every `mark_interval_s`, an event follower
    records its current checkpoint.
    """

    attempts: int = 4
    first_delay_s: float = 0.1
    max_delay_s: float = 2.0
    call_timeout_s: float = 30.0
    connect_s: float = 4.0
    unreachable_after_s: float = inf
    stream_timeout_s: float = 90.0
    keepalive_s: float = 10.0
    mark_interval_s: float = 1.0

    @classmethod
    def interactive(cls, timeout_s: float) -> "RetryPolicy":
        """Return the policy of interactive commands. A silent node is reported within `timeout_s`.

        The first call times out before the attempt to connect, so the error states `timeout_s`.
        """
        return cls(call_timeout_s=timeout_s, connect_s=2 * timeout_s, unreachable_after_s=timeout_s)

    def delays(self) -> Iterator[float]:
        """Yield the pauses after failed attempts, in seconds. The iterator does not end.

        By default, the pauses are 0.1, 0.2, 0.4, ... up to 2 s. Each pause is multiplied by a
        random factor between 0.5 and 1. The factor spreads out the retries of clients that lost the
        same node at the same time.
        """
        pause = self.first_delay_s
        while True:
            yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - jitter needs no secure randomness
            pause = min(2 * pause, self.max_delay_s)


class Channel:
    """A gRPC channel, its procedures, and the number of pending calls (`under_way`)."""

    def __init__(self, channel: Any) -> None:
        self.channel = channel
        self.under_way = 0
        self._methods: dict[str, Any] = {}

    def method(self, procedure: "Procedure") -> Any:
        """Return a function that sends a request to the procedure."""
        method = self._methods.get(procedure.path)
        if method is None:
            channel = self.channel
            make = channel.unary_stream if procedure.streaming else channel.unary_unary
            method = self._methods[procedure.path] = make(
                procedure.path,
                request_serializer=procedure.request.SerializeToString,
                response_deserializer=procedure.response.FromString,
            )
        return method


class Connection:
    """A connection to a node, which calls its procedures.

    Open the connection inside the event loop that uses it. Name a procedure as
    `LedgerService/GetObject`, or by its full path if it is not in `sui.rpc.v2`. Pass the fields of
    the request as keyword arguments. If the network has a `chain_id`, the connection rejects
    responses from another chain. Each response is checked because the node behind a URL can be
    replaced at any time.
    """

    def __init__(self, network: Network, retry_policy: RetryPolicy | None = None) -> None:
        self.network = network
        self.retry_policy = retry_policy or RetryPolicy()
        self.chain_id = network.chain_id
        self.stall_timeout = StallTimeout(self.retry_policy.unreachable_after_s)
        self._line: Channel | None = None
        self._retired: set[Channel] = set()
        self._ending: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Create the channel. The first call establishes the connection."""
        from grpc import aio  # noqa: PLC0415 - not needed to start the command line

        ignore_late_grpc_events(asyncio.get_running_loop())
        self._line = Channel(self._open_channel(aio))

    async def close(self) -> None:
        """Close the connection and end all its calls and streams."""
        line, self._line = self._line, None
        if line is None:
            return
        for open_line in {line, *self._retired}:
            self._end(open_line)
        await asyncio.gather(*self._ending)

    def renew(self) -> None:
        """Replace the channel. Pending calls fail as if the node had closed the connection."""
        if self._line is not None:
            self._end(self._line)
            self.open()

    async def call(self, name: str, **fields: Any) -> "Message":
        """Call a procedure, and retry if the node does not respond. All calls are safe to retry.

        Raises:
            NexusError: The error of `explain_rpc_error` for the last failure, or `wrong_chain`.
        """
        from grpc import RpcError  # noqa: PLC0415 - already loaded by the connection

        self._check_hope()
        procedure = _find_procedure(name)
        request = procedure.request(**fields)
        time = asyncio.get_running_loop().time
        asked_at = time()
        ends_at = self.stall_timeout.bound(asked_at + self.retry_policy.call_timeout_s)
        for attempt, pause in enumerate(self.retry_policy.delays(), 1):
            try:
                response = await self._ask(procedure, request, max(0.0, ends_at - time()))
            except RpcError as error:
                self._fail(asked_at, error)
                is_last = attempt == self.retry_policy.attempts or time() + pause >= ends_at
                if is_last or not is_transient(error):
                    explained = self._explain(error)
                    if attempt > 1 and not is_transient(error):
                        explained.details["attempts"] = attempt  # an earlier one may have succeeded
                    raise explained from error
            else:
                self.stall_timeout.record_response()
                return response
            await asyncio.sleep(pause)
        raise AssertionError("the iterator of delays must not end")

    async def stream(self, name: str, **fields: Any) -> "AsyncGenerator[Message, None]":
        """Yield the frames of a stream until it ends, breaks or stalls. A stream is not retried."""
        from grpc import RpcError  # noqa: PLC0415 - already loaded by the connection

        self._check_hope()
        procedure = _find_procedure(name)
        is_unbounded = name.startswith("SubscriptionService/")
        try:
            with self._calling() as line:
                call = line.method(procedure)(procedure.request(**fields))
                try:
                    async for frame in self._frames(call, is_unbounded=is_unbounded):
                        yield frame
                finally:
                    call.cancel()  # no effect on a stream that has ended
        except (RpcError, TimeoutError) as error:
            raise self._explain(error) from error

    async def _frames(self, call: Any, *, is_unbounded: bool) -> "AsyncGenerator[Message, None]":
        """Yield the frames of a stream.

        Raises:
            RpcError: The call failed.
            TimeoutError: The stream was silent too long.
            UnreachableError: `wrong_chain`.
        """
        from grpc import aio  # noqa: PLC0415 - already loaded by the connection

        is_first = True
        limit = SilenceLimit(call.cancel)
        try:
            while True:
                # After the first frame, a subscription may be silent until an event happens.
                frame = await self._read(call, limit, is_asked=is_first or not is_unbounded)
                if frame is aio.EOF:
                    return
                if is_first:
                    self._check_chain(await call.initial_metadata())
                    is_first = False
                yield frame
        finally:
            limit.close()

    async def _read(self, call: Any, limit: SilenceLimit, *, is_asked: bool) -> Any:
        """Read the next frame. If `is_asked` is True, the node must send a frame now.

        Raises:
            RpcError: The call failed.
            TimeoutError: No frame arrived in time.
        """
        from grpc import RpcError  # noqa: PLC0415 - already loaded by the connection

        time = asyncio.get_running_loop().time
        asked_at = time()
        ends_at = asked_at + self.retry_policy.stream_timeout_s
        if is_asked:
            ends_at = self.stall_timeout.bound(
                min(ends_at, asked_at + self.retry_policy.unreachable_after_s)
            )
        limit.start(ends_at)
        try:
            frame = await call.read()
        except RpcError as error:
            self._fail(asked_at if is_asked else time(), error)
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if not limit.is_exceeded or (task and task.cancelling()):
                raise
            late = TimeoutError()
            self._fail(asked_at if is_asked else time(), late)
            raise late from error
        finally:
            limit.stop()
        self.stall_timeout.record_response()
        return frame

    async def _ask(self, procedure: "Procedure", request: "Message", timeout_s: float) -> "Message":
        """Make one attempt to call a procedure.

        Raises:
            RpcError: The attempt failed.
            UnreachableError: `wrong_chain`.
        """
        from grpc import RpcError, StatusCode  # noqa: PLC0415 - already loaded by the connection

        with self._calling() as line:
            call = line.method(procedure)(request, timeout=timeout_s)
            try:
                response: Message = await call
            except RpcError as error:
                if error.code() is StatusCode.DEADLINE_EXCEEDED:
                    self._retire(line)
                raise
            self._check_chain(await call.initial_metadata())
            return response

    def _check_hope(self) -> None:
        """Raise `node_unreachable` if the stall timeout of the node is exceeded."""
        if self.stall_timeout.is_exceeded:
            raise self._explain(TimeoutError())

    def _fail(self, asked_at: float, error: "RpcError | TimeoutError") -> None:
        """Record a failure. If the stall timeout is exceeded, close all retired channels."""
        if isinstance(error, TimeoutError):
            self.stall_timeout.record_failure(asked_at)
        else:
            self.stall_timeout.record_failure(asked_at, error.code().name)
        if self.stall_timeout.is_exceeded:
            for line in tuple(self._retired):
                self._end(line)

    # --- Rejection of other chains

    def _explain(self, error: "RpcError | TimeoutError") -> NexusError:
        """Return a readable error for a gRPC error, or `wrong_chain` if another chain responded."""
        if not isinstance(error, TimeoutError):
            try:
                self._check_chain(error.initial_metadata() or ())
                self._check_chain(error.trailing_metadata() or ())
            except UnreachableError as foreign:
                return foreign
        retry_policy = self.retry_policy
        limit_s = min(retry_policy.stream_timeout_s, retry_policy.unreachable_after_s)
        if not isinstance(error, TimeoutError):
            limit_s = retry_policy.call_timeout_s
        explained = explain_rpc_error(error, self.network.url, limit_s)
        if self.stall_timeout.is_exceeded:
            explained.details["timeout_s"] = retry_policy.unreachable_after_s
        return explained

    def _check_chain(self, metadata: Iterable[tuple[str, Any]]) -> None:
        """Raise `wrong_chain` if the response headers contain the ID of another chain."""
        if self.chain_id is None:
            return
        for name, value in metadata:
            if name == CHAIN_HEADER and len(value) >= _DIGEST_CHARACTERS:
                check_chain(self.network.url, value, self.chain_id)

    # --- The channel and its replacements

    @contextmanager
    def _calling(self) -> Iterator[Channel]:
        """Provide the channel for one call, and count the call as pending until the block ends.

        When a channel is closed, gRPC cancels its pending calls as if their tasks were cancelled.
        This method then raises a readable error.
        """
        if self._line is None:
            raise _closed()
        line = self._line
        line.under_way += 1
        try:
            yield line
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if self._line is not line and not (task and task.cancelling()):
                raise (_closed() if self._line is None else _renewed()) from error
            raise
        finally:
            line.under_way -= 1
            if line in self._retired and not line.under_way:
                self._end(line)

    def _retire(self, line: Channel) -> None:
        """Open a new channel for later calls because a call on `line` timed out.

        The node may be behind a proxy that accepts calls and loses them. Other pending calls may
        still succeed, so the old channel is closed only after these calls end.
        """
        if line is self._line:
            self._retired.add(line)
            self.open()

    def _end(self, line: Channel) -> None:
        """Close a channel, which ends its pending calls."""
        self._retired.discard(line)
        ending = asyncio.get_running_loop().create_task(line.channel.close())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _open_channel(self, kind: ModuleType) -> Any:
        return open_channel(
            kind,
            self.network.endpoint(),
            first_pause_s=self.retry_policy.first_delay_s,
            longest_pause_s=self.retry_policy.max_delay_s,
            keepalive_s=self.retry_policy.keepalive_s,
            connect_s=self.retry_policy.connect_s,
        )


def check_chain(url: str, found: str, expected: str) -> None:
    """Raise `wrong_chain` if the node at `url` is not on the expected chain."""
    if found != expected:
        raise UnreachableError(
            "wrong_chain",
            f"the node at {url} is on chain {found}, expected {expected}",
            hint="Check the network's URL. Devnet and localnets are reset from time to time.",
            details={"url": url, "found": found, "expected": expected},
        )


def _find_procedure(name: str) -> "Procedure":
    """Return the procedure with a name such as `LedgerService/GetObject` or with a full path."""
    from nexus_tools.sui.rpc import SUI_PACKAGE, load_messages  # noqa: PLC0415 - not needed to start

    path = name if name.startswith("/") else f"/{SUI_PACKAGE}.{name}"
    return load_messages().procedures[path]


def mask(*paths: str) -> dict[str, list[str]]:
    """Return a read mask, which requests only these fields from the node."""
    return {"paths": list(paths)}


def _closed() -> NexusError:
    return UsageError(
        "client_closed",
        "the client is not open",
        hint="Open the client with `async with SuiClient(...) as client:`.",
    )


def _renewed() -> "RpcError":
    """Return the error of a call whose channel was replaced. The call is then retried."""
    from grpc import StatusCode, aio  # noqa: PLC0415 - already loaded by the connection

    metadata = aio.Metadata()
    return aio.AioRpcError(
        StatusCode.UNAVAILABLE, metadata, metadata, "the connection was replaced"
    )
