"""What a schema's references become when parts of it move within their document."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any
from urllib.parse import quote

from nexus_tools.tool.schema_document import SchemaDocument

# What RFC 3986 lets stand in a fragment as it is.
_FRAGMENT = "/?~!$&'()*+,;=:@-._"
_REFERENCES = ("$ref", "$dynamicRef")
ANCHORS = ("$anchor", "$dynamicAnchor")


def relocated(document: SchemaDocument, place: Callable[[str], str]) -> dict[str, Any]:
    """A copy of a schema whose references lead to where `place` says that their targets stand.

    `place` is given the JSON pointer of a subschema and answers its new one; moving is the
    caller's. References by anchor become references by pointer, so that two schemas in one document
    cannot disagree on an anchor.
    """
    copy = SchemaDocument.parse(deepcopy(document.root))
    for subschema in copy.subschemas.values():
        if isinstance(subschema, dict):
            _relocate(copy, subschema, place)
    return copy.root


def _relocate(
    document: SchemaDocument, subschema: dict[str, Any], place: Callable[[str], str]
) -> None:
    for keyword in _REFERENCES:
        if keyword in subschema:
            pointer = place(document.resolve(subschema[keyword]))
            subschema[keyword] = "#" + quote(pointer, safe=_FRAGMENT)
    for keyword in ANCHORS:
        subschema.pop(keyword, None)
