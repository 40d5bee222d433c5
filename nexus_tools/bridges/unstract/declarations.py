"""The declarations of a tool, read from its `config` folder or requested from its program."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_tools.bridges.unstract.message import MessageType
from nexus_tools.bridges.unstract.properties import ToolProperties
from nexus_tools.bridges.unstract.settings import Settings
from nexus_tools.bridges.unstract.transcript import Transcript
from nexus_tools.bridges.unstract.variables import RuntimeVariables
from nexus_tools.errors import ValidationError
from nexus_tools.sui.support.text_file import without_byte_order_mark
from nexus_tools.tool import parse_json

MAX_FILE_BYTES = 2**20
MAX_ICON_CHARACTERS = 256 * 1024

Ask = Callable[[MessageType], Awaitable[Transcript]]

_FILES = {
    MessageType.PROPERTIES: "properties.json",
    MessageType.SPEC: "spec.json",
    MessageType.VARIABLES: "runtime_variables.json",
    MessageType.ICON: "icon.svg",
}


@dataclass(frozen=True, slots=True)
class Declarations:
    """A tool's properties, settings, and runtime variables. The icon is an SVG, or empty."""

    properties: ToolProperties
    settings: Settings
    variables: RuntimeVariables
    icon: str

    @classmethod
    async def gather(cls, config: Path, ask: Ask) -> "Declarations":
        """Read the declarations in the folder `config`, and request the others from the program.

        Runtime variables and an icon are optional.

        Raises:
            ValidationError: with code `declaration_missing`, `config_invalid`,
                `properties_invalid`, or `schema_invalid`.
        """
        properties = ToolProperties.parse(await _document(config, MessageType.PROPERTIES, ask))
        spec = await _document(config, MessageType.SPEC, ask)
        variables = await _optional_document(config, MessageType.VARIABLES, ask)
        return cls(
            properties,
            Settings.parse(spec, properties.adapters),
            RuntimeVariables.parse(variables),
            await _icon(config, ask),
        )


async def _document(config: Path, kind: MessageType, ask: Ask) -> dict[str, Any]:
    content = _content(config / _FILES[kind])
    if content is not None:
        return _parsed(config / _FILES[kind], content)
    transcript = await ask(kind)
    if kind not in transcript.documents:
        raise ValidationError(
            "declaration_missing",
            f"{_FILES[kind]} does not exist, and the program does not print {kind}: "
            f"{transcript.problem or transcript.noise[-500:].strip() or 'no output'}",
        )
    return transcript.documents[kind]


async def _optional_document(config: Path, kind: MessageType, ask: Ask) -> dict[str, Any]:
    try:
        return await _document(config, kind, ask)
    except ValidationError as error:
        if error.code != "declaration_missing":
            raise
        return {}


async def _icon(config: Path, ask: Ask) -> str:
    content = _content(config / _FILES[MessageType.ICON])
    if content is None:
        icon = (await ask(MessageType.ICON)).icon or ""
    else:
        icon = content.decode("utf-8", "replace")
    return icon if len(icon) <= MAX_ICON_CHARACTERS else ""


def _content(path: Path) -> bytes | None:
    """Return the content of a file, or None if it does not exist."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise _unreadable(path, f"the file has more than {MAX_FILE_BYTES} bytes")
    return content


def _parsed(path: Path, content: bytes) -> dict[str, Any]:
    try:
        document = parse_json(without_byte_order_mark(content))
    except ValidationError as error:
        raise _unreadable(path, error.message) from error
    if not isinstance(document, dict):
        raise _unreadable(path, "expected a JSON object")
    return document


def _unreadable(path: Path, problem: str) -> ValidationError:
    return ValidationError("config_invalid", f"cannot read {path.name}: {problem}")
