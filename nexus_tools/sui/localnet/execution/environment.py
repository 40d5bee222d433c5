"""The environment of an execution: the object store, digests, the epoch and the mode."""

from enum import Enum
from typing import Protocol

from msgspec import Struct

from nexus_tools.sui.localnet.execution.protocol import ProtocolRules
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, object_digest
from nexus_tools.sui.types.object import Object

_DIGESTS = 8_192


class ObjectStore(Protocol):
    """A source of objects."""

    def get(self, object_id: Address) -> Object | None:
        """Return the current version of an object, or None if it does not exist."""

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """Return an object at a version, or None if it does not exist."""


class Environment(Struct, frozen=True):
    """The epoch, its start in ms, the reference gas price in MIST per unit, and the rules."""

    epoch: int
    epoch_timestamp_ms: int
    reference_gas_price: int
    rules: ProtocolRules


class Mode(Enum):
    """The mode of an execution, which determines the checks and the reported data.

    The modes differ in these points:

        COMMIT    all checks; no results of commands
        SIMULATE  all checks; without payment, with a coin that exists only for this transaction
        INSPECT   any owner and version, any function, any value of a type, references as
                  results; without payment as SIMULATE
        SYSTEM    the network's own transaction: any function, any object, no gas
    """

    COMMIT = "commit"
    SIMULATE = "simulate"
    INSPECT = "inspect"
    SYSTEM = "system"

    # The hash of an `Enum` is a function written in Python.
    __hash__ = object.__hash__


class DigestCache:
    """A cache of object digests, keyed by the identity of Python objects, which it keeps alive.

    The key is not the ID and the version, because the ledger may reuse a version after a revert.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Object, Digest]] = {}

    def of(self, value: Object) -> Digest:
        """Return the digest of an object."""
        entry = self._known.get(id(value))
        return self.take_in(value, value.encode()) if entry is None else entry[1]

    def take_in(self, value: Object, encoded: bytes) -> Digest:
        """Compute and cache the digest of a new object from its BCS bytes."""
        if len(self._known) >= _DIGESTS:
            self._known.clear()
        digest = object_digest(encoded)
        self._known[id(value)] = (value, digest)
        return digest
