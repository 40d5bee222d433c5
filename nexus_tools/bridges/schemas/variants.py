"""The outputs of borrowed tools: `oneOf` of variants, and what every `err` variant says."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from nexus_tools.bridges.sandbox import Finished, Limit, ProcessLimits
from nexus_tools.tool import MAX_DESCRIPTION_BYTES, SchemaDocument, pointer_of, relocated

# So much earlier than the server's own time limit does a process end, and there is an `err`: it
# takes a while to kill what has taken all memory, or spins in many threads.
_HEAD_START_MS = 500, 2_000


def output_schema(
    variants: Mapping[str, Mapping[str, Any]],
    *,
    definitions: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The output schema with these variants: the schema of the ports of each, by its name.

    `definitions` are shared: they stand in `$defs` of the whole. Each variant's schema is a
    document of its own besides: what it refers to by `#/…`, it has, or it is in `definitions`.
    Raises `ValidationError` with code `schema_invalid` if it is in neither.
    """
    shared = dict(definitions or {})
    branches = [
        {
            "type": "object",
            "properties": {name: _at(f"/oneOf/{index}/properties/{name}", dict(ports), shared)},
            "required": [name],
            "additionalProperties": False,
        }
        for index, (name, ports) in enumerate(variants.items())
    ]
    schema: dict[str, Any] = {"type": "object", "oneOf": branches}
    return schema | {"$defs": shared} if shared else schema


def object_of(properties: Mapping[str, Any], *, required: Iterable[str] = ()) -> dict[str, Any]:
    """The schema of an object with these properties and no others."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    names = list(required)
    if names:
        schema["required"] = names
    return schema | {"additionalProperties": False}


def error_ports(**more: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an `err` variant's ports, `more` of its own among them."""
    return object_of(_ERROR_PORTS | more, required=["reason"])


def error(
    reason: str,
    *,
    finished: Finished | None = None,
    type: str | None = None,  # noqa: A002 - the name of the port
    **more: Any,
) -> dict[str, Any]:
    """The output `{"err": {…}}`; what `finished` tells of a process is in it.

    Ports that are None are left out, and an exit code of 0. `reason` is cut like a description.
    """
    ports: dict[str, Any] = {"reason": described(reason) or "it failed", "type": type}
    if finished is not None:
        ports["exit_code"] = finished.exit_code or None
        ports["limit"] = finished.limit.value if finished.limit else None
        ports["log"] = finished.log() or None
    return {"err": {name: port for name, port in (ports | more).items() if port is not None}}


def described(text: str) -> str:
    """A text as a description may be: 4096 bytes of UTF-8 at most, the cut marked by `…`."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= MAX_DESCRIPTION_BYTES:
        return encoded.decode()
    mark = "…"
    return encoded[: MAX_DESCRIPTION_BYTES - len(mark.encode())].decode(errors="ignore") + mark


def process_limits(limits: ProcessLimits, timeout_ms: int) -> ProcessLimits:
    """The limits of a process of a tool with this timeout.

    It is stopped a tenth of the timeout (500 to 2 000 ms) before the server gives up, or after half
    of it if that is later.
    """
    least, most = _HEAD_START_MS
    head_start_ms = min(max(timeout_ms // 10, least), most)
    return replace(limits, time_ms=max(timeout_ms - head_start_ms, timeout_ms // 2))


def _at(pointer: str, ports: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """A variant's schema as it stands at `pointer`: what it refers to in itself moved along."""
    own = ports.get("$defs", {})
    lent = [f"/$defs{pointer_of((name,))}" for name in shared if name not in own]
    whole = {key: value for key, value in ports.items() if key not in ("$schema", "$id")}
    if shared:
        whole["$defs"] = shared | own

    def place(target: str) -> str:
        is_lent = any(target == root or target.startswith(f"{root}/") for root in lent)
        return target if is_lent else pointer + target

    moved = relocated(SchemaDocument.parse(whole), place)
    definitions = moved.pop("$defs", {})
    return moved | {"$defs": {name: definitions[name] for name in own}} if own else moved


_ERROR_PORTS: dict[str, Any] = {
    "reason": {"type": "string", "description": "What went wrong, in one sentence."},
    "type": {"type": "string", "description": "The name of the exception's class."},
    "exit_code": {
        "type": "integer",
        "description": "How the process ended; negative: the signal that killed it.",
    },
    "limit": {
        "enum": [limit.value for limit in Limit],
        "description": "The bound that it was stopped for.",
    },
    "log": {"type": "string", "description": "The end of what it printed, 4 KiB at most."},
}
