"""What its author says of a tool beyond its interface: the annotations of MCP, as hints.

A definition has no place for them but its input schema, in which a keyword that no validator knows
means nothing. They are the author's word: nobody checks that a tool that `readOnlyHint` calls
harmless is.
"""

from collections.abc import Mapping
from typing import Any

ANNOTATIONS = "x-mcp-annotations"
"""The keyword, at the root of the input schema."""

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_MAX_TITLE = 200


def annotations_of(input_schema: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations in an input schema: `title`, and the hints that are said; others are none."""
    return known_annotations(input_schema.get(ANNOTATIONS))


def with_annotations(input_schema: Mapping[str, Any], annotations: Any) -> dict[str, Any]:
    """The input schema with what is known of the tool; as it is if that is nothing."""
    known = known_annotations(annotations)
    return {**input_schema, ANNOTATIONS: known} if known else dict(input_schema)


def known_annotations(annotations: Any) -> dict[str, Any]:
    """What of a stranger's annotations is one: a title of one line, and hints that are truths."""
    given = annotations if isinstance(annotations, Mapping) else {}
    known: dict[str, Any] = {}
    title = given.get("title")
    if isinstance(title, str) and title.strip():
        known["title"] = " ".join(title.split())[:_MAX_TITLE]
    return known | {hint: given[hint] for hint in _HINTS if isinstance(given.get(hint), bool)}
