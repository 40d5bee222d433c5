"""The manifest of a NORA tool, `tool.json`, validated with the schema of NORA's specification."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.text_file import without_byte_order_mark
from nexus_tools.tool import MAX_MISMATCHES, Mismatch, json_pointer, mismatch_error, parse_json

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError as SchemaError

FILE_NAME = "tool.json"
MAX_BYTES = 256 * 2**10

# "Manifest Schema" in NORA's Tool Specification, a draft-07 schema without its annotations.
_SCHEMA: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": ["name", "description", "entrypoint", "parameters"],
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "entrypoint": {"type": "string"},
        "parameters": {
            "type": "object",
            "properties": {
                "type": {"type": "string", "enum": ["object"]},
                "properties": {
                    "type": "object",
                    "patternProperties": {
                        "^[a-zA-Z0-9_]+$": {
                            "type": "object",
                            "properties": {
                                "type": {"type": "string"},
                                "description": {"type": "string"},
                                "required": {"type": "boolean"},
                            },
                            "required": ["type", "description", "required"],
                        }
                    },
                },
            },
        },
    },
}
_HINT = (
    "A manifest requires name, description, entrypoint, and parameters. Each property of the "
    "parameters requires type, description, and the boolean required."
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A parsed manifest.

    `script` is the entrypoint's file, and `digest` the SHA-256 of `tool.json`.

    `parameters` is the schema as declared, so `required` is a boolean in each property.
    """

    folder: Path
    name: str
    description: str
    script: Path
    parameters: dict[str, Any]
    digest: str

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read the manifest in `folder`.

        Raises:
            ValidationError: with code `manifest_invalid`, with a JSON pointer for each mismatch, or
                `json_invalid`.
        """
        data = _content(folder / FILE_NAME)
        document = parse_json(data)
        _check(document)
        return cls(
            folder=folder,
            name=document["name"],
            description=document["description"],
            script=_script(folder, document["entrypoint"]),
            parameters=document["parameters"],
            digest=hashlib.sha256(data).hexdigest(),
        )

    def checks(self) -> dict[str, bool]:
        """Return whether the entrypoint exists and whether the manifest is unchanged."""
        try:
            data = _content(self.folder / FILE_NAME)
        except ValidationError:
            data = b""
        return {
            "entrypoint": self.script.is_file(),
            "manifest": hashlib.sha256(data).hexdigest() == self.digest,
        }


def has_manifest(folder: Path) -> bool:
    """Return whether `folder` contains a manifest that can be accessed."""
    try:
        return (folder / FILE_NAME).is_file()
    except OSError:
        return False


def _content(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise _invalid("", f"{path} is not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _invalid("", f"{path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise _invalid("", f"the file is longer than {MAX_BYTES} bytes")
    return without_byte_order_mark(data)


def _check(document: object) -> None:
    from jsonschema import Draft7Validator  # noqa: PLC0415 - costs 0.1 s, needed to discover only

    errors = Draft7Validator(_SCHEMA).iter_errors(document)
    mismatches = [*islice(_in_words(errors), MAX_MISMATCHES)]
    if mismatches:
        raise _error(mismatches, _HINT)


def _in_words(errors: "Iterator[SchemaError]") -> Iterator[Mismatch]:
    for error in errors:
        yield Mismatch(json_pointer(list(error.absolute_path)), error.message)


def _script(folder: Path, entrypoint: str) -> Path:
    """Return the entrypoint's file, which must be in the folder after links are resolved."""
    path = PurePosixPath(entrypoint)
    if path.is_absolute() or ".." in path.parts or "\0" in entrypoint:
        raise _invalid(
            "/entrypoint", f"{entrypoint[:200]!r} is not a path inside the tool's folder"
        )
    try:
        script = (folder / path).resolve()
        is_inside = script.is_relative_to(folder.resolve())
        is_file = script.is_file()
    except (OSError, RuntimeError) as error:  # a symbolic link that refers to itself
        raise _invalid("/entrypoint", f"{entrypoint[:200]!r} cannot be read: {error}") from error
    if not is_inside:
        raise _invalid(
            "/entrypoint", f"{entrypoint[:200]!r} is a link to a path outside the tool's folder"
        )
    if not is_file:
        raise _invalid(
            "/entrypoint", f"the tool's folder does not contain a file {entrypoint[:200]!r}"
        )
    return script


def _invalid(pointer: str, message: str) -> ValidationError:
    hint = "Name a Python script in the folder, for example main.py." if pointer else ""
    return _error([Mismatch(pointer, message)], hint)


def _error(mismatches: list[Mismatch], hint: str) -> ValidationError:
    error = mismatch_error("manifest_invalid", f"{FILE_NAME} is not valid", mismatches)
    return ValidationError(error.code, error.message, hint=hint, details=error.details)
