"""Ids that anyone computes, as Move derives them.

Source: `sui::derived_object`. The key of a tool or a workflow is its FQN and that of a name the
name, as ASCII strings; that of a leader is its index.
"""

from nexus_tools.sui.bcs import string, u64
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import ASCII_STRING, TYPE_TAG, Primitive, derived_object_id
from nexus_tools.tool import ToolFqn


def tool_id(registry: Address, fqn: ToolFqn) -> Address:
    """The id of the tool with this FQN, whether it is registered or not."""
    return derived_object_id(registry, ASCII_STRING, string.encode(str(fqn)))


def dag_id(registry: Address, fqn: ToolFqn) -> Address:
    """The id of the workflow with this FQN, whether it is published or not.

    `registry` is that of workflows.
    """
    return derived_object_id(registry, ASCII_STRING, string.encode(str(fqn)))


def name_id(registry: Address, name: str) -> Address:
    """The id of the unversioned name `domain.name`, whether it is registered or not."""
    return derived_object_id(registry, ASCII_STRING, string.encode(name))


def leader_id(registry: Address, index: int) -> Address:
    """The id of the `index`th leader, counted from 0, whether it is registered or not."""
    return derived_object_id(registry, Primitive.U64, u64.encode(index))


def fqn_field_id(table: Address, index: int) -> Address:
    """The id of the field with the `index`th FQN of the registry's table."""
    return dynamic_field_id(table, TYPE_TAG.encode(Primitive.U64), u64.encode(index))
