"""A gateway to a node that shows the chain as it was some time ago.

The gateway delays live events, the height and the clock, and hides objects that are younger than
the delay. Other objects have their current content, and transactions are executed immediately.
Therefore, the gateway is like a lagging node only for a Leader that does not follow events itself.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, Self

import grpc.aio

from benchmarks.gateway import Gateway
from nexus_tools.sui.rpc import load_messages
from nexus_tools.sui.types.address import CLOCK, Address

_LEDGER = "/sui.rpc.v2.LedgerService/"
_HEIGHT = f"{_LEDGER}GetServiceInfo"
_READ_EVERY_S = 0.2


class LaggingNode(Gateway):
    """A gateway that shows the chain as it was `lag_s` seconds ago.

    `born` maps the IDs of objects to the times of their creation, from the monotonic clock.
    """

    def __init__(self, url: str, lag_s: float, born: Mapping[Address, float]) -> None:
        super().__init__(url)
        self._url = url
        self._lag_s = lag_s
        self._born = born
        self._heights: list[tuple[float, Any]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Listen until the block ends."""
        async with super().running():
            reading = asyncio.create_task(self._read_heights())
            try:
                yield self
            finally:
                reading.cancel()
                await asyncio.wait({reading})

    async def _read_heights(self) -> None:
        procedure = load_messages().procedures[_HEIGHT]
        async with grpc.aio.insecure_channel(self._url.removeprefix("http://")) as channel:
            read = channel.unary_unary(_HEIGHT)
            while True:
                response = procedure.response.FromString(await read(b""))
                self._heights.append((monotonic(), response))
                await asyncio.sleep(_READ_EVERY_S)

    async def _call(self, name: str, forward: Any, request: bytes, context: Any) -> Any:
        response = await super()._call(name, forward, request, context)
        change = {
            "GetServiceInfo": self._earlier_height,
            "GetObject": self._earlier_clock,
            "BatchGetObjects": self._without_young_objects,
        }.get(name)
        if change is None:
            return response
        procedure = load_messages().procedures[_LEDGER + name]
        question, answer = procedure.request(), procedure.response.FromString(response)
        question.ParseFromString(request)
        return change(question, answer).SerializeToString()

    async def _stream(
        self, name: str, forward: Any, request: bytes, context: Any
    ) -> AsyncIterator[bytes]:
        frames = super()._stream(name, forward, request, context)
        if not name.startswith("Subscribe"):
            async for frame in frames:
                yield frame
            return
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def receive() -> None:
            async for frame in frames:
                queue.put_nowait((monotonic(), frame))

        receiving = asyncio.create_task(receive())
        try:
            while True:
                at, frame = await queue.get()
                await asyncio.sleep(max(0.0, at + self._lag_s - monotonic()))
                yield frame
        finally:
            receiving.cancel()

    # --- Earlier answers

    def _earlier_height(self, _: Any, current: Any) -> Any:
        visible_before = monotonic() - self._lag_s
        known = [response for at, response in self._heights if at <= visible_before]
        oldest = self._heights[0][1] if self._heights else current
        return known[-1] if known else oldest

    def _earlier_clock(self, question: Any, answer: Any) -> Any:
        if Address.parse(question.object_id) == CLOCK:
            contents = answer.object.bcs.value
            # The ID of the clock is followed by its time (`nexus_tools.sui.types.clock`).
            start = contents.index(CLOCK) + len(CLOCK)
            now_ms = int.from_bytes(contents[start : start + 8], "little")
            earlier_ms = now_ms - int(self._lag_s * 1_000)
            parts = contents[:start], earlier_ms.to_bytes(8, "little"), contents[start + 8 :]
            answer.object.bcs.value = b"".join(parts)
        return answer

    def _without_young_objects(self, question: Any, answer: Any) -> Any:
        visible_before = monotonic() - self._lag_s
        for asked, result in zip(question.requests, answer.objects, strict=True):
            born = self._born.get(Address.parse(asked.object_id))
            if born is not None and born > visible_before:
                result.Clear()
                result.error.code = grpc.StatusCode.NOT_FOUND.value[0]
        return answer
