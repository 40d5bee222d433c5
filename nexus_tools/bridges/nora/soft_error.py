"""Results that are errors in disguise: a NORA tool may return the text of what went wrong."""

from nexus_tools.errors import UsageError
from nexus_tools.tool.pattern_cost import linear_time, pattern_mismatches

# The text is a stranger's: so much of it is looked at, however long it is.
MAX_CHARACTERS = 4_096


class SoftError:
    """A regular expression that is looked for in the first 4096 characters of a result.

    The engine is that of `pattern` in JSON Schema, in linear time. Raises `UsageError` with code
    `pattern_invalid` for an expression that it does not take.
    """

    def __init__(self, pattern: str) -> None:
        import jsonschema_rs  # noqa: PLC0415 - native code, needed only with this option

        mismatches = pattern_mismatches("", pattern)
        if mismatches:
            hint = "as in '^Error( |:)'"
            raise UsageError("pattern_invalid", mismatches[0].message, hint=hint)
        self._validator = jsonschema_rs.Draft202012Validator(
            {"pattern": pattern}, pattern_options=linear_time()
        )

    def matches(self, text: str) -> bool:
        """Whether the text says that something went wrong."""
        return self._validator.is_valid(text[:MAX_CHARACTERS])
