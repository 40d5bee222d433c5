"""Lengths and numbers of variants as BCS writes them: ULEB128, seven bits to a byte."""


def write_uleb128(value: int, out: bytearray) -> None:
    """Append a number that is not negative to `out`, the lowest bits first."""
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def encoded_uleb128(value: int) -> bytes:
    """A number that is not negative as bytes."""
    out = bytearray()
    write_uleb128(value, out)
    return bytes(out)
