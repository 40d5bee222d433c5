"""The words of tool definitions, for text search. Definitions are untrusted."""

from collections.abc import Iterator, Mapping
from typing import Any

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings.tool import Tool
from nexus_tools.errors import NexusError
from nexus_tools.sui.support.logs import error_summary, get_logger
from nexus_tools.sui.types.object import Object
from nexus_tools.tool import variants

_log = get_logger("nexus_tools.index")

MAX_WORDS = 20_000
"""The maximum length of the words of a definition, in characters."""


def definition_words(deployment: Deployment, value: Object) -> str:
    """Return the names and descriptions of a tool's ports, separated by line breaks.

    The words of an invalid definition are empty.
    """
    try:
        definition = deployment.decode(value, Tool).definition.parse(check_schemas=False)
        outputs = variants(definition.output_schema)
        words = [*_words(definition.input_schema), *outputs]
        for schema in outputs.values():
            words += _words(schema)
        # JSON text may contain surrogates, which SQLite cannot store.
        return "\n".join(words)[:MAX_WORDS].encode(errors="replace").decode()
    except NexusError:
        return ""
    except Exception as error:  # noqa: BLE001 - untrusted documents may cause any exception
        _log.warning("definition_skipped", tool=str(value.id), cause=error_summary(error))
        return ""


def _words(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the title of a schema, and the name, title and description of each property."""
    yield from _texts(schema, "title")
    properties = schema.get("properties")
    for name, port in properties.items() if isinstance(properties, Mapping) else ():
        yield name
        if isinstance(port, Mapping):
            yield from _texts(port, "title", "description")


def _texts(schema: Mapping[str, Any], *keywords: str) -> Iterator[str]:
    for keyword in keywords:
        text = schema.get(keyword)
        if isinstance(text, str):
            yield text
