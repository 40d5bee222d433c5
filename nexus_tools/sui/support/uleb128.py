"""The encoding ULEB128, with seven bits per byte. BCS uses ULEB128 for lengths and variants."""


def write_uleb128(value: int, out: bytearray) -> None:
    """Append the encoding of a non-negative number to `out`, with the lowest bits first."""
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def encode_uleb128(value: int) -> bytes:
    """Encode a non-negative number as ULEB128."""
    out = bytearray()
    write_uleb128(value, out)
    return bytes(out)
