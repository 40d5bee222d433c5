"""Several catalogues as one."""

import re
from typing import Any

from nexus_tools.errors import NotNowError, ValidationError
from nexus_tools.export import Lendable
from nexus_tools.mcp_server.catalogue.catalogue import Catalogue, CataloguePage, Progress
from nexus_tools.tool import Outcome, ToolFqn

_CURSOR = re.compile(r"([0-9]{1,3}):(.*)", re.ASCII | re.DOTALL)


class JointCatalogue:
    """What each of them has, one after the other; of two with one FQN, the first is called.

    A cursor is the number of a catalogue, and a cursor of that one.
    """

    def __init__(self, *catalogues: Catalogue) -> None:
        self._catalogues = catalogues

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """A page of one of them. Raises `cursor_invalid`."""
        number, inner = self._place(cursor)
        page = await self._catalogues[number].page(inner, limit)
        following = None
        if page.next_cursor is not None:
            following = f"{number}:{page.next_cursor}"
        elif number + 1 < len(self._catalogues):
            following = f"{number + 1}:"
        return CataloguePage(page.definitions, following, page.prices_mist)

    async def find(self, fqn: ToolFqn) -> Lendable | None:
        """The definition as it is now, in the first that has it."""
        found = await self._find(fqn)
        return None if found is None else found[1]

    async def call(
        self, definition: Lendable, ports: dict[str, Any], progress: Progress
    ) -> Outcome:
        """Have the catalogue call it that has it. Raises `tool_not_active` if none has."""
        found = await self._find(definition.fqn)
        if found is None:
            raise NotNowError("tool_not_active", f"{definition.fqn} is not on offer any more")
        return await found[0].call(found[1], ports, progress)

    async def _find(self, fqn: ToolFqn) -> tuple[Catalogue, Lendable] | None:
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
            raise ValidationError("cursor_invalid", "the cursor is none of this server")
        return int(match[1]), match[2] or None
