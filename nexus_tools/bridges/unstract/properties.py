"""What `properties.json` says of a tool, in either of its two spellings.

The protocol's document writes snake_case (`function_name`), the SDK camelCase (`functionName`); the
document is not of one mind either, so `is_cachable` and `required.db` are read as well.
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

# The table of the standard library alone: what a machine adds to it must not decide.
_MIME_TYPES = mimetypes.MimeTypes()


@dataclass(frozen=True, slots=True)
class Restrictions:
    """The largest file in bytes, and the types by extension or MIME type; None or empty: any."""

    max_bytes: int | None = None
    types: tuple[str, ...] = ()

    @classmethod
    def parse(cls, document: object) -> "Restrictions":
        """Read `restrictions`; raises `ValidationError` with code `properties_invalid`."""
        if document is None:
            return cls()
        if not isinstance(document, Mapping):
            raise _wrong("restrictions is no JSON object")
        size = document.get("maxFileSize")
        return cls(
            None if size is None else size_in_bytes(size),
            _types(document.get("allowedFileTypes")),
        )

    def problem(self, name: str, size: int) -> str:
        """Why a file of this name and size is not taken; empty if it is."""
        if self.max_bytes is not None and size > self.max_bytes:
            return f"the file has {size} bytes, the tool takes {self.max_bytes} at most"
        if self.types and not self._allows(name):
            return f"the tool takes only files of the types {', '.join(self.types)[:200]}"
        return ""

    def _allows(self, name: str) -> bool:
        extension = PurePosixPath(name).suffix.lower().removeprefix(".")
        mime = _mime_type(extension)
        return any(
            extension == allowed or (mime is not None and mime == _mime_type(allowed))
            for allowed in self.types
        )


def size_in_bytes(size: object) -> int:
    """Bytes of a size such as `200MB`; the units are powers of 1024, as the SDK counts."""
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    match = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if match is None:
        raise _wrong("restrictions.maxFileSize is no size such as 200MB")
    factor: int = 1024 ** _POWERS[match[2].upper()]
    return int(match[1]) * factor


def _types(allowed: Any) -> tuple[str, ...]:
    if allowed is None:
        return ()
    if not isinstance(allowed, list) or not all(isinstance(name, str) for name in allowed):
        raise _wrong("restrictions.allowedFileTypes is no list of strings")
    names = tuple(name.strip().lower().removeprefix(".") for name in allowed)
    return () if _ANY.intersection(names) else names


def _mime_type(extension: str) -> str | None:
    """The MIME type of an extension; a name with `/` is one already."""
    if "/" in extension:
        return extension
    return _MIME_TYPES.types_map[True].get(f".{extension}") if extension else None


# --- The adapters that a tool uses: models, embeddings, vector stores, text extractors, OCR
#
# Their ids are settings that are not in the tool's `spec.json`: the platform adds them to the form.

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
        raise _wrong("adapter is no JSON object")
    return tuple(
        adapter for kind in _DEFAULT_IDS for adapter in _of_kind(kind, document.get(kind, []))
    )


def _of_kind(kind: str, entries: object) -> Iterator[Adapter]:
    if not isinstance(entries, list) or not all(isinstance(each, Mapping) for each in entries):
        raise _wrong(f"adapter.{kind} is no list of objects")
    setting, title = _DEFAULT_IDS[kind]
    for entry in entries:
        if entry.get("isEnabled", False) is True:
            yield Adapter(
                _text(entry, "adapterId") or setting,
                _text(entry, "title") or title,
                _text(entry, "description"),
                entry.get("isRequired", False) is True,
            )


# --- All of them


MAX_PARAMETERS = 100

_KINDS = ("file", "db", "index")
_PARAMETER_TYPES = ("string", "number")


class FileInput(Enum):
    """Whether a run is given a file."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    NONE = "none"


