"""The presentation of a tool to MCP clients: its name, title, hints, and cost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as types

from nexus_tools.export import Exportable, mcp_document, mcp_name, sanitize_definition
from nexus_tools.mcp_server.origins import OWN, Origin, OriginLookup, own_origins, quoted
from nexus_tools.sui.support import units
from nexus_tools.tool import ToolDefinition, ToolFqn, read_annotations

Annotate = Callable[[Exportable], types.ToolAnnotations | None]

OWNER, ORIGIN = "nexus/owner", "nexus/origin"
PRICE = "nexus/price_mist"
"""The name of the price in `_meta`, and in the results of the search mode's tools.

For a workflow, the price is the initial funds of an execution.
"""


def declared(definition: Exportable) -> types.ToolAnnotations | None:
    """Return the annotations from the tool's author."""
    annotations = read_annotations(definition.input_schema)
    return types.ToolAnnotations.model_validate(annotations, by_name=False) if annotations else None


@dataclass(frozen=True, slots=True)
class Presentation:
    """The settings that all tools of a server share.

    If `domain` is set, all tools are in this domain or its subdomains, and their names omit it.
    `annotate` returns the known annotations of a tool. If calls are paid (`is_paid`), the caller
    pays the tool's price, the leader's fee, and gas. `origins` returns the authors of tools. The
    server does not repeat hints of unknown authors.
    """

    domain: str | None = None
    annotate: Annotate = declared
    is_paid: bool = False
    origins: OriginLookup = own_origins

    def name(self, fqn: ToolFqn) -> str:
        """Return the name of a tool."""
        return mcp_name(fqn, self.domain)

    def annotations(self, definition: Exportable, origin: Origin) -> types.ToolAnnotations | None:
        """Return the hints. A paid call is never read-only, because it changes the balance."""
        author_annotations = self.annotate(definition) if origin.is_trusted else None
        if author_annotations is None or not self.is_paid:
            return author_annotations
        changes: dict[str, Any] = {"read_only_hint": False, "idempotent_hint": False}
        if author_annotations.read_only_hint:
            changes["destructive_hint"] = False
        return author_annotations.model_copy(update=changes)

    def cost(self, definition: Exportable, price_mist: int | None) -> str:
        """Return the cost of a call as a sentence, or an empty string if it is free or unknown."""
        if not self.is_paid or price_mist is None:
            return ""
        if not isinstance(definition, ToolDefinition):
            return (
                f"A call costs up to {units.sui(price_mist)} plus gas. Unused funds are refunded."
            )
        return (
            f"A call costs {units.sui(price_mist)} plus the leader's fee and gas."
            " It first reserves more, and the unused part is refunded."
        )

    def document(
        self, definition: Exportable, price_mist: int | None = None, origin: Origin = OWN
    ) -> types.Tool:
        """Return the entry of a tool in `tools/list`, as it is exported for MCP.

        Raises:
            ValidationError: with code `invisible_characters`.
        """
        shown = sanitize_definition(definition)
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
