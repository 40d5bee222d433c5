"""`value`: JSON data by port name, as the chain keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.sui.bcs import Codec, byte_vector, choice, record, string, struct, vector, wrapper
from nexus_tools.sui.builder import MAX_CHUNK_BYTES
from nexus_tools.tool import MAX_PORTS, canonical_json, parse_json


@dataclass(frozen=True, slots=True)
class Inline:
    """A JSON text, kept on chain."""

    json: bytes


@dataclass(frozen=True, slots=True)
class InlineChunks:
    """A JSON text in chunks, kept on chain: one that is larger than an argument may be."""

    chunks: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class InlineList:
    """A list of JSON texts, kept on chain."""

    jsons: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Remote:
    """A JSON text in a storage outside the chain; the key commits to the content."""

    storage: str
    key: bytes


@dataclass(frozen=True, slots=True)
class RemoteList:
    """A list of JSON texts in a storage outside the chain."""

    storage: str
    keys: tuple[bytes, ...]


Value = Inline | InlineChunks | InlineList | Remote | RemoteList

VALUE: Codec[Value] = choice(
    "Value",
    wrapper(Inline, byte_vector),
    wrapper(InlineList, vector(byte_vector)),
    (Remote, struct(Remote, string, byte_vector)),
    (RemoteList, struct(RemoteList, string, vector(byte_vector))),
    wrapper(InlineChunks, vector(byte_vector)),
)


@dataclass(frozen=True, slots=True)
class Ports:
    """Values by port name, in the order in which they were given."""

    values: tuple[tuple[str, Value], ...]

    @classmethod
    def of(cls, ports: Mapping[str, Any]) -> "Ports":
        """Inline values from JSON, sorted by name and each in its canonical text.

        Raises `json_invalid`, `port_name_invalid` or `too_many_ports`.
        """
        if len(ports) > MAX_PORTS:
            raise ValidationError(
                "too_many_ports",
                f"there are {len(ports)} ports, {MAX_PORTS} are allowed",
                hint="put values that belong together into one JSON object",
            )
        for name in ports:
            if not name.isascii() or not name:
                raise ValidationError(
                    "port_name_invalid",
                    f"{name[:80]!r} is not a port name",
                    hint="a port name is a letter a-z, then a-z, 0-9 and underscores",
                )
        return cls(tuple((name, _inline(canonical_json(ports[name]))) for name in sorted(ports)))

    def as_json(self) -> dict[str, Any]:
        """The values by port name. Raises `json_invalid` or `value_remote`."""
        return {name: _json(name, value) for name, value in self.values}

    def encode(self) -> bytes:
        """The BCS bytes."""
        return PORTS.encode(self)

    def size(self) -> int:
        """The bytes that the ports take in an object, by which leaders are paid."""
        return len(self.encode())


PORTS: Codec[Ports] = struct(Ports, vector(record((string, VALUE))))


def _inline(text: bytes) -> Value:
    if len(text) <= MAX_CHUNK_BYTES:
        return Inline(text)
    starts = range(0, len(text), MAX_CHUNK_BYTES)
    return InlineChunks(tuple(text[start : start + MAX_CHUNK_BYTES] for start in starts))


def _json(name: str, value: Value) -> Any:
    if isinstance(value, Inline):
        return parse_json(value.json)
    if isinstance(value, InlineChunks):
        return parse_json(b"".join(value.chunks))
    if isinstance(value, InlineList):
        return [parse_json(text) for text in value.jsons]
    raise ValidationError(
        "value_remote",
        f"the port {name} is kept in the storage {value.storage}, not on chain",
        hint="fetch it from there",
    )