class ResultType(Enum):
    """What RESULT carries: JSON, a text, or either, where a tool does not say it."""

    JSON = "JSON"
    TEXT = "TXT"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One of the document's `parameters`: `type` is `string` or `number`."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class ToolProperties:
    """A tool as it describes itself; `version` is its own, no whole number."""

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
        """Read the document, or raise `ValidationError` with code `properties_invalid`.

        Refused are placeholders of a template, function names that are no names of Python
        functions, and tools that need a database or an index handed to them.
        """
        name = _function_name(_either(document, "functionName", "function_name"))
        _refuse_databases(document)
        result = _object(document, "result")
        return cls(
            function_name=name,
            display_name=_text(document, "displayName", "display_name"),
            version=_version(document),
            description=_text(document, "description"),
            is_cacheable=_either(document, "is_cacheable", "is_cachable", "isCacheable") is True,
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
        raise _wrong("there is no function_name (functionName)")
    if name.startswith("<"):
        raise _wrong(f"functionName is the placeholder {name[:80]!r} of a template")
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise _wrong(
            f"{name[:80]!r} is no name of a Python function",
            hint="give the tool a functionName of letters, digits and '_', as in text_extractor",
        )
    return name


def _version(document: Mapping[str, Any]) -> str:
    """`toolVersion`, or the last of `versions`."""
    versions = document.get("versions")
    last = versions[-1] if isinstance(versions, list) and versions else ""
    version = document.get("toolVersion") or last
    return version if isinstance(version, str) else ""


def _refuse_databases(document: Mapping[str, Any]) -> None:
    kind = _kind(document, "input_type")
    if kind in ("db", "index"):
        raise _unsupported(f"input_type is {kind}: the protocol has no way to hand over one")
    needs = _needs(document)
    for name in ("databases", "db"):
        for way in ("input", "output"):
            if _object(needs, name).get(way) is True:
                raise _unsupported(f"it requires.{name}.{way}, which only the platform can give")


def _file_input(document: Mapping[str, Any]) -> FileInput:
    """Who says nothing takes a file if it is a tool of the SDK, else it is left open."""
    wanted = _object(_needs(document), "files").get("input")
    if wanted is not None and wanted is not True:
        return FileInput.NONE
    takes_one = "functionName" in document or _kind(document, "input_type") == "file"
    return FileInput.REQUIRED if wanted or takes_one else FileInput.OPTIONAL


def _needs(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return _object(document, "requires") or _object(document, "required")


def _kind(document: Mapping[str, Any], name: str) -> str | None:
    kind = document.get(name)
    if kind is not None and kind not in _KINDS:
        raise _wrong(f"{name} is none of {', '.join(_KINDS)}")
    return None if kind is None else str(kind)


def _parameters(entries: object) -> Iterator[Parameter]:
    if not isinstance(entries, list) or len(entries) > MAX_PARAMETERS:
        raise _wrong(f"parameters is no list of {MAX_PARAMETERS} objects at most")
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise _wrong(f"parameters[{index}] is no JSON object")
        name, kind = _text(entry, "name"), entry.get("type")
        if not name or name in seen:
            raise _wrong(f"parameters[{index}].name is missing or stands twice")
        if kind not in _PARAMETER_TYPES:
            raise _wrong(f"parameters[{index}].type is neither string nor number")
        seen.add(name)
        yield Parameter(name, str(kind), _text(entry, "description"))


def _result_type(kind: object) -> ResultType:
    if kind is None:
        return ResultType.ANY
    for known in (ResultType.JSON, ResultType.TEXT):
        if isinstance(kind, str) and kind.upper() == known.value:
            return known
    raise _wrong("result.type is neither JSON nor TXT")


def _either(document: Mapping[str, Any], *names: str) -> Any:
    return next((document[name] for name in names if name in document), None)


def _text(document: Mapping[str, Any], *names: str) -> str:
    value = _either(document, *names)
    return value if isinstance(value, str) else ""


def _object(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def _unsupported(problem: str) -> ValidationError:
    return ValidationError(
        "properties_invalid",
        f"the tool cannot be served: {problem}",
        hint="tools that are given a file, settings and parameters can be served",
    )


def _wrong(problem: str, *, hint: str = "") -> ValidationError:
    """A `ValidationError` with code `properties_invalid`."""
    message = f"the tool's properties are wrong: {problem}"
    return ValidationError("properties_invalid", message, hint=hint)
