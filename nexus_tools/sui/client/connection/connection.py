"""One connection to a node: calls with a time limit, patience and errors in words."""

import asyncio
import random
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from nexus_tools.sui.client.connection.channel import open_channel
from nexus_tools.sui.client.connection.grpc_errors import explain, is_transient
from nexus_tools.sui.client.connection.stall_timeout import Silence
from nexus_tools.sui.errors import NexusError, UnreachableError, UsageError
from nexus_tools.sui.network import Network

if TYPE_CHECKING:
    from grpc import RpcError

    from nexus_tools.sui.rpc import Message, Procedure

CHAIN_HEADER = "x-sui-chain-id"
"""With which each response of a node says of which chain it is: `sui-rpc-api/src/types.rs`."""
_DIGEST_CHARACTERS = 32
"""What a digest in base58 has at least; gateways that shorten it say too little."""

_ECHO_S = 0.1
"""How long the loop stays after a call was cancelled, whose end gRPC tells to the loop once more.

If the loop were closed by then, another one of this process would have to take the message, and
report that it cannot. No event tells that it came: gRPC keeps the future that it is for to itself,
and leaves one that was cancelled as it is. Nor does a later call tell: ends come in any order.
"""


class Patience(Struct, frozen=True):
    """How often and for how long a call is tried, with pauses that double and vary at random.

    All attempts of a call together have `call_timeout_s`, one to connect has `connect_s`. A node of
    which nothing was heard for `absence_s`, since it was asked, is given up: whoever asks it or
    follows its events ends, and is told so at once the next time. A stream that is silent for
    `silence_s` counts as broken. A connection on which something is under way and nothing comes for
    `keepalive_s` is asked for a sign of life, and given up if that takes as long again. Who
    follows events notes every `mark_s` which checkpoint they have come to.
    """

    attempts: int = 4
    first_pause_s: float = 0.1
    longest_pause_s: float = 2.0
    call_timeout_s: float = 30.0
    connect_s: float = 4.0
    absence_s: float = inf
    silence_s: float = 90.0
    keepalive_s: float = 10.0
    mark_s: float = 1.0

    @classmethod
    def of_a_person(cls, timeout_s: float) -> "Patience":
        """That of somebody who waits for one command: a silent node is told of in time.

        The first call ends before the first attempt to connect does, and says what it had.
        """
        return cls(call_timeout_s=timeout_s, connect_s=2 * timeout_s, absence_s=timeout_s)

    def pauses(self) -> Iterator[float]:
        """The pauses after the failed attempts, without end.

        Of 0.1, 0.2, 0.4, ... up to 2 s, each between half of it and all of it: clients that a node
        has lost at one moment do not come back at one moment.
        """
        pause = self.first_pause_s
        while True:
            yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, keeps no secret
            pause = min(2 * pause, self.longest_pause_s)


class Line:
    """A channel of gRPC, its procedures as functions, and how many calls are under way on it."""

    def __init__(self, channel: Any) -> None:
        self.channel = channel
        self.under_way = 0
        self._methods: dict[str, Any] = {}

    def method(self, procedure: "Procedure") -> Any:
        """The procedure as a function of requests."""
        found = self._methods.get(procedure.path)
        if found is None:
            channel = self.channel
            make = channel.unary_stream if procedure.streaming else channel.unary_unary
            found = self._methods[procedure.path] = make(
                procedure.path,
                request_serializer=procedure.request.SerializeToString,
                response_deserializer=procedure.response.FromString,
            )
        return found


