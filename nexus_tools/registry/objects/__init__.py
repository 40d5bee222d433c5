"""The structs of the Move package as values: a file for each module, a class for each struct."""

from typing import TypeVar

from nexus_tools.errors import ValidationError
from nexus_tools.registry.objects.bond import BOND, Bond
from nexus_tools.registry.objects.invocation import (
    INVOCATION,
    Expired,
    Failed,
    Invocation,
    Requested,
    Settled,
    State,
)
from nexus_tools.registry.objects.leader_registry import (
    LEADER_CAP,
    LEADER_ENTRY,
    LEADER_REGISTRY,
    Leader,
    LeaderCap,
    LeaderRegistryObject,
    LeaderSettings,
)
from nexus_tools.registry.objects.table import Table, TableEntry
from nexus_tools.registry.objects.tool import (
    OPERATOR_CAP,
    OWNER_CAP,
    TOOL,
    Definition,
    OperatorCap,
    OwnerCap,
    Tool,
    ToolState,
)
from nexus_tools.registry.objects.tool_registry import (
    ADMIN_CAP,
    FQN_ENTRY,
    TOOL_REGISTRY,
    AdminCap,
    ToolRegistryObject,
    ToolSettings,
)
from nexus_tools.registry.objects.value import (
    PORTS,
    VALUE,
    Inline,
    InlineChunks,
    InlineList,
    Ports,
    Remote,
    RemoteList,
    Value,
)
from nexus_tools.sui.bcs import Codec
from nexus_tools.sui.object import MoveObject, Object
from nexus_tools.sui.type_tag import StructTag

__all__ = [
    "ADMIN_CAP",
    "BOND",
    "FQN_ENTRY",
    "INVOCATION",
    "LEADER_CAP",
    "LEADER_ENTRY",
    "LEADER_REGISTRY",
    "OPERATOR_CAP",
    "OWNER_CAP",
    "PORTS",
    "TOOL",
    "TOOL_REGISTRY",
    "VALUE",
    "AdminCap",
    "Bond",
    "Definition",
    "Expired",
    "Failed",
    "Inline",
    "InlineChunks",
    "InlineList",
    "Invocation",
    "Leader",
    "LeaderCap",
    "LeaderRegistryObject",
    "LeaderSettings",
    "OperatorCap",
    "OwnerCap",
    "Ports",
    "Remote",
    "RemoteList",
    "Requested",
    "Settled",
    "State",
    "Table",
    "TableEntry",
    "Tool",
    "ToolRegistryObject",
    "ToolSettings",
    "ToolState",
    "Value",
    "decode",
]

T = TypeVar("T")


def decode(value: Object, expected: StructTag, codec: Codec[T]) -> T:
    """The value of an object of the type `expected`. Raises `object_of_another_type`."""
    if not isinstance(value.data, MoveObject) or value.data.type != expected:
        raise ValidationError(
            "object_of_another_type",
            f"{value.id} is a {value.type or 'package'}, not a {expected.module}::{expected.name}",
            hint="check the id, and that the deployment is the one that made the object",
        )
    return codec.decode(value.data.contents)
