"""The file that a run is given: a name, and text or base64."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.unstract.restrictions import Restrictions
from nexus_tools.errors import ValidationError
from nexus_tools.tool import Mismatch
from nexus_tools.tool.mismatch import mismatch_error

MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file by the name that it had at its source; the name is one component of a path."""

    name: str
    content: bytes

    @classmethod
    def parse(cls, port: Mapping[str, Any], restrictions: Restrictions) -> "InputFile":
        """Read the port `file`, which matches its schema.

        Raises `ValidationError` with code `input_invalid` for a name that leads elsewhere, for
        what is no base64, and for a file that the tool does not take.
        """
        name = port["name"]
        if name in (".", ".."):
            raise wrong_input("/file/name", "it is no name of a file")
        file = cls(name, _content(port))
        problem = restrictions.problem(name, len(file.content))
        if problem:
            raise wrong_input("/file", problem)
        return file


def file_schema(restrictions: Restrictions, description: str) -> dict[str, Any]:
    """The schema of the port `file`."""
    extension = next((name for name in restrictions.types if "/" not in name), "txt")
    return {
        "type": "object",
        "description": _described(restrictions, description),
        "properties": {
            "name": {
                "type": "string",
                "description": "The name of the file, without folders.",
                "maxLength": MAX_NAME,
                "pattern": r"^[^/\\\x00-\x1f\x7f]+$",
            },
            "text": {"type": "string", "description": "The content, as UTF-8."},
            "content_base64": {
                "type": "string",
                "description": "The content, as base64.",
                "contentEncoding": "base64",
            },
        },
        "required": ["name"],
        "oneOf": [{"required": ["text"]}, {"required": ["content_base64"]}],
        "additionalProperties": False,
        "examples": [{"name": f"document.{extension}", "text": "Hello"}],
    }


def wrong_input(pointer: str, message: str) -> ValidationError:
    """The error of an input that matches the schema, and is wrong nevertheless."""
    return mismatch_error("input_invalid", "the input is wrong", [Mismatch(pointer, message)])


def _content(port: Mapping[str, Any]) -> bytes:
    if "text" in port:
        return str(port["text"]).encode()
    try:
        return base64.b64decode(port["content_base64"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise wrong_input("/file/content_base64", "it is no base64") from error


def _described(restrictions: Restrictions, description: str) -> str:
    types = ", ".join(restrictions.types)
    parts = [
        description,
        f"Types: {types}." if types else "",
        f"At most {restrictions.max_bytes} bytes." if restrictions.max_bytes is not None else "",
    ]
    return " ".join(part for part in parts if part) or "The file that the tool works on."
