"""Digests of objects, computed once for each object in memory."""

from nexus_tools.sui.digest import Digest
from nexus_tools.sui.object import Object

_CAPACITY = 8_192


class DigestCache:
    """Remembers digests by the identity of the object, which is kept alive as long.

    Identity and not id and version: a ledger that goes back may give the same version twice.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Object, Digest]] = {}

    def of(self, value: Object) -> Digest:
        """The digest of an object."""
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        if len(self._known) >= _CAPACITY:
            self._known.clear()
        digest = value.digest()
        self._known[id(value)] = (value, digest)
        return digest
