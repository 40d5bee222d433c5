"""The properties of a tool, `properties.json`, in either of its two spellings.

The protocol's specification uses snake_case (`function_name`), and the SDK uses camelCase
(`functionName`). Because the specification is inconsistent, `is_cachable` and `required.db` are
also accepted.
"""

import keyword
import mimetypes
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePosixPath
from typing import Any

from nexus_tools.errors import ValidationError

_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?)(?:I?B)?", re.ASCII | re.IGNORECASE)
_POWERS: dict[str, int] = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_ANY = frozenset({"*", "*/*"})

# Use only the table of the standard library, so that the result does not depend on the machine.
_MIME_TYPES = mimetypes.MimeTypes()


@dataclass(frozen=True, slots=True)
class Restrictions:
    """The maximum file size in bytes, and the allowed extensions or MIME types (empty: all)."""

    max_bytes: int | None = None
    types: tuple[str, ...] = ()

    @classmethod
    def parse(cls, document: object) -> "Restrictions":
        """Parse `restrictions`.

        Raises:
            ValidationError: with code `properties_invalid`.
        """
        if document is None:
            return cls()
        if not isinstance(document, Mapping):
            raise _invalid("restrictions must be a JSON object")
        size = document.get("maxFileSize")
        return cls(
            None if size is None else size_in_bytes(size),
            _types(document.get("allowedFileTypes")),
        )

    def problem(self, name: str, size: int) -> str:
        """Return the reason why a file is not accepted, or an empty string."""
        if self.max_bytes is not None and size > self.max_bytes:
            return f"the file has {size} bytes, but the tool accepts at most {self.max_bytes}"
        if self.types and not self._allows(name):
            return f"the tool accepts only files of the types {', '.join(self.types)[:200]}"
        return ""

    def _allows(self, name: str) -> bool:
        extension = PurePosixPath(name).suffix.lower().removeprefix(".")
        mime = _mime_type(extension)
        return any(
            extension == allowed or (mime is not None and mime == _mime_type(allowed))
            for allowed in self.types
        )


def size_in_bytes(size: object) -> int:
    """Return a size such as `200MB` in bytes. Units are powers of 1024, as in the SDK."""
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    match = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if match is None:
        raise _invalid("restrictions.maxFileSize must be a size such as 200MB")
    factor: int = 1024 ** _POWERS[match[2].upper()]
    return int(match[1]) * factor


def _types(allowed: Any) -> tuple[str, ...]:
    if allowed is None:
        return ()
    if not isinstance(allowed, list) or not all(isinstance(name, str) for name in allowed):
        raise _invalid("restrictions.allowedFileTypes must be a list of strings")
    names = tuple(name.strip().lower().removeprefix(".") for name in allowed)
    return () if _ANY.intersection(names) else names


def _mime_type(extension: str) -> str | None:
    """Return the MIME type of an extension. A name with `/` already is a MIME type."""
    if "/" in extension:
        return extension
    return _MIME_TYPES.types_map[True].get(f".{extension}") if extension else None


# --- The adapters that a tool uses: models, embeddings, vector stores, text extractors, OCR
#
# Adapter IDs are settings that are not in the tool's `spec.json`. The platform adds them to the
# form.

# The setting and the title of each kind, unless a tool declares others.
_DEFAULT_IDS = {
    "languageModels": ("llmAdapterId", "Language model"),
    "embeddingServices": ("embeddingAdapterId", "Embedding service"),
    "vectorStores": ("vectorDbAdapterId", "Vector store"),
    "textExtractors": ("x2TextAdapterId", "Text extractor"),
    "ocrs": ("ocrAdapterId", "OCR"),
}


@dataclass(frozen=True, slots=True)
class Adapter:
    """An enabled adapter: the setting for its ID, and its title and description for users."""

    setting: str
    title: str
    description: str
    is_required: bool

    def schema(self) -> dict[str, Any]:
        """Return the schema of the setting."""
        return {
            "type": "string",
            "minLength": 1,
            "title": self.title,
            "description": self.description or f"ID of the adapter: {self.title}",
        }


def read_adapters(document: object) -> tuple[Adapter, ...]:
    """Return the enabled adapters in `adapter`.

    Raises:
        ValidationError: with code `properties_invalid`.
    """
    if document is None:
        return ()
    if not isinstance(document, Mapping):
        raise _invalid("adapter must be a JSON object")
    return tuple(
        adapter for kind in _DEFAULT_IDS for adapter in _of_kind(kind, document.get(kind, []))
    )


def _of_kind(kind: str, entries: object) -> Iterator[Adapter]:
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise _invalid(f"adapter.{kind} must be a list of objects")
    setting, title = _DEFAULT_IDS[kind]
    for entry in entries:
        if entry.get("isEnabled", False) is True:
            yield Adapter(
                _text(entry, "adapterId") or setting,
                _text(entry, "title") or title,
                _text(entry, "description"),
                entry.get("isRequired", False) is True,
            )


# --- All properties


MAX_PARAMETERS = 100

_KINDS = ("file", "db", "index")
_PARAMETER_TYPES = ("string", "number")


