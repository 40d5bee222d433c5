"""The output of a run: its result or failure as the variants `ok` and `err`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nexus_tools.bridges.redaction import Redaction
from nexus_tools.bridges.sandbox import ProcessResult
from nexus_tools.bridges.schemas.json_schema_upgrade import upgrade_schema
from nexus_tools.bridges.schemas.variants import (
    closed_object_schema,
    error,
    error_schema,
    output_schema,
    with_description,
)
from nexus_tools.bridges.unstract.message import Cost, Log, LogLevel, SingleStepMessage, Update
from nexus_tools.bridges.unstract.properties import ResultType, ToolProperties
from nexus_tools.bridges.unstract.storage import OutputFile
from nexus_tools.bridges.unstract.transcript import MAX_KEPT, Transcript
from nexus_tools.errors import ValidationError
from nexus_tools.tool import SchemaDocument, parse_json, relocated

_TEXT = {"type": "string"}


def tool_output_schema(properties: ToolProperties) -> dict[str, Any]:
    """Return the output schema of a tool.

    Raises:
        ValidationError: with code `schema_invalid` if the tool's own schema is not valid.
    """
    messages = _said_ports()
    ok = closed_object_schema(
        {
            "output": _output(properties),
            "files": _files(with_description(properties.output_description)),
            "elapsed_time": {
                "type": "number",
                "description": "The elapsed time in seconds, as the tool reports it.",
            },
            "workflow_id": _TEXT,
            **messages,
        },
        # Logs are present only if the operator enables them.
        required=[
            "output",
            "files",
            "elapsed_time",
            *(name for name in messages if name != "logs"),
        ],
    )
    return output_schema({"ok": ok, "err": error_schema(**messages)})


def output_of(value: Any, properties: ToolProperties) -> Any:
    """Return the output of a RESULT. If the tool declares JSON, a string is parsed as JSON."""
    if properties.result_type is not ResultType.JSON or not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except ValidationError:
        return value


def message_ports(transcript: Transcript, *, with_logs: bool) -> dict[str, Any]:
    """Return the ports that both variants share: the messages of a run other than RESULT."""
    logs = {"logs": [_log(log) for log in transcript.logs]} if with_logs else {}
    return {
        **logs,
        "costs": [_cost(cost) for cost in transcript.costs],
        "messages": [_message(message) for message in transcript.messages],
        "updates": [_update(update) for update in transcript.updates],
    }


def _output(properties: ToolProperties) -> dict[str, Any]:
    description = with_description(properties.result_description) or "The result of the tool."
    if properties.result_type is ResultType.TEXT:
        return _TEXT | {"description": description}
    if not properties.result_schema:
        return {"description": description}
    schema = SchemaDocument.parse(upgrade_schema(properties.result_schema))
    output_schema_of_tool = relocated(schema, lambda pointer: f"/properties/output{pointer}")
    return {"description": description} | output_schema_of_tool


def _files(description: str) -> dict[str, Any]:
    file = closed_object_schema(
        {
            "path": {"type": "string", "description": "The relative path, with '/' as separator."},
            "text": {"type": "string", "description": "The content, if it is UTF-8."},
            "content_base64": {"type": "string", "contentEncoding": "base64"},
        },
        required=["path"],
    )
    return _list_of(file, description or "The files that the tool created.")


def _said_ports() -> dict[str, Any]:
    log = {"level": {"enum": [level.value for level in LogLevel]}, "log": _TEXT}
    cost = {"cost": {"type": "number"}, "cost_units": _TEXT}
    update = {"state": _TEXT, "message": _TEXT}
    newest = f"Only the newest {MAX_KEPT} messages."
    return {
        "logs": _list_of(_emitted(log, "stage"), f"LOG messages. {newest}"),
        "costs": _list_of(_emitted(cost), f"COST messages. {newest}"),
        "messages": _list_of(_emitted({"message": _TEXT}), f"SINGLE_STEP_MESSAGEs. {newest}"),
        "updates": _list_of(_emitted(update), f"UPDATE messages. {newest}"),
    }


def _emitted(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    optional_properties = dict.fromkeys((*optional, "emitted_at"), _TEXT)
    return closed_object_schema({**properties, **optional_properties}, required=properties)


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


# --- The success or failure of a run

_LOG_BYTES = 4_096
_TRACEBACK = "Traceback (most recent call last):"
# The last line of a traceback: the class of the exception, and optionally its message.
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]{0,200})(?::\s*(.*))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ToolException:
    """The exception that ended a Python program, according to its standard error."""

    type: str
    message: str

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type

    @classmethod
    def last_in(cls, stderr: str) -> "ToolException | None":
        """Return the exception of the last traceback, or None."""
        _, mark, after = stderr.rpartition(_TRACEBACK)
        lines = (line for line in after.splitlines() if line and not line[0].isspace())
        match = _EXCEPTION.fullmatch(next(lines, "")) if mark else None
        return cls(match[1].rpartition(".")[2], match[2] or "") if match else None


@dataclass(frozen=True, slots=True)
class Ending:
    """The result of a process, and its messages.

    If `with_logs` is false, outcomes omit the logs.
    """

    finished: ProcessResult
    transcript: Transcript
    redaction: Redaction
    with_logs: bool = True

    def problem(self, *, strict_error_logs: bool) -> str:
        """Return the reason why the run failed in one sentence, or an empty string.

        A run succeeds if the program exits with 0 and sends a RESULT. With `strict_error_logs`, it
        must also not log an ERROR or FATAL, which is the rule of the platform.
        """
        if self.finished.limit is not None:
            return self.finished.reason()
        if self.finished.exit_code != 0:
            return self._cause()
        if self.transcript.result is None:
            cause = self.transcript.problem
            return f"the tool ended without a RESULT{f': {cause}' if cause else ''}"
        if strict_error_logs and self.transcript.failure is not None:
            return f"the tool logged an error: {self.transcript.failure.log}"
        return ""

    def ok(self, files: Iterable[OutputFile], properties: ToolProperties) -> dict[str, Any]:
        """Return the output `{"ok": …}` of a run with a result. Other messages are redacted."""
        result = self.transcript.result
        assert result is not None
        elapsed_s = self.finished.elapsed_ms / 1_000
        ports = {
            "output": output_of(result.output, properties),
            "files": [file.as_json() for file in files],
            "elapsed_time": elapsed_s if result.elapsed_s is None else result.elapsed_s,
            **self._said(),
        }
        return {"ok": ports | ({"workflow_id": result.workflow_id} if result.workflow_id else {})}

    def error(self, reason: str) -> dict[str, Any]:
        """Return the output `{"err": …}` with the reason and the known facts of the process."""
        exception = self._exception()
        return error(
            self.redaction.text(reason),
            finished=self.finished,
            type=exception.type if exception else None,
            # This log replaces the log of the process, because messages have their own ports.
            log=self.log or None,
            **self._said(),
        )

    def _said(self) -> Any:
        return self.redaction.value(message_ports(self.transcript, with_logs=self.with_logs))

    @property
    def log(self) -> str:
        """The end of the output without messages, with standard error after standard output."""
        parts = (self.transcript.noise.rstrip("\n"), self._stderr.rstrip("\n"))
        text = self.redaction.text("\n".join(part for part in parts if part)).replace(
            "\0", "\ufffd"
        )
        return text.encode("utf-8", "replace")[-_LOG_BYTES:].decode("utf-8", "ignore")

    @property
    def _stderr(self) -> str:
        return self.finished.stderr.decode("utf-8", "replace")

    def _exception(self) -> ToolException | None:
        failed = self.finished.exit_code not in (None, 0)
        return ToolException.last_in(self._stderr) if failed else None

    def _cause(self) -> str:
        """Return the cause: the error that the tool logged last, or its exception."""
        failure, exception = self.transcript.failure, self._exception()
        if failure is not None and failure is self.transcript.logs[-1]:
            return f"the tool failed: {failure.log}"
        if exception is not None:
            return f"the tool failed: {exception}"
        if failure is not None:
            return f"the tool failed: {failure.log}"
        return self.finished.reason()
