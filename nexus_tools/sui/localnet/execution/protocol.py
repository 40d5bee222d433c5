"""The numeric and boolean rules of mainnet protocol versions.

A version has the rules of the version before it, except the rules that it changes. In versions
after the default version, changes of other kinds are not implemented. `docs/reference/localnet.md`
lists these changes. Source of the values and names: `get_for_version_impl` in
`sui-protocol-config/src/lib.rs`.
"""

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from nexus_tools.sui.errors import UsageError
from nexus_tools.sui.localnet.framework import PROTOCOL_VERSION

NEWEST_PROTOCOL_VERSION = 140
"""The newest protocol version that the localnet accepts."""

_CHANGES: Mapping[int, Mapping[str, int]] = {
    PROTOCOL_VERSION: {"storage_rebate_rate": 9_900},
    138: {"storage_rebate_rate": 9_999},
    139: {"obj_access_cost_read_per_package_kb": 150},
}


class ProtocolRules(Struct, frozen=True):
    """The rules of a protocol version.

    `storage_rebate_rate` is the refunded part of a storage cost in basis points. The cost of
    reading 1 000 bytes of a package is `obj_access_cost_read_per_package_kb` internal gas units. If
    this rule is None, reading a package costs as much as reading an object of its size.
    """

    version: int
    storage_rebate_rate: int
    obj_access_cost_read_per_package_kb: int | None = None

    @property
    def attributes(self) -> Mapping[str, int]:
        """The rules by name as a node reports them, except rules that this version lacks."""
        values = {name: getattr(self, name) for name in self.__struct_fields__[1:]}
        return {name: value for name, value in values.items() if value is not None}


@lru_cache
def protocol_rules(version: int) -> ProtocolRules:
    """Return the rules of a protocol version.

    Raises:
        UsageError: `protocol_version_unknown`.
    """
    if not PROTOCOL_VERSION <= version <= NEWEST_PROTOCOL_VERSION:
        raise UsageError(
            "protocol_version_unknown",
            f"protocol version {version} is not supported: expected"
            f" {PROTOCOL_VERSION} to {NEWEST_PROTOCOL_VERSION}",
            hint=f"Omit the version to use {PROTOCOL_VERSION}, the default for this framework.",
        )
    values: dict[str, int] = {}
    for changed_in, changes in _CHANGES.items():
        if changed_in <= version:
            values |= changes
    return ProtocolRules(version, **values)
