"""Remote values: off-chain inputs of tools, fetched from storages that the operator configures.

Requesters write the name of a storage and a key on chain. Only the `Fetch` function of a storage
can check whether a value matches its key. If a value cannot be fetched, the invocation fails with
INPUT_INVALID, which is attributed to the requester. A missing value therefore does not affect the
leader's track record.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Any, Protocol

from nexus_tools.contracts import RemoteReference
from nexus_tools.contracts.move_bindings.value import Ports
from nexus_tools.errors import NexusError, NotFoundError, UsageError, ValidationError
from nexus_tools.http.fair_share import FairShare
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.backoff import Backoff
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import parse_json
from nexus_tools.workflow import is_storage_key

_log = get_logger("nexus_tools.leader")

MAX_VALUES = 256
"""The maximum number of values of one invocation."""
# The maximum number of invocations whose fetched values are in memory. An invocation counts while
# its values are fetched. With large values, the invocation counts until the tool has responded.
_MAX_INVOCATIONS = 64
# Values up to this size need no slot after the fetch, because on-chain inputs can be equally large,
# and the inputs of more invocations are in memory.
_SMALL_BYTES = 65_536
_CONCURRENT_FETCHES = 8
_MAX_SHOWN_CHARACTERS = 48


class Fetch(Protocol):
    """A function that fetches the JSON text of a value, of at most `max_bytes`, from a storage.

    Keys satisfy `is_storage_key`. If the function raises a `NexusError`, its message is published
    on chain. Messages of other exceptions are not published. The Leader retries after any exception
    except `NotFoundError` and `ValidationError`.

    Raises:
        NotFoundError: The storage has no value under the key.
        ValidationError: The value cannot be used; the message says why.
    """

    async def __call__(self, key: bytes, max_bytes: int, /) -> bytes:
        """Return the text of the value under a key."""


def split_storages(
    storages: Mapping[str, Fetch | str],
) -> tuple[dict[str, str], dict[str, Fetch]]:
    """Return the storages that are defined by a URL, and the storages that are functions.

    Raises:
        UsageError: `argument_invalid`, if a storage is neither a URL nor a function.
    """
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
                f"expected a function or a URL for the storage {name}, got {type(place).__name__}",
                hint='Pass, for example, {"walrus": "https://aggregator.example/v1/blobs/{key}"}.',
            )
    return urls, functions


class _LateError(ValidationError):
    """The error for a value that did not arrive before the deadline."""


class RemoteValues:
    """A fetcher of the remote values of invocations from named storages."""

    def __init__(
        self, storages: Mapping[str, Fetch], config: LeaderConfig, metrics: LeaderMetrics
    ) -> None:
        self._storages = storages
        self._max_bytes = config.max_fetched_bytes
        self._seconds = config.fetch_timeout_ms / 1000
        self._backoff = Backoff(config.retry_delay_ms, config.max_retry_delay_ms)
        self._chance = Random()  # noqa: S311 - spreads retries, keeps no secret
        self._metrics = metrics
        self._share = FairShare[Address](_MAX_INVOCATIONS, _MAX_INVOCATIONS)
        self._error_by_storage: dict[str, str] = {}

    @asynccontextmanager
    async def texts(
        self, tool: Address, ports: Ports, deadline: float
    ) -> AsyncIterator[dict[RemoteReference, bytes]]:
        """Yield the JSON texts of the remote values, which stay in memory during the context.

        `deadline` uses the event loop's clock.

        Raises:
            TimeoutError: No slot became free in time to fetch the values before the deadline.
            ValidationError: `remote_value_unavailable`; the message says why a value is not
                available.
        """
        references = [*ports.remote()]
        if not references:
            yield {}
            return
        self._check(references)
        async with AsyncExitStack() as room:
            texts = await self._fetch_with_slot(room, tool, references, deadline)
            if sum(len(texts[place]) for _, place in references) <= _SMALL_BYTES:
                await room.aclose()
            yield texts

    async def _fetch_with_slot(
        self,
        room: AsyncExitStack,
        tool: Address,
        references: Sequence[tuple[str, RemoteReference]],
        deadline: float,
    ) -> dict[RemoteReference, bytes]:
        loop = asyncio.get_running_loop()
        start = loop.time()
        async with asyncio.timeout_at(deadline):
            await room.enter_async_context(self._share.slot(tool))
        now = loop.time()
        until = min(deadline, now + self._seconds)
        try:
            return await self._fetch_all(references, until)
        except _LateError as error:
            if now - start > until - now:
                raise TimeoutError from error
            raise

    def _check(self, references: Sequence[tuple[str, RemoteReference]]) -> None:
        for port, place in references:
            if place.storage not in self._storages:
                raise _unavailable(port, place, "this leader has no storage with this name")
            if not is_storage_key(place.key.decode("utf-8", "replace")):
                raise _unavailable(
                    port, place, "the key is invalid: expected letters, digits and -._~"
                )
        if len({place for _, place in references}) > MAX_VALUES:
            raise _unavailable(
                *references[MAX_VALUES], f"this leader fetches at most {MAX_VALUES} values"
            )

    async def _fetch_all(
        self, references: Sequence[tuple[str, RemoteReference]], until: float
    ) -> dict[RemoteReference, bytes]:
        """Fetch each value once. If two ports use a value, it counts twice for the size limit."""
        ports = {place: port for port, place in reversed(references)}
        times = Counter(place for _, place in references)
        turns = asyncio.Semaphore(_CONCURRENT_FETCHES)
        texts: dict[RemoteReference, bytes] = {}
        troubles: dict[RemoteReference, str] = {}
        left = self._max_bytes

        async def fetch(place: RemoteReference) -> None:
            nonlocal left
            async with turns:
                text = await self._fetch(ports[place], place, left // times[place], troubles)
            left -= len(text) * times[place]
            if left < 0:
                detail = f"this leader fetches at most {self._max_bytes} bytes in total"
                raise _unavailable(ports[place], place, detail)
            texts[place] = text

        try:
            async with asyncio.timeout_at(until), asyncio.TaskGroup() as group:
                for place in times:
                    group.create_task(fetch(place))
        except TimeoutError:
            missing = [candidate for candidate in times if candidate not in texts]
            if not missing:
                return texts  # the last value arrived at the deadline
            place = missing[0]
            trouble = f": {troubles[place]}" if troubles.get(place) else ""
            error = _unavailable(ports[place], place, f"the value did not arrive in time{trouble}")
            raise _LateError(error.code, error.message) from None
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return texts

    async def _fetch(
        self,
        port: str,
        place: RemoteReference,
        max_bytes: int,
        troubles: dict[RemoteReference, str],
    ) -> bytes:
        """Fetch one value. Retry until its storage responds, and record errors in `troubles`.

        Raises:
            ValidationError: `remote_value_unavailable`.
        """
        storage, attempt = place.storage, 1
        while True:
            result, problem = "fetched", ""
            try:
                # `memoryview` raises if a function returns `str`, which is not an input failure.
                text = bytes(memoryview(await self._storages[storage](place.key, max_bytes)))
            except NotFoundError:
                result, problem = "absent", "the storage has no such value"
            except ValidationError as error:
                result, problem = "invalid", error.message
            except Exception as error:  # noqa: BLE001 - a `Fetch` may raise anything
                self._metrics.fetched.labels(storage, "failed").inc()
                troubles[place] = self._note_down(storage, error)
                await asyncio.sleep(self._backoff.pause_ms(attempt, self._chance) / 1000)
                attempt += 1
                continue
            self._metrics.fetched.labels(storage, result).inc()
            self._note_up(storage)
            if problem:
                raise _unavailable(port, place, problem)
            return text

    def _note_down(self, storage: str, error: Exception) -> str:
        """Log a storage's error unless it was logged last, and return its publishable part."""
        message = error.message if isinstance(error, NexusError) else error_summary(error)
        if self._error_by_storage.get(storage) != message:
            self._error_by_storage[storage] = message
            _log.warning("storage_unavailable", storage=storage, error=message)
        return message if isinstance(error, NexusError) else ""

    def _note_up(self, storage: str) -> None:
        if self._error_by_storage.pop(storage, None) is not None:
            _log.info("storage_up", storage=storage)


def parsed(ports: Ports, texts: Mapping[RemoteReference, bytes]) -> dict[RemoteReference, Any]:
    """Parse the fetched texts. Raises `remote_value_unavailable` for a text that is not JSON."""
    values: dict[RemoteReference, Any] = {}
    for port, place in ports.remote():
        if place not in values:
            try:
                values[place] = parse_json(texts[place])
            except ValidationError as error:
                raise _unavailable(port, place, error.message) from error
    return values


def _unavailable(port: str, place: RemoteReference, why: str) -> ValidationError:
    key = place.key.decode("utf-8", "replace")
    shown = key if len(key) <= _MAX_SHOWN_CHARACTERS else f"{key[:_MAX_SHOWN_CHARACTERS]}…"
    where = f"{place.storage[:_MAX_SHOWN_CHARACTERS]}, under {shown!r}"
    return ValidationError(
        "remote_value_unavailable", f"cannot fetch port {port} from {where}: {why}"
    )
