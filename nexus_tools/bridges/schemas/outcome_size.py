"""How much room the outcome of a bridged tool needs, as far as its definition says."""

import re
from typing import Any

from nexus_tools.tool import SchemaDocument, ToolDefinition, variants

LARGE_OUTCOME_BYTES = 65_536
"""The room for tools whose outcomes have images, sounds or documents in base64."""

_USUAL_BYTES = 4_096
_TEXTS = ("text/", "application/json")
_BINARY_FORMATS = ("byte", "binary", "base64")
# What a tool without an output schema gives, if its name or description has one of these.
_MEDIA = re.compile(
    r"\b(image|picture|photo|screenshot|thumbnail|chart|plot|graph|diagram|drawing|audio|speech"
    r"|video|pdf|png|jpe?g|gif)s?\b",
    re.IGNORECASE,
)


def outcome_room(definition: ToolDefinition) -> int:
    """Return `LARGE_OUTCOME_BYTES` if the tool declares large outcomes, else 0.

    It declares them by its output schema: base64, a media type, a long text. A tool of MCP without
    an output schema may give any blocks: it does so by words in its name and description.
    """
    document = SchemaDocument.parse(definition.output_schema)
    schemas = [each for each in document.subschemas.values() if isinstance(each, dict)]
    text = f"{re.sub('[-_]', ' ', definition.fqn.name)} {definition.description}"
    is_large = any(map(_is_large, schemas)) or (_gives_blocks(definition) and _MEDIA.search(text))
    return LARGE_OUTCOME_BYTES if is_large else 0


def _is_large(schema: dict[str, Any]) -> bool:
    media_type = str(schema.get("contentMediaType", _TEXTS[0]))
    return (
        schema.get("contentEncoding") in ("base64", "base64url")
        or not media_type.startswith(_TEXTS)
        or schema.get("format") in _BINARY_FORMATS
        or schema.get("minLength", 0) > _USUAL_BYTES
    )


def _gives_blocks(definition: ToolDefinition) -> bool:
    """Return whether the tool gives the content blocks of MCP as they come."""
    ok = variants(definition.output_schema).get("ok", {})
    return {*ok.get("properties", ())} == {"content", "text", "structured"}
