"""The header of a module file: magic number, version and positions of the tables.

A module file starts with a magic number, a version, and a header (kind, offset, size) for each
table. The tables follow without gaps. The index of the module's own handle is at the end. Source:
`VersionedBinary::initialize` and `check_tables` in `move-binary-format/src/deserializer.rs`.
"""

from collections.abc import Mapping

from msgspec import Struct

from nexus_tools.sui.bytecode.format.cursor import Cursor
from nexus_tools.sui.bytecode.format.file_format import (
    MAGIC,
    SUI_FLAVOR,
    TABLE_COUNT_MAX,
    TABLE_INDEX_MAX,
    TABLE_OFFSET_MAX,
    TABLE_SIZE_MAX,
    VERSION_6,
    VERSION_7,
    VERSION_MAX,
    VERSION_MIN,
    TableKind,
)

_KINDS = {kind.value: kind for kind in TableKind}
_ENUM_KINDS = frozenset(kind for kind in TableKind if kind >= TableKind.ENUM_DEFINITIONS)


class Header(Struct, frozen=True):
    """The header of a module file. `end` is the offset after the last byte of the file."""

    version: int
    flavor: int
    tables: Mapping[TableKind, tuple[int, int]]
    self_handle: int
    end: int

    def cursor(self, data: bytes, kind: TableKind) -> Cursor:
        """Return a cursor for the table of this kind.

        If the file does not contain the table, the cursor is at its end.
        """
        start, end = self.tables.get(kind, (0, 0))
        return Cursor(data, start, end)


def read_header(data: bytes, offset: int = 0) -> Header:
    """Read the header of the module file that starts at `offset`.

    Bytes after the module are ignored. Raises `MalformedModule`.
    """
    cursor = Cursor(data, offset, len(data))
    if cursor.take(len(MAGIC)) != MAGIC:
        raise cursor.malformed("the file does not start with the magic number of a Move module")
    version, flavor = _read_version(cursor)
    sizes = _read_sizes(cursor, version)
    tables = {}
    position = cursor.position
    for kind, size in sizes:
        tables[kind] = (position, position + size)
        position += size
    if position > len(data):
        raise cursor.malformed("the tables are longer than the file")
    cursor.position = position
    self_handle = cursor.uleb(TABLE_INDEX_MAX)
    return Header(version, flavor, tables, self_handle, cursor.position)


def _read_version(cursor: Cursor) -> tuple[int, int]:
    number = cursor.little_endian(4)
    # 07 00 00 05, little-endian, is version 7 with Sui's flavor 5.
    version, flavor = (number, 0) if number <= VERSION_6 else (number & 0xFF_FFFF, number >> 24)
    if not VERSION_MIN <= version <= VERSION_MAX:
        raise cursor.malformed(f"version {version} of the format is not supported")
    if version >= VERSION_7 and flavor != SUI_FLAVOR:
        raise cursor.malformed(f"flavor {flavor} of the format is not Sui's")
    return version, flavor


def _read_sizes(cursor: Cursor, version: int) -> list[tuple[TableKind, int]]:
    """Return the kind and size of each table, ordered by offset. Reject gaps between tables."""
    rows = []
    for _ in range(cursor.uleb(TABLE_COUNT_MAX)):
        kind = _read_kind(cursor, version)
        rows.append((cursor.uleb(TABLE_OFFSET_MAX), cursor.uleb(TABLE_SIZE_MAX), kind))
    if len({kind for _, _, kind in rows}) != len(rows):
        raise cursor.malformed("a table occurs twice")
    rows.sort()
    expected = 0
    for offset, size, kind in rows:
        if offset != expected or size == 0:
            raise cursor.malformed(
                f"the table {kind.name} is empty or not adjacent to the previous table"
            )
        expected += size
    return [(kind, size) for _, size, kind in rows]


def _read_kind(cursor: Cursor, version: int) -> TableKind:
    number = cursor.byte()
    kind = _KINDS.get(number)
    if kind is None:
        raise cursor.malformed(f"unknown table kind {number:#x}")
    if kind in _ENUM_KINDS and version < VERSION_7:
        raise cursor.malformed(f"the table {kind.name} needs version 7")
    return kind
