"""The messages of the protocol, one per line of a tool's standard output.

Each message is a JSON object with a `type`. Documents in SPEC, PROPERTIES, and VARIABLES are
objects, or JSON-encoded strings as the SDK writes them. The protocol's specification does not
mention UPDATE, but the SDK sends it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

from nexus_tools.errors import ValidationError
from nexus_tools.tool import parse_json


class MessageType(StrEnum):
    """The value of a message's `type`."""

    SPEC = "SPEC"
    PROPERTIES = "PROPERTIES"
    ICON = "ICON"
    VARIABLES = "VARIABLES"
    LOG = "LOG"
    COST = "COST"
    RESULT = "RESULT"
    SINGLE_STEP_MESSAGE = "SINGLE_STEP_MESSAGE"
    UPDATE = "UPDATE"


class LogLevel(StrEnum):
    """The levels of a LOG in ascending severity."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"
    FATAL = "FATAL"

    @property
    def is_failure(self) -> bool:
        """Whether the platform treats a run that logs at this level as failed."""
        return self in (LogLevel.ERROR, LogLevel.FATAL)


@dataclass(frozen=True, slots=True)
class Declaration:
    """SPEC, PROPERTIES, or VARIABLES: a document that describes the tool."""

    type: MessageType
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Icon:
    """ICON: the text of an SVG."""

    svg: str


@dataclass(frozen=True, slots=True)
class Log:
    """LOG: a log line. `stage` comes from the SDK and is empty for other tools."""

    level: LogLevel
    log: str
    stage: str
    emitted_at: str


@dataclass(frozen=True, slots=True)
class Cost:
    """COST: the cost of a run, in units that the tool defines."""

    cost: float
    cost_units: str
    emitted_at: str


@dataclass(frozen=True, slots=True)
class Result:
    """RESULT: the result of the tool as any JSON value.

    `elapsed_s` is None if the tool does not report the time.
    """

    output: Any
    workflow_id: str
    elapsed_s: float | None
    emitted_at: str


@dataclass(frozen=True, slots=True)
class SingleStepMessage:
    """SINGLE_STEP_MESSAGE: a message for users who step through a run."""

    message: str
    emitted_at: str


@dataclass(frozen=True, slots=True)
class Update:
    """UPDATE: a text for the part of the platform's user interface that `state` names."""

    state: str
    message: str
    emitted_at: str


Message = Declaration | Icon | Log | Cost | Result | SingleStepMessage | Update


def parse_message(line: bytes) -> Message | None:
    """Return the message in a line, or None if the line is other output of the tool.

    Raises:
        ValidationError: with code `json_invalid` or `message_invalid` if the line is an invalid
            message.
    """
    text = line.strip()
    if not text.startswith(b"{"):
        return None
    fields = parse_json(text)
    try:
        kind = MessageType(fields.get("type"))
    except ValueError:
        return None
    return _READERS[kind](kind, fields)


def _declaration(kind: MessageType, fields: Mapping[str, Any]) -> Declaration:
    name = kind.value.lower()
    document = fields.get(name)
    if isinstance(document, str):
        document = parse_json(document)
    if not isinstance(document, dict):
        raise _invalid(kind, f"{name} must be a JSON object")
    return Declaration(kind, document)


def _icon(kind: MessageType, fields: Mapping[str, Any]) -> Icon:
    svg = fields.get("icon")
    if not isinstance(svg, str):
        raise _invalid(kind, "icon must be a string")
    return Icon(svg)


def _log(_: MessageType, fields: Mapping[str, Any]) -> Log:
    level = _text(fields, "level").upper()
    level = _OTHER_LEVELS.get(level, level)
    log_level = LogLevel(level) if level in LogLevel.__members__ else LogLevel.INFO
    return Log(log_level, _text(fields, "log"), _text(fields, "stage"), _emitted_at(fields))


def _cost(kind: MessageType, fields: Mapping[str, Any]) -> Cost:
    cost = _number(fields.get("cost"))
    if cost is None:
        raise _invalid(kind, "cost must be a number")
    return Cost(cost, _text(fields, "cost_units"), _emitted_at(fields))


def _result(kind: MessageType, fields: Mapping[str, Any]) -> Result:
    result = fields.get("result")
    if isinstance(result, str):
        result = parse_json(result)
    if not isinstance(result, dict):
        raise _invalid(kind, "result must be a JSON object")
    if "output" not in result:
        raise _invalid(kind, "result has no output")
    elapsed_s = _number(result.get("elapsed_time"))
    return Result(result["output"], _text(result, "workflow_id"), elapsed_s, _emitted_at(fields))


def _single_step_message(_: MessageType, fields: Mapping[str, Any]) -> SingleStepMessage:
    return SingleStepMessage(_text(fields, "message"), _emitted_at(fields))


def _update(_: MessageType, fields: Mapping[str, Any]) -> Update:
    return Update(_text(fields, "state"), _text(fields, "message"), _emitted_at(fields))


def _text(fields: Mapping[str, Any], name: str) -> str:
    """Return a member as text. Other types are encoded as JSON, and a missing member becomes ""."""
    value = fields.get(name, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _emitted_at(fields: Mapping[str, Any]) -> str:
    return _text(fields, "emitted_at")


def _number(value: object) -> float | None:
    """Return a number, or None. The specification also allows a string that contains a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _invalid(kind: MessageType, problem: str) -> ValidationError:
    return ValidationError("message_invalid", f"a {kind} message is not valid: {problem}")


# Levels of Python's logging, which some tools use.
_OTHER_LEVELS = {"WARNING": "WARN", "CRITICAL": "FATAL"}

_READERS: dict[MessageType, Callable[[MessageType, Mapping[str, Any]], Message]] = {
    MessageType.SPEC: _declaration,
    MessageType.PROPERTIES: _declaration,
    MessageType.VARIABLES: _declaration,
    MessageType.ICON: _icon,
    MessageType.LOG: _log,
    MessageType.COST: _cost,
    MessageType.RESULT: _result,
    MessageType.SINGLE_STEP_MESSAGE: _single_step_message,
    MessageType.UPDATE: _update,
}
