"""What comes out of a run: the variants `ok` and `err`, from what the tool said and left behind."""

import base64
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_tools.bridges.older_drafts import as_2020_12
from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.unstract.message import Cost, Log, LogLevel, SingleStepMessage, Update
from nexus_tools.bridges.unstract.properties import ResultType, ToolProperties
from nexus_tools.bridges.unstract.transcript import MAX_KEPT, Transcript
from nexus_tools.bridges.variants import described, error_ports, object_of, output_schema
from nexus_tools.errors import ValidationError
from nexus_tools.tool import SchemaDocument, parse_json, relocated

MAX_FILES = 200
MAX_BYTES = 4 * 2**20
"""Of all files together: they travel in a response, most of them as base64."""

_MAX_FOLDERS = 1_000


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file by its path relative to the output folder, with `/` between folders."""

    path: str
    content: bytes

    def as_json(self) -> dict[str, str]:
        """`{path, text}` where it is UTF-8 without NUL, else `{path, content_base64}`."""
        try:
            text = self.content.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            return {"path": self.path, "content_base64": base64.b64encode(self.content).decode()}
        return {"path": self.path, "text": text}


def read_output_files(folder: Path) -> list[OutputFile]:
    """Every file in a folder and below, by path; links and what is no plain file are left out.

    Raises `ValidationError` with code `files_too_large` for more than `MAX_FILES` files or
    `MAX_BYTES` bytes, and `file_unreadable` for a file that cannot be read, or has a name that is
    no UTF-8.
    """
    if folder.is_symlink():
        return []
    files: list[OutputFile] = []
    left = MAX_BYTES
    for path in _plain_files(folder):
        if len(files) == MAX_FILES:
            raise _too_large(f"it left more than {MAX_FILES} files")
        content = _content(path, left)
        if len(content) > left:
            raise _too_large(f"its files have more than {MAX_BYTES} bytes together")
        left -= len(content)
        files.append(OutputFile(_relative(path, folder), content))
    return sorted(files, key=lambda file: file.path)


def _plain_files(folder: Path) -> Iterator[Path]:
    pending = [folder]
    for _ in range(_MAX_FOLDERS + 1):
        if not pending:
            return
        current = pending.pop()
        try:
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
    raise _too_large(f"it left more than {_MAX_FOLDERS} folders")


def _content(path: Path, at_most: int) -> bytes:
    """The content, and one byte more than `at_most` if there is more; a link is not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        message = f"a file that it left cannot be read: {error.strerror}"
        raise ValidationError("file_unreadable", message) from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return b""
        return file.read(at_most + 1)


def _relative(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).as_posix()
    try:
        name.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"a file that it left has a name that is no UTF-8: {name!r}"
        raise ValidationError("file_unreadable", message) from error
    return name


def _too_large(problem: str) -> ValidationError:
    return ValidationError("files_too_large", problem)


# --- The whole output


_TEXT = {"type": "string"}


def tool_output_schema(properties: ToolProperties) -> dict[str, Any]:
    """The output schema of a tool; `ValidationError` (`schema_invalid`) if its own is wrong."""
    said = _said_ports()
    ok = object_of(
        {
            "output": _output(properties),
            "files": _files(described(properties.output_description)),
            "elapsed_time": {"type": "number", "description": "Seconds, as the tool counts."},
            "workflow_id": _TEXT,
            **said,
        },
        required=["output", "files", "elapsed_time", *said],
    )
    return output_schema({"ok": ok, "err": error_ports(**said)})


def output_of(value: Any, properties: ToolProperties) -> Any:
    """The output of a RESULT: JSON that a tool declares may have come as a string of JSON."""
    if properties.result_type is not ResultType.JSON or not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except ValidationError:
        return value


def said_ports(transcript: Transcript) -> dict[str, Any]:
    """The ports that both variants have: what was said in a run beside its result."""
    return {
        "logs": [_log(log) for log in transcript.logs],
        "costs": [_cost(cost) for cost in transcript.costs],
        "messages": [_message(message) for message in transcript.messages],
        "updates": [_update(update) for update in transcript.updates],
    }


def ok(
    transcript: Transcript,
    files: Iterable[OutputFile],
    elapsed_ms: int,
    properties: ToolProperties,
    redaction: Redaction,
) -> dict[str, Any]:
    """The output `{"ok": …}` of a run that has a result; what was said beside it is masked."""
    result = transcript.result
    assert result is not None
    ports = {
        "output": output_of(result.output, properties),
        "files": [file.as_json() for file in files],
        "elapsed_time": elapsed_ms / 1_000 if result.elapsed_s is None else result.elapsed_s,
        **redaction.value(said_ports(transcript)),
    }
    return {"ok": ports | ({"workflow_id": result.workflow_id} if result.workflow_id else {})}


def _output(properties: ToolProperties) -> dict[str, Any]:
    description = described(properties.result_description) or "What the tool found."
    if properties.result_type is ResultType.TEXT:
        return _TEXT | {"description": description}
    if not properties.result_schema:
        return {"description": description}
    schema = SchemaDocument.parse(as_2020_12(properties.result_schema))
    moved = relocated(schema, lambda pointer: f"/properties/output{pointer}")
    return {"description": description} | moved


def _files(description: str) -> dict[str, Any]:
    file = object_of(
        {
            "path": {"type": "string", "description": "Relative, with '/' between folders."},
            "text": {"type": "string", "description": "The content, if it is UTF-8."},
            "content_base64": {"type": "string", "contentEncoding": "base64"},
        },
        required=["path"],
    )
    return _list_of(file, description or "The files that the tool made.")


def _said_ports() -> dict[str, Any]:
    log = {"level": {"enum": [level.value for level in LogLevel]}, "log": _TEXT}
    cost = {"cost": {"type": "number"}, "cost_units": _TEXT}
    update = {"state": _TEXT, "message": _TEXT}
    newest = f"The newest {MAX_KEPT} at most."
    return {
        "logs": _list_of(_emitted(log, "stage"), f"LOG messages. {newest}"),
        "costs": _list_of(_emitted(cost), f"COST messages. {newest}"),
        "messages": _list_of(_emitted({"message": _TEXT}), f"SINGLE_STEP_MESSAGEs. {newest}"),
        "updates": _list_of(_emitted(update), f"UPDATE messages. {newest}"),
    }


def _emitted(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    more = dict.fromkeys((*optional, "emitted_at"), _TEXT)
    return object_of({**properties, **more}, required=properties)


def _list_of(item: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": item, "description": description}


def _log(log: Log) -> dict[str, Any]:
    return {"level": log.level.value, "log": log.log} | _said(log, "stage")


def _cost(cost: Cost) -> dict[str, Any]:
    return {"cost": cost.cost, "cost_units": cost.cost_units} | _said(cost)


def _message(message: SingleStepMessage) -> dict[str, Any]:
    return {"message": message.message} | _said(message)


def _update(update: Update) -> dict[str, Any]:
    return {"state": update.state, "message": update.message} | _said(update)


def _said(message: Any, *optional: str) -> dict[str, str]:
    names = (*optional, "emitted_at")
    return {name: getattr(message, name) for name in names if getattr(message, name)}
