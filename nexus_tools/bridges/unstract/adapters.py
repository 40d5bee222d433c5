"""The adapters that a tool uses (models, embeddings, vector stores, text extractors, OCR).

Their ids are settings that are not in the tool's `spec.json`: the platform adds them to the form.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.errors import ValidationError

# The name of the setting where a tool does not say another one.
_DEFAULT_IDS = {
    "languageModels": ("llmAdapterId", "Language model"),
    "embeddingServices": ("embeddingAdapterId", "Embedding service"),
    "vectorStores": ("vectorDbAdapterId", "Vector store"),
    "textExtractors": ("x2TextAdapterId", "Text extractor"),
    "ocrs": ("ocrAdapterId", "OCR"),
}


@dataclass(frozen=True, slots=True)
class Adapter:
    """One enabled adapter: the setting that takes its id, and what people are told of it."""

    setting: str
    title: str
    description: str
    is_required: bool

    def schema(self) -> dict[str, Any]:
        """The schema of the setting."""
        return {
            "type": "string",
            "minLength": 1,
            "title": self.title,
            "description": self.description or f"Id of the adapter: {self.title}",
        }


def read_adapters(document: object) -> tuple[Adapter, ...]:
    """The enabled ones in `adapter`; raises `ValidationError` with code `properties_invalid`."""
    if document is None:
        return ()
    if not isinstance(document, Mapping):
        raise wrong_properties("adapter is no JSON object")
    return tuple(
        adapter for kind in _DEFAULT_IDS for adapter in _of_kind(kind, document.get(kind, []))
    )


def with_adapters(settings: Mapping[str, Any], adapters: tuple[Adapter, ...]) -> dict[str, Any]:
    """The schema of settings with the ids of the adapters; what it says already stays."""
    schemas = {adapter.setting: adapter.schema() for adapter in adapters}
    needed = [adapter.setting for adapter in adapters if adapter.is_required]
    schema = dict(settings)
    if schemas:
        schema["properties"] = schemas | settings.get("properties", {})
    if needed:
        schema["required"] = list(dict.fromkeys([*settings.get("required", ()), *needed]))
    return schema


def _of_kind(kind: str, entries: object) -> Iterator[Adapter]:
    if not isinstance(entries, list) or not all(isinstance(each, Mapping) for each in entries):
        raise wrong_properties(f"adapter.{kind} is no list of objects")
    setting, title = _DEFAULT_IDS[kind]
    for entry in entries:
        if entry.get("isEnabled", False) is True:
            yield Adapter(
                _text(entry, "adapterId") or setting,
                _text(entry, "title") or title,
                _text(entry, "description"),
                entry.get("isRequired", False) is True,
            )


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def wrong_properties(problem: str, *, hint: str = "") -> ValidationError:
    """A `ValidationError` with code `properties_invalid`."""
    message = f"the tool's properties are wrong: {problem}"
    return ValidationError("properties_invalid", message, hint=hint)
