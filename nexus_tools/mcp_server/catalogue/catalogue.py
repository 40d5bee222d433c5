"""The catalogue of an MCP server: pages of definitions, lookup by FQN or name, and calls."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from nexus_tools.errors import ValidationError
from nexus_tools.export import Exportable
from nexus_tools.tool import InterfaceValidator, Outcome, ToolDefinition, ToolFqn

_LIFETIME_S = 5.0
_MAX_DEFINITIONS_KEPT = 2_000
_CURSOR = re.compile(r"[0-9]{1,18}", re.ASCII)

Progress = Callable[[str], Awaitable[None]]
"""A function that reports the progress of a call to its client, in a sentence."""


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """A page of definitions, with the cursor of the next page, or None on the last page.

    `prices_mist` holds the known prices of invocations, and for workflows the initial funds of an
    execution.
    """

    definitions: tuple[Exportable, ...]
    next_cursor: str | None = None
    prices_mist: Mapping[ToolFqn, int] = field(default_factory=dict)


class Catalogue(Protocol):
    """A source of Nexus tools, and of workflows that look like tools, with a method for calls.

    Methods run concurrently for several clients. Clients receive the message of a `NexusError`. Any
    other exception is a defect, and clients do not receive its message.
    """

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """Return at most `limit` definitions from `cursor` on, or else from the first.

        Raises:
            ValidationError: with code `cursor_invalid` for a cursor that the catalogue did not
                issue.
        """
        ...

    async def find(self, fqn: ToolFqn) -> Exportable | None:
        """Return the current definition, or None if the tool no longer exists."""
        ...

    async def call(
        self, definition: Exportable, ports: dict[str, Any], progress: Progress
    ) -> Outcome:
        """Invoke the tool once. `check_arguments` has already checked `ports`.

        The call is cancelled if the client cancels its request or disconnects.
        """
        ...


def check_arguments(definition: Exportable, arguments: Mapping[str, Any]) -> None:
    """Check the arguments of a tool against its schema.

    The arguments of a workflow go to several tools, whose schemas are checked at the start of the
    execution.

    Raises:
        ValidationError: with code `input_invalid`.
    """
    if isinstance(definition, ToolDefinition):
        InterfaceValidator(definition).check_input(arguments)


class PageCache:
    """A cache for the pages of a list in which cursors are positions.

    A page is kept for a few seconds, because clients request all pages repeatedly. If there are too
    many definitions, only the newest pages are kept.
    """

    def __init__(self, read: Callable[[int, int], Awaitable[CataloguePage]]) -> None:
        self._read = read
        self._kept: dict[tuple[int, int], tuple[CataloguePage, asyncio.TimerHandle]] = {}

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """Return the page of at most `limit` definitions at a cursor.

        Raises:
            ValidationError: with code `cursor_invalid`.
        """
        key = (position_of(cursor), limit)
        if key in self._kept:
            return self._kept[key][0]
        page = await self._read(*key)
        self._keep(key, page)
        return page

    def _keep(self, key: tuple[int, int], page: CataloguePage) -> None:
        self._drop(key)  # a concurrent request may have stored the same page
        timer = asyncio.get_running_loop().call_later(_LIFETIME_S, self._drop, key)
        self._kept[key] = page, timer
        while len(self._kept) > 1 and self._definitions() > _MAX_DEFINITIONS_KEPT:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[int, int]) -> None:
        if key in self._kept:
            self._kept.pop(key)[1].cancel()

    def _definitions(self) -> int:
        """Return the number of cached definitions, plus one per page because pages may be empty."""
        return sum(len(page.definitions) + 1 for page, _ in self._kept.values())


def position_of(cursor: str | None) -> int:
    """Return the position of a cursor, or 0 for None. Raises `cursor_invalid`."""
    if cursor is None:
        return 0
    if not _CURSOR.fullmatch(cursor):
        raise ValidationError("cursor_invalid", "the cursor was not issued by this registry")
    return int(cursor)
