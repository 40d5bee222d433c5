"""The differences between two versions of a tool, in words. Definitions are untrusted."""

from collections.abc import Iterator, Mapping
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support import units
from nexus_tools.tool import (
    SchemaDocument,
    ToolDefinition,
    canonical_json,
    port_type,
    variants,
)

MAX_CHANGES = 30
_TEXTS = ("title", "description")


def describe_changes(
    old: ToolDefinition, new: ToolDefinition, old_price_mist: int, new_price_mist: int
) -> list[str]:
    """Return the changes from an old to a new version, at most 30 sentences."""
    changes = [
        *_terms(old, new, old_price_mist, new_price_mist),
        *_ports("Input", _inputs(old), _inputs(new)),
        *_outputs(old, new),
    ]
    if len(changes) > MAX_CHANGES:
        return [*changes[:MAX_CHANGES], f"and {len(changes) - MAX_CHANGES} more changes"]
    return changes


def _terms(
    old: ToolDefinition, new: ToolDefinition, old_price_mist: int, new_price_mist: int
) -> Iterator[str]:
    if old.type != new.type:
        yield f"The kind is {new.type.value} instead of {old.type.value}."
    if old_price_mist != new_price_mist:
        prices = units.sui(new_price_mist), units.sui(old_price_mist)
        yield "The price is {} instead of {}.".format(*prices)
    if old.timeout_ms != new.timeout_ms:
        timeouts = units.duration(new.timeout_ms), units.duration(old.timeout_ms)
        yield "The timeout is {} instead of {}.".format(*timeouts)
    if old.description != new.description:
        yield "The description is different."
    if old.url != new.url:
        yield "The URL is different."


def _inputs(definition: ToolDefinition) -> dict[str, Any]:
    """Return the input schema, or an empty schema if it is invalid."""
    try:
        return SchemaDocument.parse(definition.input_schema).root
    except ValidationError:
        return {}


def _outputs(old: ToolDefinition, new: ToolDefinition) -> Iterator[str]:
    before, after = _variants(old), _variants(new)
    for name in after.keys() - before.keys():
        yield f"The output variant {name} is new."
    for name in before.keys() - after.keys():
        yield f"The output variant {name} is removed."
    for name in after:
        if name in before:
            yield from _ports(f"Output of {name}:", before[name], after[name])


def _variants(definition: ToolDefinition) -> dict[str, dict[str, Any]]:
    try:
        return variants(definition.output_schema)
    except ValidationError:
        return {}


def _ports(subject: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = old.get("properties", {}), new.get("properties", {})
    for name, port in after.items():
        if name not in before:
            required = "required" if name in new.get("required", ()) else "optional"
            yield f"{subject} {name} is new: {port_type(port)}, {required}."
    for name in before:
        if name not in after:
            yield f"{subject} {name} is removed."
            continue
        was, is_now = name in old.get("required", ()), name in new.get("required", ())
        if was != is_now:
            yield f"{subject} {name} is {'required' if is_now else 'optional'} now."
        yield from _port(f"{subject} {name}", before[name], after[name])


def _port(subject: str, old: Any, new: Any) -> Iterator[str]:
    if port_type(old) != port_type(new):
        yield f"{subject} is {port_type(new)} instead of {port_type(old)}."
    elif _rules(old) != _rules(new):
        yield f"{subject} has other limits or defaults."
    elif _same(old) != _same(new):
        yield f"{subject} has another title or description."


def _rules(schema: Any) -> bytes:
    """Return the canonical JSON of a schema without its texts."""
    if not isinstance(schema, Mapping):
        return canonical_json(schema)
    return canonical_json({key: value for key, value in schema.items() if key not in _TEXTS})


def _same(schema: Any) -> bytes:
    return canonical_json(schema)
