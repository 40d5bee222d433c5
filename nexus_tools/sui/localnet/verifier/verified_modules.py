"""The modules that passed all rules, so that a process verifies each of them once.

A publication is simulated before it is executed, which gives the package two IDs. Tests publish the
same package many times.
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
"""The work by contents. All networks of the process share it."""


class VerifiedModules:
    """The modules of a new package, each with its bytes, among those that passed before.

    Two modules have the same contents if their bytes differ only in the address of their package.
    The rules compare that address only with other addresses.
    """

    def __init__(self, modules: Iterable[tuple[CompiledModule, bytes]]) -> None:
        self._contents = {id(module): _contents(module.address, data) for module, data in modules}

    def get(self, module: CompiledModule) -> Work | None:
        """Return the work that the module took, or None if it must be verified."""
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
    """Return a digest that does not depend on the package; None if that is not certain."""
    if address.startswith(_SYSTEM_PREFIX) or data.count(address) != 1:
        return None
    return blake2b256(data.replace(address, _UNPUBLISHED))
