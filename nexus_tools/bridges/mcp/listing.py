"""What a server lists: its tools as they stand in `tools/list`, and what differs in them later."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.tool import canonical_json, known_annotations, measure

# How a field of an entry is called where a change of it is reported.
_IN_WORDS = {
    "description": "the description",
    "inputSchema": "the input schema",
    "outputSchema": "the output schema",
    "annotations": "the annotations",
    "title": "the title",
}


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """SHA-256, in hexadecimal, of the canonical JSON of an entry, and of each of its fields."""

    sha256: str
    fields: Mapping[str, str]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Fingerprint":
        """The fingerprint of an entry; raises `ValidationError` for what has no canonical JSON."""
        return cls(_sha256(entry), {field: _sha256(value) for field, value in entry.items()})

    def changes(self, now: "Fingerprint") -> tuple[str, ...]:
        """What is different now, in words; empty if nothing is."""
        if self.sha256 == now.sha256:
            return ()
        names = sorted({*self.fields, *now.fields})
        changed = [name for name in names if self.fields.get(name) != now.fields.get(name)]
        return tuple(_IN_WORDS.get(name, f"the field {name[:80]}") for name in changed)


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One entry of `tools/list`, whose name, schemas and description have the right types."""

    entry: dict[str, Any]
    fingerprint: Fingerprint

    @classmethod
    def parse(cls, entry: dict[str, Any]) -> "ListedTool":
        """The tool of an entry that the protocol allows; `ValidationError` if it is too deep."""
        measure(entry)
        return cls(entry, Fingerprint.of(entry))

    @property
    def name(self) -> str:
        """What the server calls it."""
        return str(self.entry["name"])

    @property
    def description(self) -> str:
        """What it says of itself; its title if it has no description."""
        annotations = self.entry.get("annotations") or {}
        titles = (self.entry.get("title"), annotations.get("title"))
        found = (self.entry.get("description"), *titles, "")
        return next(str(text) for text in found if text is not None)

    @property
    def annotations(self) -> dict[str, Any]:
        """Its hints and its title, which stands in either of two places."""
        annotations = known_annotations(self.entry.get("annotations"))
        return annotations | known_annotations({"title": self.entry.get("title")})

    @property
    def input_schema(self) -> dict[str, Any]:
        """`inputSchema`, of whatever draft."""
        return dict(self.entry["inputSchema"])

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """`outputSchema`, of whatever draft, if there is one."""
        schema = self.entry.get("outputSchema")
        return None if schema is None else dict(schema)


@dataclass(frozen=True, slots=True)
class Listing:
    """All tools of a server, and the entries that are none: by name, or place, with the reason."""

    tools: tuple[ListedTool, ...]
    refused: tuple[tuple[str, str], ...] = ()

    def fingerprints(self) -> dict[str, Fingerprint]:
        """What is remembered of each tool, by its name."""
        return {tool.name: tool.fingerprint for tool in self.tools}


def _sha256(value: Any) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()
