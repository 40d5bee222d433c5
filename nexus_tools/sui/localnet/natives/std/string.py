"""`std::string`: UTF-8 in vectors of bytes."""

from nexus_tools.sui.localnet.natives.gas import charge, priced
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, Reference
from nexus_tools.sui.types.address import MOVE_STDLIB
from nexus_tools.sui.types.type_tag import TypeTag

_COST_BASE, _COST_PER_BYTE = 52, 2


def internal_check_utf8(string: bytearray) -> bool:
    """Whether the bytes are UTF-8."""
    try:
        string.decode()
    except UnicodeDecodeError:
        return False
    return True


def internal_is_char_boundary(string: bytearray, place: int) -> bool:
    """Whether a character begins at this byte, or the string ends."""
    size = len(string)
    # Bytes 10xxxxxx continue a character in UTF-8.
    return place == size or (place < size and string[place] & 0xC0 != 0x80)


def internal_sub_string(
    context: Context, _types: tuple[TypeTag, ...], string: Reference, start: int, end: int
) -> bytearray:
    """The bytes from `start` up to `end`; the Move function has checked both."""
    data: bytearray = string.read()
    charge(context, _COST_BASE, _COST_PER_BYTE, max(end - start, 0))
    return data[start:end]


def internal_index_of(
    context: Context, _types: tuple[TypeTag, ...], string: Reference, sought: Reference
) -> int:
    """Where the other string begins first, or the length if nowhere."""
    data: bytearray = string.read()
    found = data.find(sought.read())
    place = found if found >= 0 else len(data)
    charge(context, _COST_BASE, _COST_PER_BYTE, len(sought.read()) + place)
    return place


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
