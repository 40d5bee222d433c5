"""The schemas of tools, compiled once per version of the tool's object."""

from collections import OrderedDict

from nexus_tools.sui.address import Address
from nexus_tools.tool import InterfaceValidator, ToolDefinition

MAX_INTERFACES = 1_024


class Interfaces:
    """Keeps the validators of the tools that were called last."""

    def __init__(self, capacity: int = MAX_INTERFACES) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[Address, int], InterfaceValidator] = OrderedDict()

    def of(self, tool: Address, version: int, definition: ToolDefinition) -> InterfaceValidator:
        """The validator of a tool whose object has this version. Raises `schema_invalid`."""
        key = (tool, version)
        validator = self._kept.get(key)
        if validator is None:
            validator = self._kept[key] = InterfaceValidator(definition)
            if len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return validator
