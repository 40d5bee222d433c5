"""The native functions of `std::string`, for UTF-8 text in vectors of bytes."""

from nexus_tools.sui.localnet.natives.gas import charge, priced
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, Reference
from nexus_tools.sui.types.address import MOVE_STDLIB
from nexus_tools.sui.types.type_tag import TypeTag

_COST_BASE, _COST_PER_BYTE = 52, 2


def internal_check_utf8(string: bytearray) -> bool:
    """Return whether the bytes are UTF-8."""
    try:
        string.decode()
    except UnicodeDecodeError:
        return False
    return True


def internal_is_char_boundary(string: bytearray, index: int) -> bool:
    """Return whether a character starts or the string ends at this byte."""
    size = len(string)
    # Bytes 10xxxxxx continue a character in UTF-8.
    return index == size or (index < size and string[index] & 0xC0 != 0x80)


def internal_sub_string(
    context: Context, _types: tuple[TypeTag, ...], string: Reference, start: int, end: int
) -> bytearray:
    """Return the bytes from `start` to `end`. The Move function has checked both indices."""
    data: bytearray = string.read()
    charge(context, _COST_BASE, _COST_PER_BYTE, max(end - start, 0))
    return data[start:end]


def internal_index_of(
    context: Context, _types: tuple[TypeTag, ...], string: Reference, pattern: Reference
) -> int:
    """Return the first index of `pattern`, or the length of the string if it does not occur."""
    data: bytearray = string.read()
    position = data.find(pattern.read())
    index = position if position >= 0 else len(data)
    charge(context, _COST_BASE, _COST_PER_BYTE, len(pattern.read()) + index)
    return index


NATIVES = natives_of(
    MOVE_STDLIB,
    "string",
    internal_check_utf8=priced(
        internal_check_utf8, lambda size: _COST_BASE + _COST_PER_BYTE * size
    ),
    internal_is_char_boundary=priced(internal_is_char_boundary, _COST_BASE),
    internal_sub_string=internal_sub_string,
    internal_index_of=internal_index_of,
)
