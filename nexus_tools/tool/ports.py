"""The BCS encoding of ports: the Move struct `value::Ports`.

A list is encoded element by element because the chain does not parse JSON. A workflow can therefore
continue with each element, and knows their number. A Leader writes these bytes on chain, and a tool
signs them; this module is their only encoder.
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
# The length of the chunk takes three bytes.
_MAX_CHUNK_BYTES = _MAX_ARGUMENT_BYTES - 3

# The numbers of the variants of `value::Value` that encode JSON from a tool.
_INLINE = b"\x00"
_INLINE_LIST = b"\x01"
_INLINE_CHUNKS = b"\x04"


def encode_ports(document: Mapping[str, Any]) -> bytes:
    """Encode ports sorted by name, each as its canonical JSON, and lists by element.

    `{"a": "1"}` is one entry (01), the name (01 61), a string in one piece (00) of three bytes (03
    22 31 22). `{"a": [1, 2]}` has a list (01) of one part (01) with two strings (02), 1 (01 31) and
    2 (01 32). Long values are split into parts or chunks, each as large as an argument on Sui can
    be. A list is encoded as one string if an element is too long for an argument.

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
    """Return the bytes of an answer that count against `max_outcome_bytes`.

    Raises as `encode_ports`.
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
    """Return vectors of strings, each as long as an argument can be, except for the last."""
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
