"""The body of a function that is read when it is first asked for.

Of a package few functions are ever called, and their bodies are the longest part of its modules.
"""

from collections.abc import Callable
from typing import Any

from nexus_tools.localnet.bytecode.code import OPERANDS, read_code
from nexus_tools.localnet.bytecode.cursor import Cursor
from nexus_tools.localnet.bytecode.draft import Draft
from nexus_tools.localnet.bytecode.limits import (
    BYTECODE_COUNT_MAX,
    JUMP_TABLE_COUNT_MAX,
    TABLE_INDEX_MAX,
    VARIANT_COUNT_MAX,
    VERSION_7,
)
from nexus_tools.localnet.bytecode.module import Code
from nexus_tools.localnet.bytecode.opcode import LITERAL_BYTES, Opcode

_ULEB_GOES_ON = 0x80

# VEC_PACK and VEC_UNPACK have an index, and a length of 8 bytes.
_FIXED_BYTES = LITERAL_BYTES | {Opcode.VEC_PACK: 8, Opcode.VEC_UNPACK: 8}
_WITH_INDEX = frozenset(OPERANDS) - frozenset(LITERAL_BYTES)


class UnreadCode(Code):
    """Code that reads itself, at most once. What it raises then is `MalformedModule`."""

    __slots__ = ("_read",)
    _read: Callable[[], Code]

    def __init__(self, read: Callable[[], Code]) -> None:
        object.__setattr__(self, "_read", read)

    def __getattr__(self, name: str) -> Any:
        """A field that is empty yet: fill all of them."""
        if name not in Code.__match_args__:
            raise AttributeError(name)
        code = self._read()
        for field in Code.__match_args__:
            object.__setattr__(self, field, getattr(code, field))
        return getattr(code, name)


def unread_code(cursor: Cursor, draft: Draft, handle: int) -> UnreadCode:
    """The code of the function with this handle, of which only the end is looked for now."""
    start = cursor.position
    _skip(cursor, draft.version)
    end = cursor.position
    return UnreadCode(lambda: read_code(Cursor(cursor.data, start, end), draft, handle))


def _skip(cursor: Cursor, version: int) -> None:
    cursor.uleb(TABLE_INDEX_MAX)
    _skip_instructions(cursor, cursor.uleb(BYTECODE_COUNT_MAX))
    if version >= VERSION_7:
        cursor.repeat(JUMP_TABLE_COUNT_MAX, _skip_jump_table)


def _skip_instructions(cursor: Cursor, count: int) -> None:
    data, position = cursor.data, cursor.position
    try:
        for _ in range(count):
            opcode = data[position]
            if opcode in _WITH_INDEX:
                position += 1
                while data[position] >= _ULEB_GOES_ON:
                    position += 1
            position += 1 + _FIXED_BYTES.get(opcode, 0)
    except IndexError:
        position = len(data) + 1
    cursor.take(position - cursor.position)  # raises if that is more than there is


def _skip_jump_table(cursor: Cursor) -> None:
    cursor.uleb(TABLE_INDEX_MAX)
    branches = cursor.uleb(VARIANT_COUNT_MAX)
    cursor.byte()
    for _ in range(branches):
        cursor.uleb(TABLE_INDEX_MAX)
