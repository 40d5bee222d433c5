"""A cache of parsed tool definitions, with an entry for each version of a tool's object."""

from dataclasses import dataclass

from cachetools import LRUCache

from nexus_tools.errors import ValidationError
from nexus_tools.leader.chain.chain import FoundTool
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import InterfaceValidator, ToolDefinition

MAX_INTERFACES = 1_024


@dataclass(frozen=True, slots=True)
class Interface:
    """A tool's definition with its compiled schemas."""

    definition: ToolDefinition
    validator: InterfaceValidator


class InterfaceCache:
    """A cache of the interfaces of recently called tools, and of errors in their definitions."""

    def __init__(self, capacity: int = MAX_INTERFACES) -> None:
        self._cache: LRUCache[tuple[Address, int], Interface | str] = LRUCache(capacity)

    def of(self, found: FoundTool) -> Interface:
        """Return the interface of a tool.

        Raises:
            ValidationError: `definition_invalid`, for any error in the definition.
        """
        key = (found.tool.id, found.version)
        cached = self._cache.get(key)
        if cached is None:
            cached = self._cache[key] = _compile(found)
        if isinstance(cached, str):
            raise ValidationError("definition_invalid", cached)
        return cached


def _compile(tool: FoundTool) -> Interface | str:
    """Return the interface of a tool, or the message of the error in its definition."""
    try:
        definition = tool.tool.definition.parse()
        return Interface(definition, InterfaceValidator(definition))
    except ValidationError as error:
        return error.message
