"""Bounded reads of objects on chain, for pages that show more than the index contains."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, TypeVar

from cachetools import LRUCache, TTLCache

from nexus_tools.contracts import Deployment
from nexus_tools.errors import UnreachableError
from nexus_tools.registry.domain_proof import DomainProof
from nexus_tools.sui.bindings.runtime import MoveStruct
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import Object

T = TypeVar("T")
K = TypeVar("K", bound=MoveStruct)

KnownProof = Callable[[str, str], DomainProof | None]
"""A function that returns whether a domain lists an owner, if that is known without a request."""

_TIMEOUT_S = 3.0
_CACHED_OBJECTS = 2_000
_CACHED_RESULTS = 200
_CACHE_S = 5.0


class ChainReader:
    """A reader of the chain of a deployment.

    Objects are cached for a few seconds, so that many readers of a page cause few requests.
    """

    def __init__(
        self,
        client: SuiClient,
        deployment: Deployment,
        known_proof: KnownProof = lambda *_: None,
    ) -> None:
        """Create the reader. `known_proof` returns what is known about a domain and an owner."""
        self.client = client
        self.deployment = deployment
        self.known_proof = known_proof
        self._results: TTLCache[Hashable, Any] = TTLCache(_CACHED_RESULTS, _CACHE_S)
        self._final: LRUCache[Hashable, Any] = LRUCache(_CACHED_RESULTS)
        self._pending: dict[Hashable, asyncio.Task[Any]] = {}
        self._balances: TTLCache[Address, int] = TTLCache(_CACHED_OBJECTS, _CACHE_S)
        self._objects: TTLCache[Address, Object | None] = TTLCache(_CACHED_OBJECTS, _CACHE_S)

    async def within_limit(self, reading: Awaitable[T]) -> T:
        """Return a result of the node, or raise `node_unreachable` after 3 seconds."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                return await reading
        except TimeoutError as error:
            url = self.client.network.url
            message = f"the node at {url} did not respond within {_TIMEOUT_S:.0f} s"
            raise UnreachableError("node_unreachable", message) from error

    async def shared(
        self,
        key: Hashable,
        read: Callable[[], Awaitable[T]],
        *,
        is_final: Callable[[T], bool] = lambda _: False,
    ) -> T:
        """Return a result of the node that all readers of a page share for a few seconds.

        Readers that ask at the same time cause one request. `key` names the result. A result for
        which `is_final` returns True cannot change while its key is the same, and is shared longer.
        Raises the errors of `read`, and `node_unreachable` after 3 seconds.
        """
        for results in (self._final, self._results):
            if key in results:
                found: T = results[key]
                return found
        task = self._pending.get(key)
        if task is None:
            reading = self._read_shared(key, read, is_final)
            task = self._pending[key] = asyncio.create_task(reading)
        result: T = await asyncio.shield(task)
        return result

    async def _read_shared(
        self, key: Hashable, read: Callable[[], Awaitable[T]], is_final: Callable[[T], bool]
    ) -> T:
        try:
            result = await self.within_limit(read())
            results = self._final if is_final(result) else self._results
            results[key] = result
            return result
        finally:
            del self._pending[key]

    async def objects(self, ids: Sequence[Address]) -> list[Object | None]:
        """Return objects, or None for each that does not exist. Raises `node_unreachable`."""
        missing = [object_id for object_id in ids if object_id not in self._objects]
        found: dict[Address, Object | None] = {}
        if missing:
            values = await self.within_limit(self.client.objects(missing))
            found = dict(zip(missing, values, strict=True))
            self._objects.update(found)
        return [found[key] if key in found else self._objects.get(key) for key in ids]

    async def balance(self, owner: Address) -> int:
        """Return the balance of an account in MIST. Raises `node_unreachable`."""
        balance = self._balances.get(owner)
        if balance is None:
            balance = await self.within_limit(self.client.balance(owner))
            self._balances[owner] = balance
        return balance

    async def decoded(self, object_id: Address, kind: type[K]) -> K | None:
        """Return an object as a struct of our packages, or None if it does not exist."""
        [value] = await self.objects([object_id])
        return None if value is None else self.deployment.decode(value, kind)
