"""The rules of a protocol version: what is a number or a switch, as mainnet has it.

A version has the numbers of the one before it, but for those that it changes. Other changes of
later versions are not built; docs/reference/localnet.md names them. Source: `get_for_version_impl`
in `sui-protocol-config/src/lib.rs`, whose names these are.
"""

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from nexus_tools.sui.errors import UsageError
from nexus_tools.sui.localnet.framework import PROTOCOL_VERSION

NEWEST_PROTOCOL_VERSION = 140
"""The newest version whose configuration was read."""

_CHANGES: Mapping[int, Mapping[str, int]] = {
    PROTOCOL_VERSION: {"storage_rebate_rate": 9_900},
    138: {"storage_rebate_rate": 9_999},
    139: {"obj_access_cost_read_per_package_kb": 150},
}


class ProtocolRules(Struct, frozen=True):
    """What a version decides.

    `storage_rebate_rate` is what is refunded of a storage cost, of 10 000. A package that is read
    costs `obj_access_cost_read_per_package_kb` internal gas units for 1 000 bytes, or, without it,
    as much as an object.
    """

    version: int
    storage_rebate_rate: int
    obj_access_cost_read_per_package_kb: int | None = None

    @property
    def attributes(self) -> Mapping[str, int]:
        """What the version decides, as a node tells it: without what is not there yet."""
        values = {name: getattr(self, name) for name in self.__struct_fields__[1:]}
        return {name: value for name, value in values.items() if value is not None}


@lru_cache
def protocol_rules(version: int) -> ProtocolRules:
    """The rules of a version. Raises `protocol_version_unknown`."""
    if not PROTOCOL_VERSION <= version <= NEWEST_PROTOCOL_VERSION:
        raise UsageError(
            "protocol_version_unknown",
            f"the rules of protocol version {version} are not known; known are"
            f" {PROTOCOL_VERSION} to {NEWEST_PROTOCOL_VERSION}",
            hint=f"without a version it is {PROTOCOL_VERSION}, that of the framework here",
        )
    values: dict[str, int] = {}
    for changed_in, changes in _CHANGES.items():
        if changed_in <= version:
            values |= changes
    return ProtocolRules(version, **values)