class FileInput(Enum):
    """Whether a run receives a file."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    NONE = "none"


class ResultType(Enum):
    """The content of RESULT: JSON, a text, or either if the tool does not declare it."""

    JSON = "JSON"
    TEXT = "TXT"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter. `type` is `string` or `number`."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class ToolProperties:
    """The properties that a tool declares. `version` is a string in the tool's own format."""

    function_name: str
    display_name: str = ""
    version: str = ""
    description: str = ""
    is_cacheable: bool = False
    file_input: FileInput = FileInput.REQUIRED
    input_description: str = ""
    output_description: str = ""
    output_type: str = ""
    parameters: tuple[Parameter, ...] = ()
    adapters: tuple[Adapter, ...] = ()
    result_type: ResultType = ResultType.ANY
    result_description: str = ""
    result_schema: Mapping[str, Any] | None = None
    restrictions: Restrictions = field(default_factory=Restrictions)

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "ToolProperties":
        """Parse the document.

        Placeholders of a template, function names that are not valid in Python, and tools that
        require a database or an index are rejected.

        Raises:
            ValidationError: with code `properties_invalid`.
        """
        name = _function_name(_first_of(document, "functionName", "function_name"))
        _refuse_databases(document)
        result = _object(document, "result")
        return cls(
            function_name=name,
            display_name=_text(document, "displayName", "display_name"),
            version=_version(document),
            description=_text(document, "description"),
            is_cacheable=_first_of(document, "is_cacheable", "is_cachable", "isCacheable") is True,
            file_input=_file_input(document),
            input_description=_text(_object(document, "input"), "description"),
            output_description=_text(_object(document, "output"), "description"),
            output_type=_kind(document, "output_type") or "",
            parameters=tuple(_parameters(document.get("parameters", []))),
            adapters=read_adapters(document.get("adapter")),
            result_type=_result_type(result.get("type")),
            result_description=_text(result, "description"),
            result_schema=_object(result, "schema") or None,
            restrictions=Restrictions.parse(document.get("restrictions")),
        )


def _function_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise _invalid("function_name (functionName) is missing")
    if name.startswith("<"):
        raise _invalid(f"functionName is the placeholder {name[:80]!r} of a template")
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise _invalid(
            f"{name[:80]!r} is not a valid name of a Python function",
            hint="Choose a functionName of letters, digits, and '_', for example text_extractor.",
        )
    return name


def _version(document: Mapping[str, Any]) -> str:
    """Return `toolVersion`, or the last element of `versions`."""
    versions = document.get("versions")
    last = versions[-1] if isinstance(versions, list) and versions else ""
    version = document.get("toolVersion") or last
    return version if isinstance(version, str) else ""


def _refuse_databases(document: Mapping[str, Any]) -> None:
    kind = _kind(document, "input_type")
    if kind in ("db", "index"):
        raise _unsupported(f"input_type is {kind}, which the protocol cannot pass to a tool")
    needs = _requirements(document)
    for name in ("databases", "db"):
        for direction in ("input", "output"):
            if _object(needs, name).get(direction) is True:
                raise _unsupported(
                    f"requires.{name}.{direction} is true, but only the platform provides databases"
                )


def _file_input(document: Mapping[str, Any]) -> FileInput:
    """Return whether a run takes a file. Without a declaration, tools of the SDK require a file."""
    file_requirement = _object(_requirements(document), "files").get("input")
    if file_requirement is not None and file_requirement is not True:
        return FileInput.NONE
    is_file_tool = "functionName" in document or _kind(document, "input_type") == "file"
    return FileInput.REQUIRED if file_requirement or is_file_tool else FileInput.OPTIONAL


def _requirements(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return _object(document, "requires") or _object(document, "required")


def _kind(document: Mapping[str, Any], name: str) -> str | None:
    kind = document.get(name)
    if kind is not None and kind not in _KINDS:
        raise _invalid(f"{name} must be one of {', '.join(_KINDS)}")
    return None if kind is None else str(kind)


def _parameters(entries: object) -> Iterator[Parameter]:
    if not isinstance(entries, list) or len(entries) > MAX_PARAMETERS:
        raise _invalid(f"parameters must be a list of at most {MAX_PARAMETERS} objects")
    names: set[str] = set()
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise _invalid(f"parameters[{index}] must be a JSON object")
        name, kind = _text(entry, "name"), entry.get("type")
        if not name or name in names:
            raise _invalid(f"parameters[{index}].name is missing or occurs twice")
        if kind not in _PARAMETER_TYPES:
            raise _invalid(f"parameters[{index}].type must be string or number")
        names.add(name)
        yield Parameter(name, str(kind), _text(entry, "description"))


def _result_type(kind: object) -> ResultType:
    if kind is None:
        return ResultType.ANY
    for result_type in (ResultType.JSON, ResultType.TEXT):
        if isinstance(kind, str) and kind.upper() == result_type.value:
            return result_type
    raise _invalid("result.type must be JSON or TXT")


def _first_of(document: Mapping[str, Any], *names: str) -> Any:
    return next((document[name] for name in names if name in document), None)


def _text(document: Mapping[str, Any], *names: str) -> str:
    value = _first_of(document, *names)
    return value if isinstance(value, str) else ""


def _object(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def _unsupported(problem: str) -> ValidationError:
    return ValidationError(
        "properties_invalid",
        f"the tool cannot be served: {problem}",
        hint="Serve a tool that takes only a file, settings, and parameters.",
    )


def _invalid(problem: str, *, hint: str = "") -> ValidationError:
    """Return a `ValidationError` with code `properties_invalid`."""
    message = f"the tool's properties are not valid: {problem}"
    return ValidationError("properties_invalid", message, hint=hint)
