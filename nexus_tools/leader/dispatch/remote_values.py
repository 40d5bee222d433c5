"""Values that are outside the chain: a Leader fetches them for tools, where its operator says.

Requesters write a storage and a key on chain. Whether a value is what its key commits to, a `Fetch`
may check, and nobody else does. Whatever keeps a value away is a failure of the input, which is its
requester's: keys without values stain no leader.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Any, Protocol

from nexus_tools.contracts import RemotePlace
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.errors import NexusError, NotFoundError, UsageError, ValidationError
from nexus_tools.http.fair_share import FairShare
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.backoff import Backoff
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import get_logger, in_short
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import parse_json
from nexus_tools.workflow import is_storage_key

_log = get_logger("nexus_tools.leader")

MAX_VALUES = 256
"""How many values are fetched for one invocation."""
# So many invocations have room for what is fetched; if it is large, until their tools have
# responded: it is in memory meanwhile. One of them fetches so many values at the same time.
_INVOCATIONS = 64
# What is on chain is as large, and held for many more.
_SMALL_BYTES = 65_536
_FETCHES_OF_ONE = 8
_SHOWN_KEY = 48


class Fetch(Protocol):
    """Gets the JSON text of a value out of one storage, of `max_bytes` at most.

    Keys are such as `is_storage_key` admits. Raises `NotFoundError` if there is no value under the
    key, and `ValidationError`, which says about the value what is wrong, if it is not to be had.
    What else it raises is tried again. Messages of each `NexusError` are told on chain, no others.
    """

    async def __call__(self, key: bytes, max_bytes: int, /) -> bytes:
        """The text of the value under a key."""


def urls_and_functions(
    storages: Mapping[str, Fetch | str],
) -> tuple[dict[str, str], dict[str, Fetch]]:
    """The storages behind URLs, and the others. Raises `argument_invalid` for what is neither."""
    urls: dict[str, str] = {}
    functions: dict[str, Fetch] = {}
    for name, place in storages.items():
        if isinstance(place, str):
            urls[name] = place
        elif callable(place):
            functions[name] = place
        else:
            raise UsageError(
                "argument_invalid",
                f"the storage {name} is a {type(place).__name__}: no function, and no URL",
                hint='write {"walrus": "https://aggregator.example/v1/blobs/{key}"}',
            )
    return urls, functions


class _LateError(ValidationError):
    """A value was not there in time."""


class RemoteValues:
    """Fetches what invocations refer to, from storages by their names."""

    def __init__(
        self, storages: Mapping[str, Fetch], config: LeaderConfig, metrics: LeaderMetrics
    ) -> None:
        self._storages = storages
        self._max_bytes = config.max_fetched_bytes
        self._seconds = config.fetch_timeout_ms / 1000
        self._backoff = Backoff(config.first_pause_ms, config.longest_pause_ms)
        self._chance = Random()  # noqa: S311 - spreads retries, keeps no secret
        self._metrics = metrics
        self._share = FairShare[Address](_INVOCATIONS, _INVOCATIONS)
        self._down: dict[str, str] = {}

    @asynccontextmanager
    async def texts(
        self, tool: Address, ports: Ports, deadline: float
    ) -> AsyncIterator[dict[RemotePlace, bytes]]:
        """The JSON texts of the values outside the chain, which have room in memory meanwhile.

        `deadline` is on the clock of the event loop. Raises `TimeoutError` if there is no room
        until then, or so late that little time is left to fetch, and `ValidationError`,
        `value_remote`, which says what keeps a value away.
        """
        wanted = [*ports.remote()]
        if not wanted:
            yield {}
            return
        self._check(wanted)
        async with AsyncExitStack() as room:
            texts = await self._fetched_in(room, tool, wanted, deadline)
            if sum(len(texts[place]) for _, place in wanted) <= _SMALL_BYTES:
                await room.aclose()
            yield texts

    async def _fetched_in(
        self,
        room: AsyncExitStack,
        tool: Address,
        wanted: Sequence[tuple[str, RemotePlace]],
        deadline: float,
    ) -> dict[RemotePlace, bytes]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with asyncio.timeout_at(deadline):
            await room.enter_async_context(self._share.slot(tool))
        now = loop.time()
        until = min(deadline, now + self._seconds)
        try:
            return await self._fetched(wanted, until)
        except _LateError as error:
            if now - began > until - now:
                raise TimeoutError from error
            raise

    def _check(self, wanted: Sequence[tuple[str, RemotePlace]]) -> None:
        for port, place in wanted:
            if place.storage not in self._storages:
                raise _away(port, place, "this leader fetches nothing from there")
            if not is_storage_key(place.key.decode("utf-8", "replace")):
                raise _away(port, place, "that is no key: letters, digits and -._~ make one")
        if len({place for _, place in wanted}) > MAX_VALUES:
            raise _away(*wanted[MAX_VALUES], f"this leader fetches {MAX_VALUES} values at most")

    async def _fetched(
        self, wanted: Sequence[tuple[str, RemotePlace]], until: float
    ) -> dict[RemotePlace, bytes]:
        """Every value once, though all that the tool is given counts."""
        ports = {place: port for port, place in reversed(wanted)}
        times = Counter(place for _, place in wanted)
        turns = asyncio.Semaphore(_FETCHES_OF_ONE)
        found: dict[RemotePlace, bytes] = {}
        troubles: dict[RemotePlace, str] = {}
        left = self._max_bytes

        async def fetch(place: RemotePlace) -> None:
            nonlocal left
            async with turns:
                text = await self._fetch(ports[place], place, left // times[place], troubles)
            left -= len(text) * times[place]
            if left < 0:
                detail = f"this leader fetches no more than {self._max_bytes} bytes in all"
                raise _away(ports[place], place, detail)
            found[place] = text

        try:
            async with asyncio.timeout_at(until), asyncio.TaskGroup() as group:
                for place in times:
                    group.create_task(fetch(place))
        except TimeoutError:
            missing = [each for each in times if each not in found]
            if not missing:
                return found  # the last one came as the time was up
            place = missing[0]
            trouble = f": {troubles[place]}" if troubles.get(place) else ""
            late = _away(ports[place], place, f"it was not there in time{trouble}")
            raise _LateError(late.code, late.message) from None
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return found

    async def _fetch(
        self, port: str, place: RemotePlace, max_bytes: int, troubles: dict[RemotePlace, str]
    ) -> bytes:
        """One value, as soon as its storage gives it; until then its trouble is noted.

        Raises `value_remote`.
        """
        storage, attempt = place.storage, 1
        while True:
            how, problem = "fetched", ""
            try:
                # Whoever plugs in a function may give a text: a fault of theirs, not of the input.
                text = bytes(memoryview(await self._storages[storage](place.key, max_bytes)))
            except NotFoundError:
                how, problem = "absent", "there is nothing"
            except ValidationError as error:
                how, problem = "unfit", error.message
            except Exception as error:  # noqa: BLE001 - of whatever is plugged in
                self._metrics.fetched.labels(storage, "failed").inc()
                troubles[place] = self._note_down(storage, error)
                await asyncio.sleep(self._backoff.pause_ms(attempt, self._chance) / 1000)
                attempt += 1
                continue
            self._metrics.fetched.labels(storage, how).inc()
            self._note_up(storage)
            if problem:
                raise _away(port, place, problem)
            return text

    def _note_down(self, storage: str, error: Exception) -> str:
        """Tell the operator of trouble, unless it is still the same; gives what others may hear."""
        told = error.message if isinstance(error, NexusError) else in_short(error)
        if self._down.get(storage) != told:
            self._down[storage] = told
            _log.warning("storage_down", storage=storage, error=told)
        return told if isinstance(error, NexusError) else ""

    def _note_up(self, storage: str) -> None:
        if self._down.pop(storage, None) is not None:
            _log.info("storage_up", storage=storage)


def parsed(ports: Ports, texts: Mapping[RemotePlace, bytes]) -> dict[RemotePlace, Any]:
    """The values of texts that were fetched. Raises `value_remote` for what is no JSON."""
    found: dict[RemotePlace, Any] = {}
    for port, place in ports.remote():
        if place not in found:
            try:
                found[place] = parse_json(texts[place])
            except ValidationError as error:
                raise _away(port, place, error.message) from error
    return found


def _away(port: str, place: RemotePlace, why: str) -> ValidationError:
    key = place.key.decode("utf-8", "replace")
    shown = key if len(key) <= _SHOWN_KEY else f"{key[:_SHOWN_KEY]}…"
    where = f"{place.storage[:_SHOWN_KEY]}, under {shown!r}"
    return ValidationError("value_remote", f"the port {port} is kept in {where}, and {why}")
