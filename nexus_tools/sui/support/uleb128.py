"""ULEB128, seven bits per byte: the encoding of lengths and variant numbers in BCS."""


def write_uleb128(value: int, out: bytearray) -> None:
    """Append a non-negative number to `out`, the lowest bits first."""
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def encode_uleb128(value: int) -> bytes:
    """Encode a non-negative number."""
    out = bytearray()
    write_uleb128(value, out)
    return bytes(out)
