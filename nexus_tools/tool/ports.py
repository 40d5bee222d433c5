"""Ports in the bytes that the chain has of them: the Move struct `value::Ports` in BCS.

A Leader puts an answer on chain, and a tool signs it: both mean these bytes, which are written here
and nowhere else.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.tool.outcome import Answer
from nexus_tools.tool.schema import MAX_PORTS
from nexus_tools.tool.strict_json import canonical_json
from nexus_tools.uleb128 import encoded_uleb128

MAX_NAME_BYTES = 100
"""The longest name of a port, as `value::ports` has it."""

# An argument on Sui has 16 384 bytes at most, three of them for its length.
_MAX_CHUNK_BYTES = 16_381

# The numbers of the variants of `value::Value` that JSON from a tool becomes.
_INLINE = b"\x00"
_INLINE_CHUNKS = b"\x04"


def encoded_ports(document: Mapping[str, Any]) -> bytes:
    """The bytes of ports: sorted by name, each as its canonical text, in chunks if it is long.

    `{"a": "1"}` is one entry (01), the name (01 61), a text in one piece (00) of three bytes
    (03 22 31 22).
    Raises `json_invalid`, `port_name_invalid` or `too_many_ports`.
    """
    if len(document) > MAX_PORTS:
        raise ValidationError(
            "too_many_ports",
            f"there are {len(document)} ports, {MAX_PORTS} are allowed",
            hint="put values that belong together into one JSON object",
        )
    for name in document:
        if not name.isascii() or not 0 < len(name) <= MAX_NAME_BYTES:
            raise ValidationError(
                "port_name_invalid",
                f"{name[:80]!r} is not a port name",
                hint="a port name is a letter a-z, then a-z, 0-9 and underscores, 100 at most",
            )
    entries = (
        _sized(name.encode("ascii")) + _value(canonical_json(document[name]))
        for name in sorted(document)
    )
    return encoded_uleb128(len(document)) + b"".join(entries)


def outcome_bytes(answer: Answer) -> int:
    """The bytes of an answer that count against `max_outcome_bytes`. Raises as `encoded_ports`."""
    return len(answer.variant) + len(encoded_ports(answer.ports))


def encoded_text(text: str) -> bytes:
    """The bytes of a string."""
    return _sized(text.encode())


def _value(text: bytes) -> bytes:
    if len(text) <= _MAX_CHUNK_BYTES:
        return _INLINE + _sized(text)
    starts = range(0, len(text), _MAX_CHUNK_BYTES)
    return _INLINE_CHUNKS + _list(text[start : start + _MAX_CHUNK_BYTES] for start in starts)


def _list(items: Iterable[bytes]) -> bytes:
    sized = [_sized(item) for item in items]
    return encoded_uleb128(len(sized)) + b"".join(sized)


def _sized(data: bytes) -> bytes:
    return encoded_uleb128(len(data)) + data
