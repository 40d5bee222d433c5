"""A record of schemas that were checked before, so that repeated listings do not compile them."""

from hashlib import blake2b

from cachetools import LRUCache

from nexus_tools.contracts.move_bindings.definition import Definition
from nexus_tools.errors import ValidationError
from nexus_tools.tool import ToolDefinition

_CAPACITY = 65_536
_MAX_MESSAGE = 300


class CheckedSchemas:
    """The hashes of the last checked schemas, with the errors of invalid schemas.

    A listing reads every definition each time. A cache of definitions that is smaller than the
    registry would never have a hit. Hashes are so small that the hash of every schema can be kept.
    """

    def __init__(self, capacity: int = _CAPACITY) -> None:
        self._errors: LRUCache[bytes, str] = LRUCache(capacity)

    def parse(self, definition: Definition) -> ToolDefinition:
        """Return a validated definition from the chain. Equal schemas are checked once.

        Raises:
            ValidationError: `definition_invalid`, for any error in the definition.
        """
        key = _hash(definition)
        error = self._errors.get(key)
        if error:
            raise ValidationError("definition_invalid", error)
        try:
            parsed = definition.parse(check_schemas=error is None)
        except ValidationError as invalid:
            if invalid.code == "schema_invalid":
                self._errors[key] = invalid.message[:_MAX_MESSAGE]
            raise ValidationError("definition_invalid", invalid.message) from invalid
        self._errors[key] = ""
        return parsed


def _hash(definition: Definition) -> bytes:
    parts = (definition.input_schema, definition.output_schema)
    return b"".join(blake2b(part, digest_size=16).digest() for part in parts)
