"""Names under which MCP clients call Nexus tools, and the table that leads back to the FQN."""

import asyncio
import hashlib
import time
from collections.abc import Iterable

from nexus_tools.bridges.mcp.catalogue import Catalogue
from nexus_tools.tool import ToolDefinition, ToolFqn

MAX_NAME = 64
"""What the strictest models take; MCP itself allows 128 characters (SEP-986)."""

_DIGITS = 16

# How many pages are read to find a name that was not listed here.
_MAX_PAGES = 1_000


def tool_name(fqn: ToolFqn) -> str:
    """The name of a tool: its FQN with `_` for dots and `_v` for `@`, as in `xyz_math_add_v1`.

    One FQN has one name whatever else is listed, and no two have the same: a name that is too
    long, or whose labels have a `_` of their own, ends in sixteen digits of the FQN's SHA-256:
    fewer could be had by somebody who registers a tool to be called in another one's place.
    """
    plain = f"{fqn.unversioned.replace('.', '_')}_v{fqn.version}"
    if len(plain) <= MAX_NAME and "_" not in fqn.unversioned:
        return plain
    digest = hashlib.sha256(str(fqn).encode()).hexdigest()[:_DIGITS]
    return f"{plain[: MAX_NAME - _DIGITS - 1]}_{digest}"


class ToolNames:
    """The FQNs of the names that were given out; a name is looked up and never taken apart.

    A client may know a name from another process: then the catalogue is read until it is met, and
    after a reading that did not meet its name not again for `patience_s`.
    """

    def __init__(self, catalogue: Catalogue, *, page_size: int, patience_s: float = 10.0) -> None:
        self._catalogue = catalogue
        self._page_size = page_size
        self._patience_s = patience_s
        self._fqns: dict[str, ToolFqn] = {}
        self._reading = asyncio.Lock()
        self._read_until = 0.0

    def give(self, definitions: Iterable[ToolDefinition]) -> None:
        """Remember the names of what is listed; a name keeps the FQN that it had first."""
        for definition in definitions:
            self._fqns.setdefault(tool_name(definition.fqn), definition.fqn)

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
