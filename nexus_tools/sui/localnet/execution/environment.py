"""What surrounds the execution of a transaction: objects and their digests, the epoch, the mode."""

from enum import Enum
from typing import Protocol

from msgspec import Struct

from nexus_tools.sui.localnet.execution.protocol import ProtocolRules
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, object_digest
from nexus_tools.sui.types.object import Object

_DIGESTS = 8_192


class ObjectStore(Protocol):
    """Where objects are read."""

    def get(self, object_id: Address) -> Object | None:
        """The object as it is now; None if it does not exist, or no more."""

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """The object as it was at this version."""


class Environment(Struct, frozen=True):
    """The epoch; its start in ms; the reference gas price in MIST per gas unit; the rules."""

    epoch: int
    epoch_timestamp_ms: int
    reference_gas_price: int
    rules: ProtocolRules


class Mode(Enum):
    """How strictly a transaction is checked, and what is reported.

    COMMIT        all checks; no results of commands
    SIMULATE      all checks; without payment, with a coin that exists for this transaction alone
    INSPECT       any owner and version, any function, any value of a type, references as results;
                  as SIMULATE without payment
    SYSTEM        the network's own transaction: any function, any object, no gas
    """

    COMMIT = "commit"
    SIMULATE = "simulate"
    INSPECT = "inspect"
    SYSTEM = "system"

    # The hash of an `Enum` is a function written in Python.
    __hash__ = object.__hash__


class DigestCache:
    """Digests of objects, computed once for each object in memory, which is kept alive as long.

    Identity and not id and version: a ledger that goes back may give the same version twice.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Object, Digest]] = {}

    def of(self, value: Object) -> Digest:
        """The digest of an object."""
        known = self._known.get(id(value))
        return self.take_in(value, value.encode()) if known is None else known[1]

    def take_in(self, value: Object, encoded: bytes) -> Digest:
        """The digest of an object with these BCS bytes, which was not seen before."""
        if len(self._known) >= _DIGESTS:
            self._known.clear()
        digest = object_digest(encoded)
        self._known[id(value)] = (value, digest)
        return digest
