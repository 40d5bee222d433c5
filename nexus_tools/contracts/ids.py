"""Object IDs that anyone can compute, with the rules of the Move module `sui::derived_object`.

An object ID is derived from a registry and a key. The key of a tool or a workflow is its FQN, and
the key of a name is the name itself. Both are ASCII strings. The key of a leader is its index.
"""

from nexus_tools.sui.bcs import string, u64
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import ASCII_STRING, TYPE_TAG, Primitive, derived_object_id
from nexus_tools.tool import ToolFqn


def tool_id(registry: Address, fqn: ToolFqn) -> Address:
    """Return the ID of the tool with this FQN, even if it is not registered."""
    return derived_object_id(registry, ASCII_STRING, string.encode(str(fqn)))


def dag_id(registry: Address, fqn: ToolFqn) -> Address:
    """Return the ID of the workflow with this FQN, even if it is not published.

    `registry` is the registry of workflows.
    """
    return derived_object_id(registry, ASCII_STRING, string.encode(str(fqn)))


def name_id(registry: Address, name: str) -> Address:
    """Return the ID of the unversioned name `domain.name`, even if it is not registered."""
    return derived_object_id(registry, ASCII_STRING, string.encode(name))


def leader_id(registry: Address, index: int) -> Address:
    """Return the ID of the leader at an index from 0, even if it is not registered."""
    return derived_object_id(registry, Primitive.U64, u64.encode(index))


def fqn_field_id(table: Address, index: int) -> Address:
    """Return the ID of the dynamic field that stores entry `index` of a registry's FQN table."""
    return dynamic_field_id(table, TYPE_TAG.encode(Primitive.U64), u64.encode(index))
