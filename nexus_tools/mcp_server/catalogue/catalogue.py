"""What an MCP server offers: definitions by page, one by its FQN or name, and a way to call it."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from nexus_tools.errors import ValidationError
from nexus_tools.export import Lendable
from nexus_tools.tool import InterfaceValidator, Outcome, ToolDefinition, ToolFqn

# How many pages are read to find a name that was not listed here.
_MAX_PAGES = 1_000
_LIFETIME_S = 5.0
_MAX_DEFINITIONS_KEPT = 2_000
_CURSOR = re.compile(r"[0-9]{1,18}", re.ASCII)

Progress = Callable[[str], Awaitable[None]]
"""Tells the one who called, in a sentence, how far the call is."""


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """Some definitions, and the cursor of the next page; None if this is the last.

    `prices_mist` is what an invocation of each costs, where that is known, and with how much an
    execution of a workflow begins.
    """

    definitions: tuple[Lendable, ...]
    next_cursor: str | None = None
    prices_mist: Mapping[ToolFqn, int] = field(default_factory=dict)


class Catalogue(Protocol):
    """Nexus tools, and what is called as one, wherever they are and however they are reached.

    Methods run at once for several clients. A `NexusError` of theirs is told to the client, any
    other exception is a defect and is not.
    """

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """At most `limit` definitions from `cursor` on, None for the first.

        Raises `ValidationError` with code `cursor_invalid` for a cursor that it did not give.
        """
        ...

    async def find(self, fqn: ToolFqn) -> Lendable | None:
        """The definition as it is now; None if there is no such tool any more."""
        ...

    async def call(
        self, definition: Lendable, ports: dict[str, Any], progress: Progress
    ) -> Outcome:
        """Invoke the tool once; `ports` has been checked as `check_arguments` does.

        When the client gives up, the call is cancelled.
        """
        ...


def check_arguments(definition: Lendable, arguments: Mapping[str, Any]) -> None:
    """Hold the arguments for a tool against its schema. Raises `input_invalid`.

    Those for a workflow go to several tools: whoever begins it holds them against theirs.
    """
    if isinstance(definition, ToolDefinition):
        InterfaceValidator(definition).check_input(arguments)


class KeptPages:
    """The pages of a list in which places are numbers, and a cursor is one of them.

    A page is kept for a few seconds, because clients ask for all of them again and again; of many,
    the newest are.
    """

    def __init__(self, read: Callable[[int, int], Awaitable[CataloguePage]]) -> None:
        self._read = read
        self._kept: dict[tuple[int, int], tuple[CataloguePage, asyncio.TimerHandle]] = {}

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """The page, read from a place up to a limit. Raises `cursor_invalid`."""
        key = (_place(cursor), limit)
        if key in self._kept:
            return self._kept[key][0]
        page = await self._read(*key)
        self._keep(key, page)
        return page

    def _keep(self, key: tuple[int, int], page: CataloguePage) -> None:
        self._drop(key)  # who asked at the same time has read it, too
        timer = asyncio.get_running_loop().call_later(_LIFETIME_S, self._drop, key)
        self._kept[key] = page, timer
        while len(self._kept) > 1 and self._definitions() > _MAX_DEFINITIONS_KEPT:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[int, int]) -> None:
        if key in self._kept:
            self._kept.pop(key)[1].cancel()

    def _definitions(self) -> int:
        """How many are kept; a page counts as one more, for it may be empty."""
        return sum(len(page.definitions) + 1 for page, _ in self._kept.values())


def _place(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not _CURSOR.fullmatch(cursor):
        raise ValidationError("cursor_invalid", "the cursor is none of this registry")
    return int(cursor)


class ToolNames:
    """The FQNs of the names that were given out; a name is looked up and never taken apart.

    A client may know a name from another process: then the catalogue is read until it is met, and
    after a reading that did not meet its name not again for `patience_s`.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        name: Callable[[ToolFqn], str],
        *,
        page_size: int,
        patience_s: float = 10.0,
    ) -> None:
        self._catalogue = catalogue
        self._name = name
        self._page_size = page_size
        self._patience_s = patience_s
        self._fqns: dict[str, ToolFqn] = {}
        self._reading = asyncio.Lock()
        self._read_until = 0.0

    def give(self, definitions: Iterable[Lendable]) -> None:
        """Remember the names of what is listed; a name keeps the FQN that it had first."""
        for definition in definitions:
            self._fqns.setdefault(self._name(definition.fqn), definition.fqn)

    async def find(self, name: str) -> ToolFqn | None:
        """The FQN behind a name; None if nothing in the catalogue has it."""
        if name not in self._fqns:
            async with self._reading:
                await self._read_on(name)
        return self._fqns.get(name)

    async def _read_on(self, name: str) -> None:
        if name in self._fqns or time.monotonic() < self._read_until:
            return
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._catalogue.page(cursor, self._page_size)
            self.give(page.definitions)
            cursor = page.next_cursor
            if name in self._fqns or cursor is None:
                break
        if name not in self._fqns:
            self._read_until = time.monotonic() + self._patience_s
