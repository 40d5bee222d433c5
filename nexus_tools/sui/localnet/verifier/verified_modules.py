"""A cache of modules that passed verification, so that a process verifies each module once.

The cache is useful because clients simulate a publication before they execute it, and tests publish
the same package many times. The package has a different ID in each run.
"""

from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.sui.bytecode import CompiledModule
from nexus_tools.sui.types.digest import blake2b256

_CAPACITY = 4_096
_UNPUBLISHED = bytes(32)
_SYSTEM_PREFIX = bytes(24)


class Work(Struct, frozen=True):
    """The work to verify a module: the units of Move's rules, and the ticks of Sui's rules."""

    units: int
    ticks: int


_verified: dict[bytes, Work] = {}
"""The work to verify each verified module, by a digest of the module's contents.

All networks of the process share this cache.
"""


class VerifiedModules:
    """A view of the cache for the modules of a new package.

    Two modules have the same contents if their bytes differ only in the address of their package.
    The result of verification does not depend on this address, because rules only compare it with
    other addresses.
    """

    def __init__(self, modules: Iterable[tuple[CompiledModule, bytes]]) -> None:
        self._contents = {id(module): _contents(module.address, data) for module, data in modules}

    def get(self, module: CompiledModule) -> Work | None:
        """Return the work recorded for a module, or None if the module must be verified."""
        contents = self._contents[id(module)]
        return None if contents is None else _verified.get(contents)

    def add(self, module: CompiledModule, work: Work) -> None:
        """Record a module that passed all rules."""
        contents = self._contents[id(module)]
        if contents is None:
            return
        if len(_verified) >= _CAPACITY:
            _verified.clear()
        _verified[contents] = work


def _contents(address: bytes, data: bytes) -> bytes | None:
    """Return a digest of a module without its address, or None if it contains the address twice."""
    if address.startswith(_SYSTEM_PREFIX) or data.count(address) != 1:
        return None
    return blake2b256(data.replace(address, _UNPUBLISHED))
