"""A catalogue that combines several catalogues."""

import re
from collections.abc import Sequence
from typing import Any

from nexus_tools.errors import ValidationError, WrongStateError
from nexus_tools.export import Exportable
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue, CataloguePage, Progress
from nexus_tools.tool import Outcome, ToolFqn

_CURSOR = re.compile(r"([0-9]{1,3}):(.*)", re.ASCII | re.DOTALL)


class CombinedCatalogue:
    """The concatenation of catalogues. If two tools have the same FQN, the first tool is called.

    A cursor consists of the number of a catalogue and a cursor of that catalogue.
    """

    def __init__(self, *catalogues: Catalogue) -> None:
        self._catalogues = catalogues

    async def parts(self) -> Sequence[Catalogue]:
        """Return the catalogues."""
        return self._catalogues

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """Return a page of one of the catalogues.

        Raises:
            ValidationError: with code `cursor_invalid`.
        """
        index, inner_cursor = self._place(cursor)
        page = await self._catalogues[index].page(inner_cursor, limit)
        next_cursor = None
        if page.next_cursor is not None:
            next_cursor = f"{index}:{page.next_cursor}"
        elif index + 1 < len(self._catalogues):
            next_cursor = f"{index + 1}:"
        return CataloguePage(page.definitions, next_cursor, page.prices_mist)

    async def find(self, fqn: ToolFqn) -> Exportable | None:
        """Return the current definition in the first catalogue that has it."""
        match = await self._find(fqn)
        return None if match is None else match[1]

    async def call(
        self, definition: Exportable, ports: dict[str, Any], progress: Progress
    ) -> Outcome:
        """Call the tool through the first catalogue that has it.

        Raises:
            WrongStateError: with code `tool_not_active` if no catalogue has it.
        """
        match = await self._find(definition.fqn)
        if match is None:
            raise WrongStateError("tool_not_active", f"{definition.fqn} is no longer available")
        return await match[0].call(match[1], ports, progress)

    async def _find(self, fqn: ToolFqn) -> tuple[Catalogue, Exportable] | None:
        for catalogue in self._catalogues:
            definition = await catalogue.find(fqn)
            if definition is not None:
                return catalogue, definition
        return None

    def _place(self, cursor: str | None) -> tuple[int, str | None]:
        if cursor is None:
            return 0, None
        match = _CURSOR.fullmatch(cursor)
        if match is None or int(match[1]) >= len(self._catalogues):
            raise ValidationError("cursor_invalid", "the cursor was not issued by this server")
        return int(match[1]), match[2] or None
