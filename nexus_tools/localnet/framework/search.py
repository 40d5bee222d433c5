"""Finding Move packages inside a larger file, by their structure alone.

A program that embeds the framework holds each package as BCS of `vector<vector<u8>>`: the number of
modules, then each with its length. A module says itself where it ends, so that both numbers can be
checked, and what passes is no accident.
"""

from collections.abc import Iterator
from mmap import mmap

from nexus_tools.localnet.bytecode.header import MAGIC, read_header
from nexus_tools.localnet.bytecode.malformed import MalformedModule
from nexus_tools.sui.bcs import write_uleb128

# Sui allows a whole package 100 KiB: a module that is longer is none.
_MODULE_BYTES_MAX = 100 * 1024


def find_packages(data: bytes | mmap) -> Iterator[tuple[bytes, ...]]:
    """The modules of each package in `data`, in the order of the file."""
    extents = _find_modules(data)
    while extents:
        start = end = next(iter(extents))
        modules = []
        while end in extents:
            begin, end = extents.pop(end)
            modules.append(data[begin:end])
        if _is_preceded_by(data, start, _uleb(len(modules))):
            yield tuple(modules)


def _find_modules(data: bytes | mmap) -> dict[int, tuple[int, int]]:
    """Where a module's length is written -> where the module begins and ends, in file order."""
    extents = {}
    begin = data.find(MAGIC)
    while begin >= 0:
        length = _module_length(data[begin : begin + _MODULE_BYTES_MAX])
        prefix = _uleb(length)
        if length and _is_preceded_by(data, begin, prefix):
            extents[begin - len(prefix)] = (begin, begin + length)
        begin = data.find(MAGIC, begin + 1)
    return extents


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
