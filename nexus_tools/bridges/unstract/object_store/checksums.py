"""The checksums that a client may send along with a body, in base64: MD5 and S3's own.

CRC-32C is that of RFC 3720, CRC-64/NVME that of the NVM Express command set; both reflected.
"""

import base64
import binascii
import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Protocol

from nexus_tools.bridges.unstract.object_store.fault import FaultError

_PREFIX = "x-amz-checksum-"
# Headers of the family that say something about checksums and are none.
_NOT_CHECKSUMS = frozenset((_PREFIX + "algorithm", _PREFIX + "mode", _PREFIX + "type"))


class Checksum(Protocol):
    """What hashlib's objects are, as far as it is needed here."""

    def update(self, data: bytes, /) -> None:
        """Take more of the body."""

    def digest(self) -> bytes:
        """The checksum, in network order."""


class Crc32:
    """CRC-32 of ISO 3309, as zlib has it."""

    def __init__(self) -> None:
        self._value = 0

    def update(self, data: bytes, /) -> None:
        """Take more of the body."""
        self._value = zlib.crc32(data, self._value)

    def digest(self) -> bytes:
        """The checksum, in network order."""
        return self._value.to_bytes(4, "big")


class TableCrc:
    """A reflected CRC whose register starts and ends inverted, by a table of 256 entries."""

    def __init__(self, polynomial: int, bits: int) -> None:
        self._table = _table(polynomial)
        self._redaction = (1 << bits) - 1
        self._register = self._redaction

    def update(self, data: bytes, /) -> None:
        """Take more of the body."""
        register, table = self._register, self._table
        for byte in data:
            register = table[(register ^ byte) & 0xFF] ^ (register >> 8)
        self._register = register

    def digest(self) -> bytes:
        """The checksum, in network order."""
        size = self._redaction.bit_length() // 8
        return (self._register ^ self._redaction).to_bytes(size, "big")


ALGORITHMS: Mapping[str, Callable[[], Checksum]] = {
    "content-md5": lambda: hashlib.md5(usedforsecurity=False),
    _PREFIX + "crc32": Crc32,
    _PREFIX + "crc32c": lambda: TableCrc(0x82F63B78, 32),
    _PREFIX + "crc64nvme": lambda: TableCrc(0x9A6C9329AC4BC9B5, 64),
    _PREFIX + "sha1": lambda: hashlib.sha1(usedforsecurity=False),
    _PREFIX + "sha256": hashlib.sha256,
}


class DeclaredChecksums:
    """Those that a client sends with one body, in headers or announced for the trailer."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        announced = [name.strip().lower() for name in headers.get("x-amz-trailer", "").split(",")]
        self._running = {name: ALGORITHMS[name]() for name in _known([*headers, *announced])}
        self._expected = {name: headers[name] for name in self._running if name in headers}

    def update(self, data: bytes) -> None:
        """Take more of the body."""
        for checksum in self._running.values():
            checksum.update(data)

    def check(self, trailer: Mapping[str, str]) -> None:
        """Compare with what was declared, at the end of the body."""
        for name, checksum in self._running.items():
            declared = self._expected.get(name, trailer.get(name))
            if declared is None:
                raise FaultError("InvalidRequest", f"the trailer announced {name} and has none")
            if _decoded(name, declared) != checksum.digest():
                raise FaultError("BadDigest", f"the body does not have the declared {name}")


def _known(names: Iterable[str]) -> set[str]:
    wanted = {
        name
        for name in names
        if name == "content-md5" or (name.startswith(_PREFIX) and name not in _NOT_CHECKSUMS)
    }
    unknown = sorted(wanted - ALGORITHMS.keys())
    if unknown:
        raise FaultError("NotImplemented", f"this store does not check {', '.join(unknown)}")
    return wanted


def _decoded(name: str, value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise FaultError("InvalidDigest", f"{name} is not base64") from error


@lru_cache
def _table(polynomial: int) -> tuple[int, ...]:
    return tuple(_remainder(byte, polynomial) for byte in range(256))


def _remainder(byte: int, polynomial: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (polynomial if byte & 1 else 0)
    return byte
