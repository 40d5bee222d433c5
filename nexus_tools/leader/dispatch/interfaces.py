"""The definitions of tools, parsed and compiled once per version of the tool's object."""

from collections import OrderedDict
from dataclasses import dataclass

from nexus_tools.errors import ValidationError
from nexus_tools.leader.chain.chain import FoundTool
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import InterfaceValidator, ToolDefinition

MAX_INTERFACES = 1_024


@dataclass(frozen=True, slots=True)
class Interface:
    """A tool's definition, with its schemas compiled."""

    definition: ToolDefinition
    validator: InterfaceValidator


class Interfaces:
    """Keeps the interfaces of the tools that were called last, and what is wrong with them."""

    def __init__(self, capacity: int = MAX_INTERFACES) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[Address, int], Interface | str] = OrderedDict()

    def of(self, found: FoundTool) -> Interface:
        """The interface of a tool. Raises `definition_invalid`, whatever is wrong with it."""
        key = (found.tool.id, found.version)
        if key not in self._kept:
            self._kept[key] = _compile(found)
            if len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        kept = self._kept[key]
        if isinstance(kept, str):
            raise ValidationError("definition_invalid", kept)
        return kept


def _compile(found: FoundTool) -> Interface | str:
    """The interface, or in words why there is none."""
    try:
        definition = found.tool.definition.parse()
        return Interface(definition, InterfaceValidator(definition))
    except ValidationError as error:
        return error.message
