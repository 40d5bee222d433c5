"""The output of registered tools, as JSON and as text."""

from collections.abc import Sequence
from typing import Any

from nexus_tools.cli.framework import with_current_options
from nexus_tools.cli.shared.collateral import collateral_document, describe_collateral
from nexus_tools.contracts.move_bindings.name import Name
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import ValidationError
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.support import units

LABELS = {
    "fqn": "tool",
    "state": "state",
    "url": "URL",
    "function": "function",
    "description": "description",
    "timeout": "timeout",
    "price": "price",
    "collateral": "collateral",
    "lacking": "shortfall",
    "reason": "slashed for",
    "unregister_delay": "unregister delay",
    "claimable": "claimable",
    "slash": "pending slash",
    "payout": "paid to",
    "owner": "owner",
    "pending_owner": "offered to",
    "proof": "domain",
    "leaders": "leaders",
    "operators": "operators",
    "keys": "keys",
    "outcome": "outcome",
    "revision": "revision",
    "tool": "object",
    "registered": "registered",
}
COLUMNS = {
    "fqn": "Tool",
    "state": "State",
    "price": "Price",
    "collateral": "Collateral",
    "leaders": "Leaders",
    "url": "URL",
}


async def tool_documents(tools: ToolRegistry, found: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return tools as JSON: amounts in MIST, times in ms."""
    now_ms = await tools.client.now_ms()
    names = await tools.find_all([*{tool.name for tool in found}], Name)
    owned = {name.id: name for name in names if name is not None}
    return [_document(tool, owned[tool.name], now_ms) for tool in found]


def _formatted_keys(keys: Sequence[bytes]) -> list[str]:
    if not keys:
        return []
    from nexus_tools.tool import format_public_key

    return list(map(format_public_key, keys))


def _document(tool: Tool, name: Name, now_ms: int) -> dict[str, Any]:
    owner = name.owner
    return {
        "fqn": tool.fqn,
        "tool": str(tool.id),
        "state": tool.state.value,
        "type": tool.definition.tool_type,
        "url": tool.definition.url,
        "description": tool.definition.description,
        "timeout_ms": tool.definition.timeout_ms,
        "price_mist": tool.price_mist,
        "payout": str(tool.payout),
        "owner": str(owner.owner),
        "pending_owner": None if owner.pending_owner is None else str(owner.pending_owner),
        "open": tool.accepts_any_leader,
        "leaders": [str(leader) for leader in tool.leaders.entries],
        "operators": [str(operator) for operator in tool.operators.entries],
        "keys": _formatted_keys(tool.keys.keys),
        "min_outcome_bytes": tool.min_outcome_bytes,
        "requires_signed_outcome": tool.requires_signed_outcome,
        "revision": tool.revision,
        "index": tool.index,
        "registered_at_ms": tool.registered_at_ms,
        **collateral_document(tool.collateral, now_ms),
        **_interface(tool),
    }


def tool_in_words(document: dict[str, Any]) -> dict[str, Any]:
    """Return a tool for display: amounts in SUI, times as text."""
    words = units.in_words(document) | describe_collateral(document)
    if document["state"] == "suspended":
        lacking = document["required_collateral_mist"] - document["collateral_mist"]
        top_up = with_current_options(f"`nexus-tools tool top-up {document['fqn']}`")
        words["lacking"] = f"{units.sui(lacking)}: {top_up}"
    words["leaders"] = "any" if document["open"] else document["leaders"]
    room = document["min_outcome_bytes"]
    signed = "signed" if document["requires_signed_outcome"] else None
    terms = [term for term in (signed, f"at least {room} bytes" if room else None) if term]
    words["outcome"] = ", ".join(terms) or None
    if function := document.get("function"):
        objects = units.count(len(function["objects"]), "object")
        closed = f"closed by {function['closed_by']}"
        words["function"] = f"{units.sui(function['gas'])} of gas, with {objects}, {closed}"
    return words


def ports(document: dict[str, Any]) -> dict[str, str]:
    """Return a line for the inputs and for each variant, or no lines for an invalid schema."""
    from nexus_tools.tool import SchemaDocument, port_summary, variants

    try:
        answers = variants(document["output_schema"])
        definitions = document["output_schema"].get("$defs")
        inputs = SchemaDocument.parse(document["input_schema"]).root
    except ValidationError:
        return {}
    return {"inputs": port_summary(inputs) or "none"} | {
        f"variant {name}": port_summary(schema, definitions) or "no ports"
        for name, schema in answers.items()
    }


def _interface(tool: Tool) -> dict[str, Any]:
    """Return the schemas and the function. Schemas are None if the definition is not valid JSON."""
    try:
        document = tool.definition.document()
    except ValidationError:
        return {"input_schema": None, "output_schema": None}
    names = ("input_schema", "output_schema", "function")
    return {name: document[name] for name in names if name in document}
