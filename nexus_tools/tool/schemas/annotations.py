"""The MCP annotations of a tool: a title, and hints of its author about its behaviour.

A definition stores annotations in its input schema, under a keyword that validators ignore.
Annotations are unverified claims of the author. For example, a tool with `readOnlyHint` may still
write data.
"""

from collections.abc import Mapping
from typing import Any

ANNOTATIONS = "x-mcp-annotations"
"""The keyword of the annotations, at the root of the input schema."""

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_MAX_TITLE = 200


def read_annotations(input_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotations in an input schema: `title`, and the hints that are set."""
    return filter_annotations(input_schema.get(ANNOTATIONS))


def with_annotations(input_schema: Mapping[str, Any], annotations: Any) -> dict[str, Any]:
    """Return the input schema with the valid annotations added."""
    known = filter_annotations(annotations)
    return {**input_schema, ANNOTATIONS: known} if known else dict(input_schema)


def filter_annotations(annotations: Any) -> dict[str, Any]:
    """Return the valid entries of untrusted annotations: a one-line title and boolean hints."""
    given = annotations if isinstance(annotations, Mapping) else {}
    known: dict[str, Any] = {}
    title = given.get("title")
    if isinstance(title, str) and title.strip():
        known["title"] = " ".join(title.split())[:_MAX_TITLE]
    return known | {hint: given[hint] for hint in _HINTS if isinstance(given.get(hint), bool)}
