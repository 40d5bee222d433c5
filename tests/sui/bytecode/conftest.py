"""Published modules, and a small assembler for modules that no compiler produces."""

from dataclasses import dataclass, field, replace

import pytest

from nexus_tools.sui.localnet.framework import load_framework

MAGIC = bytes.fromhex("a11ceb0b")
VERSION_5 = bytes.fromhex("05000000")
VERSION_6 = bytes.fromhex("06000000")
VERSION_7_SUI = bytes.fromhex("07000005")


def uleb(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


@dataclass(frozen=True)
class Assembly:
    """A module as its tables; `bytes()` returns the file.

    The first one has one function `m` without parameters, whose code is to be filled in. Table
    numbers are those of the format: 1 module handles, 3 function handles, 5 signatures, 7
    identifiers, 8 addresses, 12 function definitions.
    """

    tables: dict = field(
        default_factory=lambda: {
            1: bytes([0, 0]),
            3: bytes([0, 0, 0, 0, 0]),
            5: bytes([0]),
            7: bytes([1]) + b"m",
            8: bytes(32),
        }
    )
    version: bytes = VERSION_7_SUI
    self_handle: bytes = bytes([0])

    def with_tables(self, tables):
        return replace(self, tables=self.tables | tables)

    def with_code(self, count, code, jump_tables=b"\x00"):
        """Define the function: private, no flags, acquires nothing, locals of signature 0."""
        tail = jump_tables if self.version == VERSION_7_SUI else b""
        return self.with_tables({12: bytes([0, 0, 0, 0, 0]) + uleb(count) + code + tail})

    def __bytes__(self):
        offset, headers, contents = 0, b"", b""
        for kind, content in self.tables.items():
            headers += bytes([kind]) + uleb(offset) + uleb(len(content))
            contents += content
            offset += len(content)
        head = MAGIC + self.version + uleb(len(self.tables))
        return head + headers + contents + self.self_handle


@pytest.fixture
def assembly():
    return Assembly()


@pytest.fixture
def version_5():
    return Assembly(version=VERSION_5)


@pytest.fixture
def version_6():
    return Assembly(version=VERSION_6)


@pytest.fixture(scope="session")
def framework_modules():
    """Return all module files of the framework, the shortest first."""
    packages = load_framework().values()
    return sorted((module for package in packages for module in package.modules), key=len)
