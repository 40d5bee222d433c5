"""The BCS encoding of ports: the Move struct `value::Ports`.

The chain does not parse JSON, so each element of a list is encoded separately. A workflow therefore
knows the number of elements and can continue with each element. A Leader writes the encoded bytes
on chain, and a tool signs them. Only this module encodes ports.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.uleb128 import encode_uleb128
from nexus_tools.tool.outcome import Answer
from nexus_tools.tool.schemas.schema import MAX_PORTS
from nexus_tools.tool.strict_json import canonical_elements, canonical_json

MAX_NAME_BYTES = 100
"""The maximum length of a port name in the Move function `value::ports`."""

_MAX_ARGUMENT_BYTES = 16_384
# The length prefix of a chunk takes three bytes.
_MAX_CHUNK_BYTES = _MAX_ARGUMENT_BYTES - 3

# The variants of the Move enum `value::Value` that encode JSON from a tool.
_INLINE = b"\x00"
_INLINE_LIST = b"\x01"
_INLINE_CHUNKS = b"\x04"


def encode_ports(document: Mapping[str, Any]) -> bytes:
    """Encode ports, sorted by name, as canonical JSON. Each element of a list is one string.

    `{"a": "1"}` has one entry (01). The entry has the name `a` (01 61) and an inline value (00) of
    three bytes, `"1"` (03 22 31 22). The value of `{"a": [1, 2]}` is an inline list (01) with one
    part (01) of two strings (02): `1` (01 31) and `2` (01 32). Long lists are split into parts, and
    long values into chunks, because an argument on Sui has a maximum size. If an element of a list
    is too long for an argument, the list is encoded as one value.

    Raises:
        ValidationError: With code `json_invalid`, `port_name_invalid` or `too_many_ports`.
    """
    if len(document) > MAX_PORTS:
        raise ValidationError(
            "too_many_ports",
            f"there are {len(document)} ports, {MAX_PORTS} are allowed",
            hint="Combine related values in one JSON object.",
        )
    for name in document:
        if not name.isascii() or not 0 < len(name) <= MAX_NAME_BYTES:
            raise ValidationError(
                "port_name_invalid",
                f"{name[:80]!r} is not a port name",
                hint="Use a letter a-z, then a-z, 0-9 and underscores, at most 100 characters.",
            )
    entries = (_sized(name.encode("ascii")) + _value(document[name]) for name in sorted(document))
    return encode_uleb128(len(document)) + b"".join(entries)


def outcome_bytes(answer: Answer) -> int:
    """Return the size of an answer that counts against `max_outcome_bytes`, in bytes.

    Raises the errors of `encode_ports`.
    """
    return len(answer.variant) + len(encode_ports(answer.ports))


def encode_string(text: str) -> bytes:
    """Encode a string."""
    return _sized(text.encode())


def _value(value: Any) -> bytes:
    if isinstance(value, list):
        elements = canonical_elements(value)
        if max(map(len, elements), default=0) <= _MAX_CHUNK_BYTES:
            return _INLINE_LIST + _counted(_parts(elements))
        text = b"[" + b",".join(elements) + b"]"
    else:
        text = canonical_json(value)
    if len(text) <= _MAX_CHUNK_BYTES:
        return _INLINE + _sized(text)
    starts = range(0, len(text), _MAX_CHUNK_BYTES)
    return _INLINE_CHUNKS + _counted(
        [_sized(text[start : start + _MAX_CHUNK_BYTES]) for start in starts]
    )


def _parts(elements: Iterable[bytes]) -> list[bytes]:
    """Return vectors of strings.

    Each vector except the last has the maximum size of an argument.
    """
    parts: list[bytes] = []
    part: list[bytes] = []
    size = 0
    for text in elements:
        element = _sized(text)
        if size + len(element) + len(encode_uleb128(len(part) + 1)) > _MAX_ARGUMENT_BYTES:
            parts.append(_counted(part))
            part, size = [], 0
        part.append(element)
        size += len(element)
    return [*parts, _counted(part)] if part else parts


def _counted(items: Sequence[bytes]) -> bytes:
    return encode_uleb128(len(items)) + b"".join(items)


def _sized(data: bytes) -> bytes:
    return encode_uleb128(len(data)) + data
