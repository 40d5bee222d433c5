"""A registered tool as commands print it."""

from typing import Any

from nexus_tools import units
from nexus_tools.cli.pending_slash import pending_slash, slash_in_words
from nexus_tools.errors import ValidationError
from nexus_tools.package.move.tool import Tool

LABELS = {
    "fqn": "FQN",
    "state": "state",
    "url": "URL",
    "description": "description",
    "timeout": "timeout",
    "price": "price",
    "collateral": "collateral",
    "lacking": "lacking",
    "unregister_delay": "unregister delay",
    "claimable": "claimable",
    "slash": "pending slash",
    "payout": "paid to",
    "proof": "domain",
    "owner_cap": "owner cap",
    "tool": "object",
    "registered": "registered",
}
COLUMNS = {
    "fqn": "FQN",
    "state": "State",
    "price": "Price",
    "collateral": "Collateral",
    "url": "URL",
}


def tool_document(tool: Tool, now_ms: int) -> dict[str, Any]:
    """All of a tool, as JSON: amounts in MIST, times in ms."""
    collateral, claimable_at_ms = tool.collateral, tool.claimable_at_ms
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
        "owner_cap": str(tool.owner),
        "operators": [str(operator) for operator in tool.operators],
        "index": tool.index,
        "registered_at_ms": tool.registered_at_ms,
        "collateral_mist": 0 if collateral is None else collateral.balance_mist,
        "required_collateral_mist": None if collateral is None else collateral.required_mist,
        "unregister_delay_ms": None if collateral is None else collateral.delay_ms,
        "claimable_at_ms": claimable_at_ms,
        "claimable_in_ms": None if claimable_at_ms is None else max(0, claimable_at_ms - now_ms),
        "pending_slash": pending_slash(collateral, now_ms),
        **_schemas(tool),
    }


def for_people(document: dict[str, Any]) -> dict[str, Any]:
    """The document with amounts in SUI and times in words."""
    words = units.in_words(document)
    at_ms, in_ms = document["claimable_at_ms"], document["claimable_in_ms"]
    if at_ms is not None:
        words["claimable"] = units.utc(at_ms, at_ms - in_ms) if in_ms else "now"
    if document["state"] == "suspended":
        lacking = document["required_collateral_mist"] - document["collateral_mist"]
        words["lacking"] = f"{units.sui(lacking)}: `nexus-tools tool top-up {document['fqn']}`"
    words["slash"] = slash_in_words(document["pending_slash"])
    return words


def ports(document: dict[str, Any]) -> dict[str, str]:
    """A line for the inputs, and one for each variant; none where a stranger's schemas are none."""
    from nexus_tools.tool import port_summary, variants

    try:
        answers = variants(document["output_schema"])
        inputs = {"inputs": port_summary(document["input_schema"]) or "none"}
    except (ValidationError, AttributeError):
        return {}
    return inputs | {
        f"variant {name}": port_summary(schema) or "no ports" for name, schema in answers.items()
    }


def _schemas(tool: Tool) -> dict[str, Any]:
    """Both schemas; None where a stranger registered what is no JSON."""
    try:
        document = tool.definition.document()
    except ValidationError:
        return {"input_schema": None, "output_schema": None}
    return {name: document[name] for name in ("input_schema", "output_schema")}
