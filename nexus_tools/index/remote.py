"""Indices on other machines, which `nexus-tools index serve` offers.

A remote index is untrusted. It may be stale, hide tools, or invent them. Read each tool on chain
before you show it, and ask several indices.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
import msgspec
from msgspec import Struct

from nexus_tools.errors import NexusError, UnreachableError, ValidationError
from nexus_tools.index.index_file import IndexIdentity
from nexus_tools.index.queries.tools import IndexedToolFilter, ToolSort
from nexus_tools.sui.support.tls import shared_tls
from nexus_tools.sui.types.address import Address

T = TypeVar("T")

_TIMEOUT_S = 5.0
_MAX_BYTES = 4_000_000
# Without compression, the limit of bytes also limits the memory.
_HEADERS = {"Accept-Encoding": "identity"}


class RemoteTool(Struct, frozen=True):
    """A tool that a remote index proposes. `checkpoint` is that of its registration."""

    fqn: str
    checkpoint: int
    reputation: float
    volume_mist: int
    reason: str | None = None


class RemotePage(Struct, frozen=True):
    """A page of tools. `fits` is False if no tool seems to fit the words of a search."""

    items: tuple[RemoteTool, ...]
    next: str | None
    checkpoint: int
    complete_since: int
    fits: bool = True


class RemoteStatus(Struct, frozen=True):
    """The identity and the position of a remote index."""

    chain_id: str
    package: Address
    checkpoint: int
    complete_since: int


class RemoteIndex:
    """A client of the read API at a URL.

    The methods raise `index_unreachable`, or `index_response_invalid` if the response is not that
    of an index.
    """

    def __init__(self, url: str, identity: IndexIdentity) -> None:
        self.url = url.rstrip("/")
        self._identity = identity
        self._http = httpx.AsyncClient(verify=shared_tls(), timeout=_TIMEOUT_S, headers=_HEADERS)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    def label(self, checkpoint: int) -> str:
        """Return the name of the index at a checkpoint for users."""
        return f"index at {self.url}, checkpoint {checkpoint}"

    async def status(self) -> RemoteStatus:
        """Return the status of the index. Raises also `index_identity_mismatch`."""
        status = await self._get("/api/status", {}, RemoteStatus)
        if status is None:
            raise self._invalid("it has no status")
        if (status.chain_id, status.package) != (self._identity.chain_id, self._identity.package):
            raise ValidationError(
                "index_identity_mismatch",
                f"the index at {self.url} belongs to another network or package",
                hint="Remove it from --index-url or the setting index_url.",
            )
        return status

    async def tools(
        self,
        query: str | None,
        tool_filter: IndexedToolFilter,
        sort: ToolSort | None,
        *,
        limit: int,
        after: str | None,
    ) -> RemotePage:
        """Return a page of tools, or of the active tools that fit a query."""
        parameters = {
            "q": query or None,
            "domain": tool_filter.domain,
            "owner": tool_filter.owner,
            "state": tool_filter.state,
            "max_price": tool_filter.max_price_mist,
            "sort": sort,
            "limit": limit,
            "after": after,
        }
        given = {key: str(value) for key, value in parameters.items() if value is not None}
        page = await self._get("/api/tools", given, RemotePage)
        if page is None:
            raise self._invalid("it has no tools")
        return page

    async def has_tool(self, fqn: str) -> bool:
        """Return whether the index contains a tool."""
        path = f"/api/tools/{quote(fqn, safe='')}"
        return await self._get(path, {}, dict[str, Any]) is not None

    async def _get(self, path: str, parameters: Mapping[str, str], kind: type[T]) -> T | None:
        """Return the document, or None if the object does not exist."""
        body = bytearray()
        with self._unreachable():
            async with self._http.stream("GET", self.url + path, params=parameters) as response:
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > _MAX_BYTES:
                        raise self._invalid("its response is too large")
        if response.status_code == HTTPStatus.NOT_FOUND:
            return None
        if response.status_code != HTTPStatus.OK:
            raise self._error(f"its status is {response.status_code}")
        try:
            return msgspec.json.decode(bytes(body), type=kind, dec_hook=_address)
        except (msgspec.DecodeError, NexusError) as error:
            raise self._invalid(str(error)) from error

    @contextmanager
    def _unreachable(self) -> Iterator[None]:
        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise self._error(str(error) or type(error).__name__) from error

    def _error(self, problem: str) -> UnreachableError:
        return UnreachableError(
            "index_unreachable",
            f"cannot read the index at {self.url}: {problem}",
            hint="Check the URL, or remove it from --index-url and the setting index_url.",
        )

    def _invalid(self, problem: str) -> ValidationError:
        return ValidationError(
            "index_response_invalid",
            f"the server at {self.url} does not respond like an index: {problem}",
            hint="Pass the URL of `nexus-tools index serve`.",
        )


def _address(kind: type, value: Any) -> Any:
    assert kind is Address
    return Address.parse_whole(value)
