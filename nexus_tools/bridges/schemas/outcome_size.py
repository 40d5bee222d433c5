"""An estimate of the outcome size of a bridged tool, from its definition."""

import re
from typing import Any

from nexus_tools.tool import SchemaDocument, ToolDefinition, variants

LARGE_OUTCOME_BYTES = 65_536
"""The maximum outcome size for tools that return images, audio, or documents in base64."""

_USUAL_BYTES = 4_096
_TEXTS = ("text/", "application/json")
_BINARY_FORMATS = ("byte", "binary", "base64")
# Words that indicate large results in the name or description of a tool without an output schema.
_MEDIA = re.compile(
    r"\b(image|picture|photo|screenshot|thumbnail|chart|plot|graph|diagram|drawing|audio|speech"
    r"|video|pdf|png|jpe?g|gif)s?\b",
    re.IGNORECASE,
)


def declared_outcome_bytes(definition: ToolDefinition) -> int:
    """Return `LARGE_OUTCOME_BYTES` if the tool declares large outcomes, else 0.

    An output schema declares large outcomes by base64, a media type, or a long minimum length. An
    MCP tool without an output schema may return any content blocks, so words in its name and
    description decide.
    """
    document = SchemaDocument.parse(definition.output_schema)
    schemas = [schema for schema in document.subschemas.values() if isinstance(schema, dict)]
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
    """Return whether the tool returns plain MCP content blocks."""
    ok = variants(definition.output_schema).get("ok", {})
    return {*ok.get("properties", ())} == {"content", "text", "structured"}
