"""Ids that anyone computes, and the choice of leaders: what Move does, done here.

Sources: `sui::derived_object` for the ids of tools and owner caps, whose key is an ASCII string;
`leader_registry::responsible` for the choice.
"""

from collections.abc import Sequence

from nexus_tools.sui.address import Address
from nexus_tools.sui.bcs import string, u64
from nexus_tools.sui.digest import blake2b256, dynamic_field_id
from nexus_tools.sui.type_tag import (
    ASCII_STRING,
    OBJECT_ID,
    TYPE_TAG,
    Primitive,
    derived_object_id,
)
from nexus_tools.tool import ToolFqn


def tool_id(registry: Address, fqn: ToolFqn) -> Address:
    """The id of the tool with this FQN, whether it is registered or not."""
    return derived_object_id(registry, ASCII_STRING, string.encode(str(fqn)))


def owner_cap_id(registry: Address, name: str) -> Address:
    """The id of the cap that owns the unversioned name `domain.name`."""
    return derived_object_id(registry, ASCII_STRING, string.encode(name))


def fqn_field_id(table: Address, index: int) -> Address:
    """The id of the field with the `index`th FQN of the registry's table."""
    return dynamic_field_id(table, TYPE_TAG.encode(Primitive.U64), u64.encode(index))


def leader_field_id(table: Address, leader: Address) -> Address:
    """The id of the field with the record of a leader."""
    return dynamic_field_id(table, TYPE_TAG.encode(OBJECT_ID), leader)


def responsible(key: bytes, active: Sequence[Address]) -> tuple[Address, ...]:
    """The leaders that are responsible for `key`: the primary and, if there are two, a secondary.

    `active` are the active leaders in the order in which the registry has them.
    """
    n = len(active)
    if n == 0:
        return ()
    digest = blake2b256(key)
    primary = int.from_bytes(digest[:8], "little") % n
    if n == 1:
        return (active[primary],)
    secondary = (primary + 1 + int.from_bytes(digest[8:16], "little") % (n - 1)) % n
    return active[primary], active[secondary]
