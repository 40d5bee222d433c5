"""The storage cost of objects, and the rebate for removed or replaced objects.

The cost depends on the bytes of an object: fixed sizes for owner (40), digest (32) and rebate (8),
plus the data. When the object is deleted, nearly all of the cost is refunded. Source:
`object_size_for_gas_metering` in `sui-types/src/{object,move_package}.rs`, `gas_model/gas_v2.rs`.
"""

from functools import lru_cache

from msgspec import Struct

from nexus_tools.sui.localnet.execution.limits import STORAGE_COST_PER_BYTE
from nexus_tools.sui.types.object import OBJECT_TYPE, MoveObject, MovePackage
from nexus_tools.sui.types.type_tag import StructTag

_BASIS_POINTS = 10_000
_METADATA_BYTES = 40 + 32 + 8
_MOVE_OBJECT_BYTES = 1 + 8  # the fields has_public_transfer and version
_ADDRESS_BYTES, _VERSION_BYTES = 32, 8


@lru_cache(maxsize=4_096)
def _type_bytes(tag: StructTag) -> int:
    return len(OBJECT_TYPE.encode(tag))


def storage_bytes(data: MoveObject | MovePackage) -> int:
    """Return the number of bytes for which an object's storage is charged.

    A coin of SUI has 40 + 32 + 8 + 1 + 8 + 1 + 32 + 8 = 130 bytes. The coin's type is encoded as
    one byte, and its contents are an ID and a u64.
    """
    if isinstance(data, MovePackage):
        return _METADATA_BYTES + package_bytes(data)
    return _METADATA_BYTES + _MOVE_OBJECT_BYTES + _type_bytes(data.type) + len(data.contents)


def package_bytes(package: MovePackage) -> int:
    """Return the size of a package in bytes, for its storage cost and its size limit."""
    modules = sum(len(name.encode()) + len(code) for name, code in package.modules)
    origins = sum(
        len(origin.module) + len(origin.datatype) + _ADDRESS_BYTES
        for origin in package.type_origins
    )
    linkage = len(package.linkage) * (2 * _ADDRESS_BYTES + _VERSION_BYTES)
    return _VERSION_BYTES + modules + origins + linkage


def storage_cost(data: MoveObject | MovePackage) -> int:
    """Return the cost of storing an object, in MIST."""
    return storage_bytes(data) * STORAGE_COST_PER_BYTE


def sender_rebate(storage_rebate: int, rate: int) -> int:
    """Return the part of a storage rebate in MIST that the sender receives, rounded half up.

    `rate` is the protocol's rebate rate in basis points, which is 9 900 until protocol version 137.
    """
    return (storage_rebate * rate + _BASIS_POINTS // 2) // _BASIS_POINTS


class StorageCharge(Struct, frozen=True):
    """The storage cost of written objects and the rebate for earlier versions, in MIST."""

    cost: int
    rebate: int