class Connection:
    """The procedures of a node. Open it inside the event loop that uses it.

    A procedure is named as in `LedgerService/GetObject`, one outside of `sui.rpc.v2` by its path;
    the fields of its request are given by name. With a `chain_id`, no response of another chain is
    believed: a node may be replaced behind its URL at any time.
    """

    def __init__(self, network: Network, patience: Patience | None = None) -> None:
        self.network = network
        self.patience = patience or Patience()
        self.chain_id = network.chain_id
        self.silence = Silence(self.patience.absence_s)
        self._line: Line | None = None
        self._retired: set[Line] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._cancelled_at = 0.0

    def open(self) -> None:
        """Get ready; the connection itself is made by the first call."""
        from grpc import aio  # noqa: PLC0415 - the command line starts without it

        self._line = Line(self._open_channel(aio))

    async def close(self) -> None:
        """End the connection and every call and stream on it."""
        line, self._line = self._line, None
        if line is None:
            return
        now = asyncio.get_running_loop().time()
        lines = {line, *self._retired}
        cancelled_at = now if any(each.under_way for each in lines) else self._cancelled_at
        for each in lines:
            self._end(each)
        await asyncio.gather(*self._ending)
        await asyncio.sleep(cancelled_at + _ECHO_S - now)

    def renew(self) -> None:
        """Have everything connect anew: what is under way breaks as if the node had ended it."""
        if self._line is not None:
            self._end(self._line)
            self.open()

    async def call(self, name: str, **fields: Any) -> "Message":
        """Call a procedure, again if the node does not respond: all our calls may be repeated.

        Raises the error that `grpc_errors` makes of the last failure, or `wrong_chain`.
        """
        from grpc import RpcError  # noqa: PLC0415 - comes with the connection

        self._check_hope()
        procedure = _find_procedure(name)
        request = procedure.request(**fields)
        time = asyncio.get_running_loop().time
        asked_at = time()
        ends_at = self.silence.bound(asked_at + self.patience.call_timeout_s)
        for attempt, pause in enumerate(self.patience.pauses(), 1):
            try:
                response = await self._ask(procedure, request, max(0.0, ends_at - time()))
            except RpcError as error:
                self._fail(asked_at, error)
                is_last = attempt == self.patience.attempts or time() + pause >= ends_at
                if is_last or not is_transient(error):
                    explained = self._explain(error)
                    if attempt > 1 and not is_transient(error):
                        explained.details["attempts"] = attempt  # one may have been carried out
                    raise explained from error
            else:
                self.silence.hear()
                return response
            await asyncio.sleep(pause)
        raise AssertionError("pauses have no end")

    async def stream(self, name: str, **fields: Any) -> "AsyncGenerator[Message, None]":
        """The frames of a stream, until it ends, breaks or falls silent. It is not tried again."""
        from grpc import RpcError  # noqa: PLC0415 - comes with the connection

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
                    if call.cancel():  # which does nothing to a stream that has ended
                        self._cancelled_at = asyncio.get_running_loop().time()
        except (RpcError, TimeoutError) as error:
            raise self._explain(error) from error

    async def _frames(self, call: Any, *, is_unbounded: bool) -> "AsyncGenerator[Message, None]":
        """Raises an `RpcError`, a `TimeoutError` or `wrong_chain`."""
        from grpc import aio  # noqa: PLC0415 - comes with the connection

        is_first = True
        while True:
            # A subscription that has begun is silent while nothing happens.
            frame = await self._read(call, is_asked=is_first or not is_unbounded)
            if frame is aio.EOF:
                return
            if is_first:
                self._check_chain(await call.initial_metadata())
                is_first = False
            yield frame

    async def _read(self, call: Any, *, is_asked: bool) -> Any:
        """The next frame, which the node was asked for, or that it sends when it wants to.

        Raises an `RpcError` or a `TimeoutError`.
        """
        from grpc import RpcError  # noqa: PLC0415 - comes with the connection

        time = asyncio.get_running_loop().time
        asked_at = time()
        ends_at = asked_at + self.patience.silence_s
        if is_asked:
            ends_at = self.silence.bound(min(ends_at, asked_at + self.patience.absence_s))
        try:
            async with asyncio.timeout_at(ends_at):
                frame = await call.read()
        except (RpcError, TimeoutError) as error:
            self._fail(asked_at if is_asked else time(), error)
            raise
        self.silence.hear()
        return frame

    async def _ask(self, procedure: "Procedure", request: "Message", timeout_s: float) -> "Message":
        """One attempt to call a procedure. Raises an `RpcError` or `wrong_chain`."""
        from grpc import RpcError, StatusCode  # noqa: PLC0415 - comes with the connection

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
        """Raise `node_unreachable` if the node was asked for too long already."""
        if self.silence.is_over_long:
            raise self._explain(TimeoutError())

    def _fail(self, asked_at: float, error: "RpcError | TimeoutError") -> None:
        """Something ended with an error; if it was the last that is waited for, all else does."""
        if isinstance(error, TimeoutError):
            self.silence.fail(asked_at)
        else:
            self.silence.fail(asked_at, error.code().name)
        if self.silence.is_over_long:
            for line in tuple(self._retired):
                self._end(line)

    # --- What is believed

    def _explain(self, error: "RpcError | TimeoutError") -> NexusError:
        """The error in words, unless a node of another chain gave it: then that."""
        if not isinstance(error, TimeoutError):
            try:
                self._check_chain(error.initial_metadata() or ())
                self._check_chain(error.trailing_metadata() or ())
            except UnreachableError as foreign:
                return foreign
        patience = self.patience
        limit_s = min(patience.silence_s, patience.absence_s)
        if not isinstance(error, TimeoutError):
            limit_s = patience.call_timeout_s
        explained = explain(error, self.network.url, limit_s)
        if self.silence.is_over_long:
            explained.details["timeout_s"] = patience.absence_s
        return explained

    def _check_chain(self, metadata: Iterable[tuple[str, Any]]) -> None:
        """Raise `wrong_chain` if the headers of a response tell of another chain."""
        if self.chain_id is None:
            return
        for name, value in metadata:
            if name == CHAIN_HEADER and len(value) >= _DIGEST_CHARACTERS:
                check_chain(self.network.url, value, self.chain_id)

    # --- The channel and its successors

    @contextmanager
    def _calling(self) -> Iterator[Line]:
        """The channel, for one call that is under way.

        gRPC cancels what is under way when its channel is closed, as if the task were.
        """
        if self._line is None:
            raise _closed()
        line = self._line
        line.under_way += 1
        try:
            yield line
        except GeneratorExit:
            self._cancelled_at = asyncio.get_running_loop().time()
            raise
        except asyncio.CancelledError as error:
            self._cancelled_at = asyncio.get_running_loop().time()
            task = asyncio.current_task()
            if self._line is not line and not (task and task.cancelling()):
                raise (_closed() if self._line is None else _renewed()) from error
            raise
        finally:
            line.under_way -= 1
            if line in self._retired and not line.under_way:
                self._end(line)

    def _retire(self, line: Line) -> None:
        """Have new calls connect anew, since one on this channel ran out of time.

        The node may be behind something that takes calls and loses them. Others that are under way
        may be luckier: the channel ends after them.
        """
        if line is self._line:
            self._retired.add(line)
            self.open()

    def _end(self, line: Line) -> None:
        """Close a channel, with what is under way on it."""
        self._retired.discard(line)
        ending = asyncio.get_running_loop().create_task(line.channel.close())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _open_channel(self, kind: ModuleType) -> Any:
        return open_channel(
            kind,
            self.network.endpoint(),
            first_pause_s=self.patience.first_pause_s,
            longest_pause_s=self.patience.longest_pause_s,
            keepalive_s=self.patience.keepalive_s,
            connect_s=self.patience.connect_s,
        )


def check_chain(url: str, found: str, expected: str) -> None:
    """Raise `wrong_chain` if the node at `url` is of another chain than expected."""
    if found != expected:
        raise UnreachableError(
            "wrong_chain",
            f"the node at {url} is of the chain {found}, not {expected}",
            hint="check the network's URL; devnet and localnets begin anew now and then",
            details={"url": url, "found": found, "expected": expected},
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


def _renewed() -> "RpcError":
    """What a call ends with whose channel was given up: another attempt has a new one."""
    from grpc import StatusCode, aio  # noqa: PLC0415 - comes with the connection

    nothing = aio.Metadata()
    return aio.AioRpcError(StatusCode.UNAVAILABLE, nothing, nothing, "the connection was given up")
