"""Finding Move packages inside a larger file, by their structure alone.

A program that embeds the framework holds each package as BCS of `vector<vector<u8>>`: the number of
modules, then each with its length. A module says itself where it ends, so that both numbers can be
checked, and what passes is no accident.
"""

from collections.abc import Iterator
from mmap import mmap
from typing import NamedTuple

from nexus_tools.sui.bytecode import MAGIC, MalformedModule, read_header
from nexus_tools.sui.support.uleb128 import write_uleb128

# Sui allows a whole package 100 KiB: a module that is longer is none.
_MODULE_BYTES_MAX = 100 * 1024
_LENGTH_BYTES_MAX = 3  # of ULEB128


def find_packages(data: bytes | mmap) -> Iterator[tuple[bytes, ...]]:
    """The modules of each package in `data`, in the order of the file.

    What follows the last package that is asked for is not read: it may be long.
    """
    magic = data.find(MAGIC)
    while magic >= 0:
        extents = tuple(_modules_from(data, magic))
        if extents:
            start, magic = extents[0].start, extents[-1].end - 1
            if _is_preceded_by(data, start, _uleb(len(extents))):
                yield tuple(data[each.begin : each.end] for each in extents)
        magic = data.find(MAGIC, magic + 1)


class _Extent(NamedTuple):
    """Where a module's length is written, and where the module begins and ends."""

    start: int
    begin: int
    end: int


def _modules_from(data: bytes | mmap, magic: int) -> Iterator[_Extent]:
    """The module that begins at a magic, and those that follow without a gap."""
    extent = _module_at(data, magic)
    while extent is not None:
        yield extent
        end = extent.end
        magic = data.find(MAGIC, end, end + _LENGTH_BYTES_MAX + len(MAGIC))
        extent = _module_at(data, magic)
        if extent is not None and extent.start != end:
            return


def _module_at(data: bytes | mmap, magic: int) -> _Extent | None:
    """The module that begins at a magic, if it is one that has its length in front of it."""
    if magic < 0:
        return None
    length = _module_length(data[magic : magic + _MODULE_BYTES_MAX])
    prefix = _uleb(length)
    if not length or not _is_preceded_by(data, magic, prefix):
        return None
    return _Extent(magic - len(prefix), magic, magic + length)


def _module_length(data: bytes) -> int:
    """How long the module is that `data` begins with, or 0 if it is none."""
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
