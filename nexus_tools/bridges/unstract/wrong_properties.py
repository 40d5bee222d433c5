"""The error of a tool whose properties cannot be used."""

from nexus_tools.errors import ValidationError


def wrong_properties(problem: str, *, hint: str = "") -> ValidationError:
    """A `ValidationError` with code `properties_invalid`."""
    message = f"the tool's properties are wrong: {problem}"
    return ValidationError("properties_invalid", message, hint=hint)
