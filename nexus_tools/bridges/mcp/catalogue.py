"""What an MCP server offers: definitions by page, one by its FQN, and a way to call it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from nexus_tools.tool import Failure, Outcome, ToolDefinition, ToolFqn

Progress = Callable[[str], Awaitable[None]]
"""Tells the one who called, in a sentence, how far the call is."""


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """Some definitions, and the cursor of the next page; None if this is the last."""

    definitions: tuple[ToolDefinition, ...]
    next_cursor: str | None = None


class Catalogue(Protocol):
    """Nexus tools, wherever they are found and however they are reached.

    Methods run at once for several clients. A `NexusError` of theirs is told to the client, any
    other exception is a defect and is not.
    """

    async def page(self, cursor: str | None, limit: int) -> CataloguePage:
        """At most `limit` definitions from `cursor` on, None for the first.

        Raises `ValidationError` with code `cursor_invalid` for a cursor that it did not give.
        """
        ...

    async def find(self, fqn: ToolFqn) -> ToolDefinition | None:
        """The definition as it is now; None if there is no such tool any more."""
        ...

    async def call(
        self, definition: ToolDefinition, ports: dict[str, Any], progress: Progress
    ) -> Outcome | Failure:
        """Invoke the tool once; `ports` has been checked against its input schema.

        When the client gives up, the call is cancelled.
        """
        ...
