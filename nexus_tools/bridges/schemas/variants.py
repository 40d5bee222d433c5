"""The outputs of bridged tools: `oneOf` of variants, and the ports of every `err` variant."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from nexus_tools.bridges.sandbox import Limit, ProcessLimits, ProcessResult
from nexus_tools.tool import MAX_DESCRIPTION_BYTES, SchemaDocument, json_pointer, relocated

# A process is stopped at least and at most this many ms before the server's own time limit, so that
# the server can return an `err`. Killing a process that uses much memory or many busy threads is
# slow.
_HEAD_START_MS = 500, 2_000


def output_schema(
    variants: Mapping[str, Mapping[str, Any]],
    *,
    definitions: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the output schema with these variants. `variants` maps names to schemas of ports.

    All variants share `definitions`, which become `$defs` of the whole schema. Apart from that, the
    schema of each variant is a separate document. References `#/…` in this document point into the
    document itself or into `definitions`.

    Raises:
        ValidationError: with code `schema_invalid` if the target of a reference does not exist.
    """
    shared = dict(definitions or {})
    branches = [
        {
            "type": "object",
            "properties": {
                name: _relocate_variant(f"/oneOf/{index}/properties/{name}", dict(ports), shared)
            },
            "required": [name],
            "additionalProperties": False,
        }
        for index, (name, ports) in enumerate(variants.items())
    ]
    schema: dict[str, Any] = {"type": "object", "oneOf": branches}
    return schema | {"$defs": shared} if shared else schema


def closed_object_schema(
    properties: Mapping[str, Any], *, required: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the schema of an object with these properties and no others."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    names = list(required)
    if names:
        schema["required"] = names
    return schema | {"additionalProperties": False}


def error_schema(**more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an `err` variant's ports, including the additional ports `more`."""
    return closed_object_schema(_ERROR_PORTS | more, required=["reason"])


def error(
    reason: str,
    *,
    finished: ProcessResult | None = None,
    type: str | None = None,  # noqa: A002 - the name of the port
    **more: Any,
) -> dict[str, Any]:
    """Return the output `{"err": {…}}`, with the exit code, limit, and log of `finished`.

    Ports that are None and an exit code of 0 are omitted. `reason` is truncated like a description.
    """
    ports: dict[str, Any] = {"reason": with_description(reason) or "the tool failed", "type": type}
    if finished is not None:
        ports["exit_code"] = finished.exit_code or None
        ports["limit"] = finished.limit.value if finished.limit else None
        ports["log"] = finished.log() or None
    return {"err": {name: port for name, port in (ports | more).items() if port is not None}}


def with_description(text: str) -> str:
    """Return a text truncated to the size of a description: 4096 bytes of UTF-8, ending in `…`."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= MAX_DESCRIPTION_BYTES:
        return encoded.decode()
    mark = "…"
    return encoded[: MAX_DESCRIPTION_BYTES - len(mark.encode())].decode(errors="ignore") + mark


def process_limits(limits: ProcessLimits, timeout_ms: int) -> ProcessLimits:
    """Return the limits of a process of a tool with this timeout.

    The process is stopped a tenth of the timeout (500 to 2 000 ms) before the server gives up, but
    not before half of the timeout. For example, a timeout of 10 s stops it after 9 s.
    """
    min_ms, max_ms = _HEAD_START_MS
    head_start_ms = min(max(timeout_ms // 10, min_ms), max_ms)
    return replace(limits, time_ms=max(timeout_ms - head_start_ms, timeout_ms // 2))


def _relocate_variant(
    pointer: str, ports: dict[str, Any], shared: dict[str, Any]
) -> dict[str, Any]:
    """Return a variant's schema for the location `pointer`, with internal references updated."""
    own_definitions = ports.get("$defs", {})
    shared_pointers = [
        f"/$defs{json_pointer((name,))}" for name in shared if name not in own_definitions
    ]
    document = {key: value for key, value in ports.items() if key not in ("$schema", "$id")}
    if shared:
        document["$defs"] = shared | own_definitions

    def place(target: str) -> str:
        is_shared = any(target == root or target.startswith(f"{root}/") for root in shared_pointers)
        return target if is_shared else pointer + target

    relocated_schema = relocated(SchemaDocument.parse(document), place)
    definitions = relocated_schema.pop("$defs", {})
    return (
        relocated_schema | {"$defs": {name: definitions[name] for name in own_definitions}}
        if own_definitions
        else relocated_schema
    )


_ERROR_PORTS: dict[str, Any] = {
    "reason": {"type": "string", "description": "The reason of the failure, in one sentence."},
    "type": {"type": "string", "description": "The name of the exception's class."},
    "exit_code": {
        "type": "integer",
        "description": "The exit code, or the negative number of the signal that killed the tool.",
    },
    "limit": {
        "enum": [limit.value for limit in Limit],
        "description": "The limit that the process exceeded.",
    },
    "log": {"type": "string", "description": "The end of the output, at most 4 KiB."},
}
