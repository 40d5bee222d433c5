"""The contract between the application and its pages."""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import asdict
from starlette.requests import Request
from starlette.responses import Response

from nexus_tools.explorer.chain import ChainReader
from nexus_tools.explorer.formatting import number
from nexus_tools.index import Index, find_leader_name
from nexus_tools.index.api import (
    CursorCodec,
    IndexSource,
    IndexState,
    PageParameters,
    Parameters,
    parse_pairs,
)
from nexus_tools.sui.types.address import Address

P = TypeVar("P", bound=Parameters)


class Page(Struct, frozen=True):
    """A page: the name of its template, its title as plain text, and the values of the template."""

    template: str
    title: str
    values: Mapping[str, Any] = {}
    status: HTTPStatus = HTTPStatus.OK


class PageError(Exception):
    """An error that the user sees as a page. `hint` says what to do next."""

    def __init__(self, status: HTTPStatus, message: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.hint = hint
        self.code = code


class PageRedirect(Exception):  # noqa: N818 - it is not an error
    """The end of a request for a page that leads to another page."""

    def __init__(self, url: str, status: HTTPStatus = HTTPStatus.SEE_OTHER) -> None:
        super().__init__(url)
        self.url = url
        self.status = status


class PageContext:
    """A request for a page, and the data that the page may read.

    `network` is the name of the network. `state` is the state of the index when the request
    arrived. `now_ms` is the current time, or the time of the newest event if the chain's clock is
    ahead.
    """

    def __init__(
        self,
        request: Request,
        network: str,
        source: IndexSource,
        chain: ChainReader,
        now_ms: int,
    ) -> None:
        self.request = request
        self.network = network
        self.chain = chain
        self.state: IndexState = source.state()
        self.now_ms = max(now_ms, self.state.newest_ms)
        self._source = source
        self._leader_names: dict[Address, str | None] = {}

    @property
    def index(self) -> Index:
        """The index."""
        return self._source.index

    @property
    def connection(self) -> sqlite3.Connection:
        """A connection for queries that `Index` does not have."""
        return self._source.connection

    def not_found(self, subject: str, name: str, key: str = "ID") -> PageError:
        """Return the error for an object that the index does not contain, such as a tool.

        `key` says how the path names the object.
        """
        return PageError(
            HTTPStatus.NOT_FOUND,
            f"The {subject} {name} is not in the index",
            hint=(
                f"The index has read the chain up to checkpoint {number(self.state.checkpoint)}. It"
                f" may not have read this {subject} yet: reload the page in a few seconds. If the"
                f" {subject} is still missing, check the {key}, and check that it is on the network"
                f" {self.network}."
            ),
        )

    def leader_name(self, leader: Address) -> str | None:
        """Return the untrusted name of a leader, or None if the index does not know the leader."""
        if leader not in self._leader_names:
            self._leader_names[leader] = find_leader_name(self.connection, leader)
        return self._leader_names[leader]

    @property
    def path(self) -> Mapping[str, str]:
        """The parameters in the path, which are untrusted."""
        return self.request.path_params

    def parameters(self, kind: type[P]) -> P:
        """Parse the parameters in the query. Empty values count as missing.

        Raises the problem `parameter_invalid`, which the user sees as a page with status 400.
        """
        pairs = [(name, value) for name, value in self.request.query_params.multi_items() if value]
        return parse_pairs(pairs, kind)

    def pager(self, operation: str, parameters: PageParameters) -> "Pager":
        """Return the pager of a list. `operation` is the name of the list."""
        codec = CursorCodec(self.state.generation, operation, parameters)
        return Pager(codec, parameters, self.request.url.path)


class Pager:
    """The links between the pages of a list.

    Pass `after` to the query, and then the `next` of its result to `links`.
    """

    def __init__(self, codec: CursorCodec, parameters: PageParameters, path: str) -> None:
        self._codec = codec
        self._parameters = parameters
        self._path = path

    @property
    def after(self) -> str | None:
        """The position after which the page starts, or None for the first page."""
        return self._codec.decode(self._parameters.after)

    def links(self, position: str | None) -> "PageLinks":
        """Return the links of a page that ends at a position, or at the end of the list."""
        is_first = self._parameters.after is None
        return PageLinks(
            first=None if is_first else self._url(after=None),
            next=None if position is None else self._url(after=self._codec.encode(position)),
        )

    def _url(self, **changes: Any) -> str:
        return url_with(self._path, asdict(self._parameters) | changes)


class PageLinks(Struct, frozen=True):
    """The URLs of the first and the next page of a list, or None."""

    first: str | None
    next: str | None


def url_with(path: str, fields: Mapping[str, Any]) -> str:
    """Return a path with the fields that have a value as its query."""
    texts = {name: str(value) for name, value in fields.items() if value not in (None, "")}
    query = urlencode(texts)  # an address is bytes, which `urlencode` would not write as text
    return f"{path}?{query}" if query else path


Endpoint = Callable[[PageContext], Awaitable[Page | Response]]
"""A function that returns a page, or another response such as a JSON document."""


class PageRoute(Struct, frozen=True):
    """A path of Starlette, such as `/tools/{fqn}`, and the function that shows its page.

    A page that shows only the index is shared: all readers of a state of the index get the same
    page.
    """

    path: str
    endpoint: Endpoint
    is_shared: bool = False
