"""JSON data by port name, on its way into a transaction."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.bindings.runtime import Package
from nexus_tools.errors import ValidationError
from nexus_tools.package.move import value
from nexus_tools.package.move.value import Ports, Value
from nexus_tools.sui.builder import MAX_CHUNK_BYTES, TransactionBuilder
from nexus_tools.sui.transaction import Argument, Result
from nexus_tools.tool import MAX_PORTS, canonical_json


def ports_of(document: Mapping[str, Any]) -> Ports:
    """Inline values from JSON, sorted by name and each in its canonical text.

    Raises `json_invalid`, `port_name_invalid` or `too_many_ports`.
    """
    if len(document) > MAX_PORTS:
        raise ValidationError(
            "too_many_ports",
            f"there are {len(document)} ports, {MAX_PORTS} are allowed",
            hint="put values that belong together into one JSON object",
        )
    for name in document:
        if not name.isascii() or not name:
            raise ValidationError(
                "port_name_invalid",
                f"{name[:80]!r} is not a port name",
                hint="a port name is a letter a-z, then a-z, 0-9 and underscores",
            )
    return Ports(
        tuple((name, _inline(canonical_json(document[name]))) for name in sorted(document))
    )


def make_ports(builder: TransactionBuilder, package: Package, ports: Ports) -> Result:
    """All the commands that it takes to have ports in a transaction."""
    names = [name for name, _ in ports.values]
    return value.ports(
        builder, package, names, [_made(builder, package, each) for _, each in ports.values]
    )


def _inline(text: bytes) -> Value.Variant:
    if len(text) <= MAX_CHUNK_BYTES:
        return Value.Inline(text)
    starts = range(0, len(text), MAX_CHUNK_BYTES)
    return Value.InlineChunks(tuple(text[start : start + MAX_CHUNK_BYTES] for start in starts))


def _made(builder: TransactionBuilder, package: Package, one: Value.Variant) -> Argument:
    match one:
        case Value.Inline(json):
            return value.inline(builder, package, json)
        case Value.InlineChunks(chunks):
            return value.inline_chunks(builder, package, chunks)
        case Value.InlineList(jsons):
            return value.inline_list(builder, package, jsons)
        case Value.Remote(storage, key):
            return value.remote(builder, package, storage, key)
        case Value.RemoteList(storage, keys):
            return value.remote_list(builder, package, storage, keys)
