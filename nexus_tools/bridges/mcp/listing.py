"""The tools in a server's `tools/list`, and the detection of later changes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.tool import canonical_json, filter_annotations, measure

# The names of an entry's fields in reports of changes.
_FIELD_NAMES = {
    "description": "the description",
    "inputSchema": "the input schema",
    "outputSchema": "the output schema",
    "annotations": "the annotations",
    "title": "the title",
}


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The SHA-256, in hexadecimal, of the canonical JSON of an entry and of each of its fields."""

    sha256: str
    fields: Mapping[str, str]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Fingerprint":
        """Return the fingerprint of an entry.

        Raises:
            ValidationError: if the entry has no canonical JSON.
        """
        return cls(_sha256(entry), {field: _sha256(value) for field, value in entry.items()})

    def changes(self, now: "Fingerprint") -> tuple[str, ...]:
        """Return descriptions of the fields that differ in `now`, or an empty tuple."""
        if self.sha256 == now.sha256:
            return ()
        names = sorted({*self.fields, *now.fields})
        changed = [name for name in names if self.fields.get(name) != now.fields.get(name)]
        return tuple(_FIELD_NAMES.get(name, f"the field {name[:80]}") for name in changed)


@dataclass(frozen=True, slots=True)
class ListedTool:
    """An entry of `tools/list` with a valid name, description, and schemas."""

    entry: dict[str, Any]
    fingerprint: Fingerprint

    @classmethod
    def parse(cls, entry: dict[str, Any]) -> "ListedTool":
        """Return the tool of an entry that the protocol allows.

        Raises:
            ValidationError: if the entry is nested too deep.
        """
        measure(entry)
        return cls(entry, Fingerprint.of(entry))

    @property
    def name(self) -> str:
        """The tool's name on the server."""
        return str(self.entry["name"])

    @property
    def description(self) -> str:
        """The description, or the title if it is missing."""
        annotations = self.entry.get("annotations") or {}
        titles = (self.entry.get("title"), annotations.get("title"))
        candidates = (self.entry.get("description"), *titles, "")
        return next(str(text) for text in candidates if text is not None)

    @property
    def annotations(self) -> dict[str, Any]:
        """The annotations of the tool, including a title from the entry itself."""
        annotations = filter_annotations(self.entry.get("annotations"))
        return annotations | filter_annotations({"title": self.entry.get("title")})

    @property
    def input_schema(self) -> dict[str, Any]:
        """The `inputSchema`, which may use any draft of JSON Schema."""
        return dict(self.entry["inputSchema"])

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The `outputSchema`, which may use any draft of JSON Schema, or None."""
        schema = self.entry.get("outputSchema")
        return None if schema is None else dict(schema)


@dataclass(frozen=True, slots=True)
class Listing:
    """All tools of a server, and the refused entries with reasons, by name or index."""

    tools: tuple[ListedTool, ...]
    refused: tuple[tuple[str, str], ...] = ()

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Return the fingerprint of each tool by name."""
        return {tool.name: tool.fingerprint for tool in self.tools}


def _sha256(value: Any) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()
