"""The search for Move packages in a larger file. The search recognizes packages by their structure.

A program that embeds the framework contains each package as BCS of `vector<vector<u8>>`: the number
of modules, then each module with its length. The end of a module can be computed from its bytes, so
the search checks the count and each length. A false match is practically impossible.
"""

from collections.abc import Iterator
from mmap import mmap
from typing import NamedTuple

from nexus_tools.sui.bytecode import MAGIC, MalformedModule, read_header
from nexus_tools.sui.support.uleb128 import write_uleb128

# Sui allows 100 KiB for a whole package, so a longer match is not a module.
_MODULE_BYTES_MAX = 100 * 1024
_LENGTH_BYTES_MAX = 3  # the size of the largest length as ULEB128


def find_packages(data: bytes | mmap) -> Iterator[tuple[bytes, ...]]:
    """Yield the modules of each package in `data`, in the order of the file.

    The search is lazy: it does not read beyond the last requested package, because the file is
    large.
    """
    magic = data.find(MAGIC)
    while magic >= 0:
        extents = tuple(_modules_from(data, magic))
        if extents:
            start, magic = extents[0].start, extents[-1].end - 1
            if _is_preceded_by(data, start, _uleb(len(extents))):
                yield tuple(data[extent.begin : extent.end] for extent in extents)
        magic = data.find(MAGIC, magic + 1)


class _Extent(NamedTuple):
    """The position of a module: the start of its length prefix, its first byte, and its end."""

    start: int
    begin: int
    end: int


def _modules_from(data: bytes | mmap, magic: int) -> Iterator[_Extent]:
    """Yield the positions of the module at this magic number and of the modules adjacent to it."""
    extent = _module_at(data, magic)
    while extent is not None:
        yield extent
        end = extent.end
        magic = data.find(MAGIC, end, end + _LENGTH_BYTES_MAX + len(MAGIC))
        extent = _module_at(data, magic)
        if extent is not None and extent.start != end:
            return


def _module_at(data: bytes | mmap, magic: int) -> _Extent | None:
    """Return the position of the module at this magic number.

    Return None if no length prefix precedes the module.
    """
    if magic < 0:
        return None
    length = _module_length(data[magic : magic + _MODULE_BYTES_MAX])
    prefix = _uleb(length)
    if not length or not _is_preceded_by(data, magic, prefix):
        return None
    return _Extent(magic - len(prefix), magic, magic + length)


def _module_length(data: bytes) -> int:
    """Return the length of the module at the start of `data`, or 0 if no module starts there."""
    try:
        return read_header(data).end
    except MalformedModule:
        return 0


def _is_preceded_by(data: bytes | mmap, position: int, prefix: bytes) -> bool:
    return data[max(position - len(prefix), 0) : position] == prefix


def _uleb(value: int) -> bytes:
    encoded = bytearray()
    write_uleb128(value, encoded)
    return bytes(encoded)
