"""How a tool is presented to MCP clients: its name, its title and hints, and what a call costs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as types

from nexus_tools.export import Lendable, displayable, mcp_document, mcp_name
from nexus_tools.mcp_server.origins import OWN, Origin, Origins, all_own, quoted
from nexus_tools.sui.support import units
from nexus_tools.tool import ToolDefinition, ToolFqn, annotations_of

Annotate = Callable[[Lendable], types.ToolAnnotations | None]

OWNER, ORIGIN = "nexus/owner", "nexus/origin"
PRICE = "nexus/price_mist"
"""Where a price stands in `_meta`, and in what the tools of the search mode give.

Of a workflow, it is what an execution begins with.
"""


def declared(definition: Lendable) -> types.ToolAnnotations | None:
    """Return the annotations that the tool's author gave."""
    annotations = annotations_of(definition.input_schema)
    return types.ToolAnnotations.model_validate(annotations, by_name=False) if annotations else None


@dataclass(frozen=True, slots=True)
class Presentation:
    """What all tools of a server have in common.

    All are in `domain` or below it, if it is given: their names leave it out. `annotate` says what
    is known of a tool. Where a call `is_paid`, its caller pays the tool's price, and gas. `origins`
    tells who wrote the tools: the server repeats no hints of authors whom it does not know.
    """

    domain: str | None = None
    annotate: Annotate = declared
    is_paid: bool = False
    origins: Origins = all_own

    def name(self, fqn: ToolFqn) -> str:
        """What a tool is called."""
        return mcp_name(fqn, self.domain)

    def annotations(self, definition: Lendable, origin: Origin) -> types.ToolAnnotations | None:
        """Return the hints; a call that is paid changes something: the caller's balance."""
        known = self.annotate(definition) if origin.is_trusted else None
        if known is None or not self.is_paid:
            return known
        changes: dict[str, Any] = {"read_only_hint": False, "idempotent_hint": False}
        if known.read_only_hint:
            changes["destructive_hint"] = False
        return known.model_copy(update=changes)

    def cost(self, definition: Lendable, price_mist: int | None) -> str:
        """What a call costs, in a sentence; empty if it costs nothing or is not known."""
        if not self.is_paid or price_mist is None:
            return ""
        if not isinstance(definition, ToolDefinition):
            return f"A call takes {units.sui(price_mist)} and gas; what it does not use comes back."
        return f"A call costs {units.sui(price_mist)}, and gas."

    def document(
        self, definition: Lendable, price_mist: int | None = None, origin: Origin = OWN
    ) -> types.Tool:
        """Return the entry of a tool in `tools/list`, as it is exported for MCP.

        Raises `text_invisible`.
        """
        shown = displayable(definition)
        exported = mcp_document(shown, self.name(definition.fqn))
        tool = types.Tool.model_validate(exported, by_name=False)
        meta = {**(tool.meta or {})}
        if origin != OWN:
            meta |= {OWNER: origin.owner, ORIGIN: origin.trust.value}
        if price_mist is not None:
            meta[PRICE] = price_mist
        parts = (quoted(shown, origin), self.cost(definition, price_mist))
        changes: dict[str, Any] = {
            "annotations": self.annotations(definition, origin),
            "description": "\n\n".join(filter(None, parts)),
            "meta": meta,
        }
        if not origin.is_trusted:
            changes["title"] = str(definition.fqn)
        return tool.model_copy(update=changes)
